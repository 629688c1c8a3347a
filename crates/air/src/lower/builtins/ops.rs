//! Arithmetic that is the same for scalars and vectors.

use super::Result;
use super::call::Call;
use super::shape::{Scalar, Shape};
use inkwell::types::{BasicTypeEnum, VectorType};
use inkwell::values::BasicValueEnum;
use inkwell::{FloatPredicate, IntPredicate};
use msl::types::{FloatKind, IntKind};

/// Binary operators of LLVM's builder on floating point.
macro_rules! float_operators {
    ($($name:ident: $build:ident),* $(,)?) => {$(
        pub(super) fn $name(
            &self,
            lhs: BasicValueEnum<'ctx>,
            rhs: BasicValueEnum<'ctx>,
        ) -> Result<BasicValueEnum<'ctx>> {
            let builder = &self.lowering.builder;
            Ok(self.relaxed(match (lhs, rhs) {
                (BasicValueEnum::FloatValue(lhs), BasicValueEnum::FloatValue(rhs)) => builder.$build(lhs, rhs, "")?.into(),
                (BasicValueEnum::VectorValue(lhs), BasicValueEnum::VectorValue(rhs)) => builder.$build(lhs, rhs, "")?.into(),
                _ => return Err(self.internal("operands of floating point")),
            }))
        }
    )*};
}

/// Binary operators of LLVM's builder on integers.
macro_rules! int_operators {
    ($($name:ident: $build:ident ($($flag:expr)?)),* $(,)?) => {$(
        pub(super) fn $name(
            &self,
            lhs: BasicValueEnum<'ctx>,
            rhs: BasicValueEnum<'ctx>,
        ) -> Result<BasicValueEnum<'ctx>> {
            let builder = &self.lowering.builder;
            Ok(match (lhs, rhs) {
                (BasicValueEnum::IntValue(lhs), BasicValueEnum::IntValue(rhs)) => {
                    builder.$build(lhs, rhs, $($flag,)? "")?.into()
                }
                (BasicValueEnum::VectorValue(lhs), BasicValueEnum::VectorValue(rhs)) => {
                    builder.$build(lhs, rhs, $($flag,)? "")?.into()
                }
                _ => return Err(self.internal("integer operands")),
            })
        }
    )*};
}

impl<'ctx> Call<'_, 'ctx, '_> {
    float_operators! {
        fadd: build_float_add,
        fsub: build_float_sub,
        fmul: build_float_mul,
        fdiv: build_float_div,
    }

    int_operators! {
        add: build_int_add(),
        sub: build_int_sub(),
        mul: build_int_mul(),
        and: build_and(),
        or: build_or(),
        xor: build_xor(),
        shl: build_left_shift(),
        shr: build_right_shift(false),
    }

    pub(super) fn fneg(&self, value: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        let builder = &self.lowering.builder;
        Ok(self.relaxed(match value {
            BasicValueEnum::FloatValue(value) => builder.build_float_neg(value, "")?.into(),
            BasicValueEnum::VectorValue(value) => builder.build_float_neg(value, "")?.into(),
            _ => return Err(self.internal("an operand of floating point")),
        }))
    }

    /// Compares exactly, however fast the mathematics: its users care about NaN.
    pub(super) fn fcmp(
        &self,
        predicate: FloatPredicate,
        lhs: BasicValueEnum<'ctx>,
        rhs: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let builder = &self.lowering.builder;
        Ok(match (lhs, rhs) {
            (BasicValueEnum::FloatValue(lhs), BasicValueEnum::FloatValue(rhs)) => {
                builder.build_float_compare(predicate, lhs, rhs, "")?.into()
            }
            (BasicValueEnum::VectorValue(lhs), BasicValueEnum::VectorValue(rhs)) => {
                builder.build_float_compare(predicate, lhs, rhs, "")?.into()
            }
            _ => return Err(self.internal("operands of floating point")),
        })
    }

    pub(super) fn icmp(
        &self,
        predicate: IntPredicate,
        lhs: BasicValueEnum<'ctx>,
        rhs: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let builder = &self.lowering.builder;
        Ok(match (lhs, rhs) {
            (BasicValueEnum::IntValue(lhs), BasicValueEnum::IntValue(rhs)) => {
                builder.build_int_compare(predicate, lhs, rhs, "")?.into()
            }
            (BasicValueEnum::VectorValue(lhs), BasicValueEnum::VectorValue(rhs)) => {
                builder.build_int_compare(predicate, lhs, rhs, "")?.into()
            }
            _ => return Err(self.internal("integer operands")),
        })
    }

    pub(super) fn select(
        &self,
        condition: BasicValueEnum<'ctx>,
        then: BasicValueEnum<'ctx>,
        otherwise: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let builder = &self.lowering.builder;
        Ok(match condition {
            BasicValueEnum::IntValue(condition) => builder.build_select(condition, then, otherwise, "")?,
            BasicValueEnum::VectorValue(condition) => builder.build_select(condition, then, otherwise, "")?,
            _ => return Err(self.internal("a condition")),
        })
    }

    pub(super) fn bitcast(
        &self,
        value: BasicValueEnum<'ctx>,
        ty: BasicTypeEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        Ok(self.lowering.builder.build_bit_cast(value, ty, "")?)
    }

    /// Extends unsigned integers, or cuts them.
    pub(super) fn resize(&self, value: BasicValueEnum<'ctx>, from: u32, to: Shape) -> Result<BasicValueEnum<'ctx>> {
        let builder = &self.lowering.builder;
        let bits = to.bits();
        if from == bits {
            return Ok(value);
        }
        Ok(match (value, self.ty(to)) {
            (BasicValueEnum::IntValue(value), BasicTypeEnum::IntType(ty)) if from < bits => {
                builder.build_int_z_extend(value, ty, "")?.into()
            }
            (BasicValueEnum::IntValue(value), BasicTypeEnum::IntType(ty)) => {
                builder.build_int_truncate(value, ty, "")?.into()
            }
            (BasicValueEnum::VectorValue(value), BasicTypeEnum::VectorType(ty)) if from < bits => {
                builder.build_int_z_extend(value, ty, "")?.into()
            }
            (BasicValueEnum::VectorValue(value), BasicTypeEnum::VectorType(ty)) => {
                builder.build_int_truncate(value, ty, "")?.into()
            }
            _ => return Err(self.internal("an integer")),
        })
    }

    // -----------------------------------------------------------------------------------------------------------
    // Constants and vectors

    /// A constant of floating point, in all components.
    pub(super) fn float(&self, shape: Shape, value: f64) -> Result<BasicValueEnum<'ctx>> {
        let Scalar::Float(kind) = shape.scalar else { return Err(self.internal("a shape of floating point")) };
        Ok(Self::constant_splat(self.lowering.float_type(kind).const_float(value).into(), shape))
    }

    /// A constant integer, in all components.
    pub(super) fn int(&self, shape: Shape, value: i64) -> Result<BasicValueEnum<'ctx>> {
        let ty = match shape.scalar {
            Scalar::Bool => self.lowering.context.bool_type(),
            Scalar::Int(kind) => self.lowering.int_type(kind),
            Scalar::Float(_) => return Err(self.internal("a shape of integers")),
        };
        Ok(Self::constant_splat(ty.const_int(value.cast_unsigned(), true).into(), shape))
    }

    fn constant_splat(value: BasicValueEnum<'ctx>, shape: Shape) -> BasicValueEnum<'ctx> {
        let Some(len) = shape.len else { return value };
        match value {
            BasicValueEnum::IntValue(value) => VectorType::const_vector(&vec![value; len as usize]).into(),
            BasicValueEnum::FloatValue(value) => VectorType::const_vector(&vec![value; len as usize]).into(),
            other => other,
        }
    }

    /// A scalar in all components.
    pub(super) fn splat(&self, value: BasicValueEnum<'ctx>, shape: Shape) -> Result<BasicValueEnum<'ctx>> {
        let Some(len) = shape.len else { return Ok(value) };
        let BasicTypeEnum::VectorType(ty) = self.ty(shape) else { return Err(self.internal("a vector")) };
        let first = self.lowering.builder.build_insert_element(ty.get_poison(), value, self.i32(0), "")?;
        self.shuffle(first.into(), &vec![Some(0); len as usize])
    }

    /// Components of a vector; `None` is anything.
    pub(super) fn shuffle(
        &self,
        vector: BasicValueEnum<'ctx>,
        components: &[Option<u64>],
    ) -> Result<BasicValueEnum<'ctx>> {
        let BasicValueEnum::VectorValue(vector) = vector else { return Err(self.internal("a vector")) };
        let i32_type = self.lowering.context.i32_type();
        let mask: Vec<_> =
            components.iter().map(|c| c.map_or(i32_type.get_poison(), |c| i32_type.const_int(c, false))).collect();
        let mask = VectorType::const_vector(&mask);
        let poison = vector.get_type().get_poison();
        Ok(self.lowering.builder.build_shuffle_vector(vector, poison, mask, "")?.into())
    }

    pub(super) fn component(&self, vector: BasicValueEnum<'ctx>, index: u64) -> Result<BasicValueEnum<'ctx>> {
        let BasicValueEnum::VectorValue(vector) = vector else { return Err(self.internal("a vector")) };
        Ok(self.lowering.builder.build_extract_element(vector, self.i32(index), "")?)
    }
}

impl Shape {
    /// The width of a component in a register.
    pub(super) fn bits(self) -> u32 {
        match self.scalar {
            Scalar::Bool => 1,
            Scalar::Int(kind) => kind.bits(),
            Scalar::Float(FloatKind::Float) => 32,
            Scalar::Float(FloatKind::Half | FloatKind::BFloat) => 16,
        }
    }

    /// Unsigned integers as wide as this.
    pub(super) fn as_bits(self) -> Shape {
        self.with(Scalar::Int(match self.bits() {
            1 | 8 => IntKind::UChar,
            16 => IntKind::UShort,
            32 => IntKind::UInt,
            _ => IntKind::ULong,
        }))
    }
}
