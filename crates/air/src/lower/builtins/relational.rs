//! <metal_relational> without what is in `bits`, and <metal_types>: `as_type`, `is_function_constant_defined`.

use super::call::{Call, Effects};
use super::shape::Shape;
use super::{Attempt, Output, Result};
use inkwell::IntPredicate;
use inkwell::types::BasicTypeEnum;
use inkwell::values::BasicValueEnum;

impl<'ctx> Call<'_, 'ctx, '_> {
    /// `all`, `any`, `select`, `as_type`, `is_function_constant_defined`, `_uniform_value`
    pub(super) fn relational(&self) -> Attempt<'ctx> {
        let value = match self.name {
            "all" | "any" => match self.param_shape(0) {
                Some(shape) if shape.len.is_some() => {
                    let name = format!("air.{}.{}", self.name, shape.suffix());
                    self.value_of(&name, self.lowering.context.bool_type(), self.args, Effects::None)?
                }
                _ => self.arg(0)?,
            },
            "select" => self.select(self.arg(2)?, self.arg(1)?, self.arg(0)?)?,
            "as_type" => self.as_type()?,
            "_uniform_value" => self.uniform(self.arg(0)?)?,
            // The argument is the global in the section `air.fc_initializer`.
            "is_function_constant_defined" => {
                let name = "air.is_function_constant_defined";
                let place = self.pointer_arg(0)?;
                let global = self.lowering.host_value(place).unwrap_or(place);
                self.value_of(name, self.lowering.context.bool_type(), &[global.into()], Effects::None)?
            }
            _ => return Ok(None),
        };
        Ok(Some(Output::Value(value)))
    }

    /// The value of a `uniform<T>`, which the code of a library promises to be uniform, if it is a scalar.
    fn uniform(&self, value: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        let shape = self.param_shape(0).filter(|shape| shape.len.is_none());
        let Some(shape) = shape.filter(|_| self.lowering.is_for_library) else { return Ok(value) };
        let (name, bool_type) = (format!("air.is_uniform.{}", shape.suffix()), self.lowering.context.bool_type());
        let promise = self.value_of(&name, bool_type, &[value], Effects::None)?;
        self.lowering.intrinsic("llvm.assume", &[promise], None)?;
        Ok(value)
    }

    /// The same bits as another type: numbers or pointers, never `bool`.
    fn as_type(&self) -> Result<BasicValueEnum<'ctx>> {
        let builder = &self.lowering.builder;
        let value = self.arg(0)?;
        Ok(match (value, self.lowering.register_type(self.function.result)?) {
            (BasicValueEnum::PointerValue(pointer), BasicTypeEnum::IntType(ty)) => {
                builder.build_ptr_to_int(pointer, ty, "")?.into()
            }
            (BasicValueEnum::IntValue(address), BasicTypeEnum::PointerType(ty)) => {
                builder.build_int_to_ptr(address, ty, "")?.into()
            }
            (BasicValueEnum::PointerValue(_), BasicTypeEnum::PointerType(ty)) => self.bitcast(value, ty.into())?,
            (BasicValueEnum::PointerValue(_), ty) => {
                let address =
                    builder.build_ptr_to_int(value.into_pointer_value(), self.lowering.context.i64_type(), "")?;
                self.bitcast(address.into(), ty)?
            }
            (_, BasicTypeEnum::PointerType(ty)) => {
                let address = self.bitcast(value, self.lowering.context.i64_type().into())?;
                builder.build_int_to_ptr(address.into_int_value(), ty, "")?.into()
            }
            _ => {
                let from = self.param_shape(0).ok_or_else(|| self.internal("numbers"))?;
                self.reinterpret(value, from, self.result_shape()?)?
            }
        })
    }

    /// Numbers as numbers. A vector of three takes the room of four where that is what fits.
    fn reinterpret(&self, value: BasicValueEnum<'ctx>, from: Shape, to: Shape) -> Result<BasicValueEnum<'ctx>> {
        const XYZ: [Option<u64>; 4] = [Some(0), Some(1), Some(2), None];
        let size = |shape: Shape| shape.bits() * shape.len.unwrap_or(1);
        let padded = |shape: Shape| Shape { len: Some(4), ..shape };
        if size(from) == size(to) {
            self.bitcast(value, self.ty(to))
        } else if from.len == Some(3) {
            self.reinterpret(self.shuffle(value, &XYZ)?, padded(from), to)
        } else if to.len == Some(3) {
            self.shuffle(self.reinterpret(value, from, padded(to))?, &XYZ[..3])
        } else {
            Err(self.internal("the types have different sizes"))
        }
    }

    /// Converts a `bool` in memory, a byte, to a register.
    pub(super) fn byte_to_bool(&self, value: BasicValueEnum<'ctx>, shape: Shape) -> Result<BasicValueEnum<'ctx>> {
        self.icmp(IntPredicate::NE, value, self.int(Self::bytes(shape), 0)?)
    }
}
