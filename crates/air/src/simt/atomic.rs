//! Atomic functions: `air.atomic.global.add.u.i32(pointer, value, order, scope, volatile)`. Every order of memory is
//! taken as `relaxed`, the only one that Metal's atomic functions accept; a fence orders everything.

use crate::ir::{AtomicOp, Builder, Type, Value};
use crate::thread::number::Number;

/// The result of an atomic function, or nothing for one that returns nothing. `None` when the name is another one.
pub(super) fn emit<'m>(b: &Builder<'m>, call: Value<'m>) -> Option<Result<Option<Value<'m>>, String>> {
    let name = call.callee()?.name();
    let rest = name.strip_prefix("air.atomic.")?;
    if rest == "fence" {
        // All memory, for all threads of the GPU.
        b.intrinsic("llvm.nvvm.membar.gl", &[], &[]);
        return Some(Ok(None));
    }
    Some(Atomic { b, call, name: &name }.emit(rest))
}

struct Atomic<'a, 'm> {
    b: &'a Builder<'m>,
    call: Value<'m>,
    name: &'a str,
}

impl<'m> Atomic<'_, 'm> {
    fn emit(&self, rest: &str) -> Result<Option<Value<'m>>, String> {
        let b = self.b;
        let unsupported = || format!("the atomic function '{}'", self.name);
        let (scope, rest) = match rest.split_once('.').ok_or_else(unsupported)? {
            ("global", rest) => ("device", rest),
            ("local", rest) => ("block", rest),
            _ => return Err(unsupported()),
        };
        let (operation, suffix) = match rest.strip_prefix("cmpxchg.weak.") {
            Some(suffix) => ("cmpxchg", suffix),
            None => rest.split_once('.').ok_or_else(unsupported)?,
        };
        let pointer = self.argument(0)?;
        if !pointer.ty().is_pointer() {
            return Err(unsupported());
        }
        let access = match operation {
            "load" => b.atomic_load(self.call.ty(), pointer, bytes(self.call.ty())),
            "store" => {
                let value = self.argument(1)?;
                let store = b.atomic_store(value, pointer, bytes(value.ty()));
                b.set_scope(store, scope);
                return Ok(None);
            }
            "cmpxchg" => return self.compare_exchange(pointer, scope).map(Some),
            "sub" if Number::parse(suffix) == Number::Float => {
                b.atomic_rmw(AtomicOp::LLVMAtomicRMWBinOpFAdd, pointer, b.fneg(self.argument(1)?))
            }
            _ => {
                let operation = modification(operation, Number::parse(suffix)).ok_or_else(unsupported)?;
                b.atomic_rmw(operation, pointer, self.argument(1)?)
            }
        };
        b.set_scope(access, scope);
        Ok((!self.call.ty().is_void()).then_some(access))
    }

    /// Returns the old value, and writes it over the expected value.
    fn compare_exchange(&self, pointer: Value<'m>, scope: &str) -> Result<Value<'m>, String> {
        let b = self.b;
        let (expected, desired) = (self.argument(1)?, self.argument(2)?);
        let ty = desired.ty();
        let align = bytes(ty);
        // Bits are compared, also those of floating-point numbers.
        let bits = Type::int(b.context(), 8 * align);
        let old = b.load(bits, expected, align);
        let exchange = b.compare_exchange(pointer, old, b.bitcast(desired, bits));
        b.set_scope(exchange, scope);
        let found = b.extract_value(exchange, 0);
        b.store(found, expected, align);
        Ok(b.bitcast(found, ty))
    }

    fn argument(&self, index: usize) -> Result<Value<'m>, String> {
        let lacks = || format!("a call of '{}' without argument {index}", self.name);
        self.call.arguments().get(index).copied().ok_or_else(lacks)
    }
}

fn modification(operation: &str, number: Number) -> Option<AtomicOp> {
    use AtomicOp::*;
    let (is_float, is_signed) = (number == Number::Float, number == Number::Signed);
    Some(match operation {
        "add" if is_float => LLVMAtomicRMWBinOpFAdd,
        "min" if is_float => LLVMAtomicRMWBinOpFMin,
        "max" if is_float => LLVMAtomicRMWBinOpFMax,
        "add" => LLVMAtomicRMWBinOpAdd,
        "sub" => LLVMAtomicRMWBinOpSub,
        "min" if is_signed => LLVMAtomicRMWBinOpMin,
        "max" if is_signed => LLVMAtomicRMWBinOpMax,
        "min" => LLVMAtomicRMWBinOpUMin,
        "max" => LLVMAtomicRMWBinOpUMax,
        "and" => LLVMAtomicRMWBinOpAnd,
        "or" => LLVMAtomicRMWBinOpOr,
        "xor" => LLVMAtomicRMWBinOpXor,
        "xchg" => LLVMAtomicRMWBinOpXchg,
        _ => return None,
    })
}

/// The size of a number in memory.
fn bytes(ty: Type) -> u32 {
    if ty.is_int() { ty.int_bits() / 8 } else { 4 }
}
