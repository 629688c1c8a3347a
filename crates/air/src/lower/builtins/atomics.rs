//! <metal_atomic>: `air.atomic.global.add.u.i32(pointer, value, order, scope, volatile)`.
//!
//! `global` is device memory, `local` that of a threadgroup, and the scope is the same again as a number. All of
//! Metal's atomic objects are volatile. MLX has `global.add.f32` alone; the others are as in other public output, but
//! `and`, `or`, `xor` of signed integers (`.s`) and all of `bool` (`i8`) are inferred. `memory_order` and
//! `thread_scope` have AIR's values.

use super::call::{Call, Effects};
use super::shape::{Scalar, Shape};
use super::{Attempt, Output, Result};
use inkwell::IntPredicate;
use inkwell::types::BasicTypeEnum;
use inkwell::values::BasicValueEnum;
use msl::types::AddressSpace;

/// An atomic object.
struct Object<'ctx> {
    /// `air.atomic.global`
    prefix: &'static str,
    scope: u64,
    /// The number that the program sees.
    shape: Shape,
    /// The number in memory: a `bool` is a byte (inferred).
    memory: Shape,
    ty: BasicTypeEnum<'ctx>,
}

impl<'ctx> Call<'_, 'ctx, '_> {
    /// The functions of <metal_atomic>.
    pub(super) fn atomic(&self) -> Attempt<'ctx> {
        if self.name == "atomic_thread_fence" {
            return self.intrinsic("air.atomic.fence", None, self.args, Effects::Atomic).map(Some);
        }
        let Some(operation) = self.name.strip_prefix("atomic_").and_then(|name| name.strip_suffix("_explicit"))
        else {
            return Ok(None);
        };
        let Some(object) = self.atomic_object() else { return Ok(None) };
        let pointer = self.arg(0)?;
        let (scope, volatile) = (self.i32(object.scope).into(), self.i1(true).into());
        let plain = |operation: &str| format!("{}.{operation}.{}", object.prefix, object.memory.suffix());
        let value = match operation {
            "store" => {
                let args = [pointer, self.stored(&object, self.arg(1)?)?, self.arg(2)?, scope, volatile];
                return self.intrinsic(&plain("store"), None, &args, Effects::Atomic).map(Some);
            }
            "load" => {
                let args = [pointer, self.arg(1)?, scope, volatile];
                self.value_of(&plain("load"), object.ty, &args, Effects::Atomic)?
            }
            "exchange" => {
                let args = [pointer, self.stored(&object, self.arg(1)?)?, self.arg(2)?, scope, volatile];
                self.value_of(&plain("xchg"), object.ty, &args, Effects::Atomic)?
            }
            "compare_exchange_weak" => return self.compare_exchange(&object, &plain("cmpxchg.weak")),
            _ => return self.modify(&object, operation),
        };
        Ok(Some(Output::Value(self.loaded(&object, value)?)))
    }

    fn atomic_object(&self) -> Option<Object<'ctx>> {
        let pointee = self.lowering.program.types.pointee(self.param(0)?)?;
        let (prefix, scope) = match pointee.space? {
            AddressSpace::Device => ("air.atomic.global", 2),
            AddressSpace::Threadgroup => ("air.atomic.local", 1),
            _ => return None,
        };
        let shape = Shape::of(&self.lowering.program.types, pointee.ty)?;
        let memory = if shape.scalar == Scalar::Bool { Self::bytes(shape) } else { shape };
        Some(Object { prefix, scope, shape, memory, ty: self.ty(memory) })
    }

    fn stored(&self, object: &Object<'ctx>, value: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        if object.shape.scalar == Scalar::Bool { self.resize(value, 1, object.memory) } else { Ok(value) }
    }

    fn loaded(&self, object: &Object<'ctx>, value: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        if object.shape.scalar == Scalar::Bool { self.byte_to_bool(value, object.shape) } else { Ok(value) }
    }

    /// Fetch and modify. Those in 64 bits are called `atomic_max_explicit`, and return nothing.
    fn modify(&self, object: &Object<'ctx>, operation: &str) -> Attempt<'ctx> {
        let (operation, result) = match operation.strip_prefix("fetch_") {
            Some(operation) => (operation, Some(object.ty)),
            None => (operation, None),
        };
        if !matches!(operation, "add" | "sub" | "and" | "max" | "min" | "or" | "xor") {
            return Ok(None);
        }
        let name = format!("{}.{operation}.{}", object.prefix, object.memory.signed_suffix());
        let args = [self.arg(0)?, self.arg(1)?, self.arg(2)?, self.i32(object.scope).into(), self.i1(true).into()];
        self.intrinsic(&name, result, &args, Effects::Atomic).map(Some)
    }

    /// The intrinsic returns the old value, and writes it to `expected`.
    fn compare_exchange(&self, object: &Object<'ctx>, name: &str) -> Attempt<'ctx> {
        let expected = self.pointer_arg(1)?;
        let before = self.lowering.builder.build_load(object.ty, expected, "")?;
        let args = [
            self.arg(0)?,
            expected.into(),
            self.stored(object, self.arg(2)?)?,
            self.arg(3)?,
            self.arg(4)?,
            self.i32(object.scope).into(),
            self.i1(true).into(),
        ];
        let found = self.value_of(name, object.ty, &args, Effects::Atomic)?;
        // Bits are compared, also those of floating-point numbers.
        let bits = self.ty(object.memory.as_bits());
        let is_equal = self.icmp(IntPredicate::EQ, self.bitcast(found, bits)?, self.bitcast(before, bits)?)?;
        Ok(Some(Output::Value(is_equal)))
    }
}
