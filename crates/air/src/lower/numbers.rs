//! Numbers: operators and conversions, on scalars and by component on vectors.

use super::contraction::Contraction;
use super::{Error, Lowering, Result};
use inkwell::types::{BasicTypeEnum, IntType, VectorType};
use inkwell::values::{BasicValue, BasicValueEnum, FastMathFlags};
use inkwell::{FloatPredicate, IntPredicate};
use msl::program::{BinaryOp, CastKind, Expr, UnaryOp};
use msl::types::{Ty, TyKind};

/// Reassociation, reciprocals, approximate functions, no signed zeros. Contraction is a rule of its own. Not "no NaNs,
/// no infinities": kernels use INFINITY as a start value, of which LLVM would be free to make poison.
const FAST_FLAGS: FastMathFlags = FastMathFlags::AllowReassoc
    .union(FastMathFlags::NoSignedZeros)
    .union(FastMathFlags::AllowReciprocal)
    .union(FastMathFlags::ApproxFunc);

/// The class of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    Bool,
    Signed,
    Unsigned,
    Float,
}

/// Applies an operation to two scalars or two vectors.
macro_rules! both {
    ($self:ident, $a:expr, $b:expr, $method:ident $(, $extra:expr)*) => {
        match ($a, $b) {
            (BasicValueEnum::IntValue(a), BasicValueEnum::IntValue(b)) => {
                BasicValueEnum::from($self.builder.$method($($extra,)* a, b, "")?)
            }
            (BasicValueEnum::VectorValue(a), BasicValueEnum::VectorValue(b)) => {
                BasicValueEnum::from($self.builder.$method($($extra,)* a, b, "")?)
            }
            _ => return Err(Error::Internal("operands of different kinds".into())),
        }
    };
}

/// The same for floating point.
macro_rules! both_float {
    ($self:ident, $a:expr, $b:expr, $method:ident $(, $extra:expr)*) => {
        match ($a, $b) {
            (BasicValueEnum::FloatValue(a), BasicValueEnum::FloatValue(b)) => {
                BasicValueEnum::from($self.builder.$method($($extra,)* a, b, "")?)
            }
            (BasicValueEnum::VectorValue(a), BasicValueEnum::VectorValue(b)) => {
                BasicValueEnum::from($self.builder.$method($($extra,)* a, b, "")?)
            }
            _ => return Err(Error::Internal("operands of different kinds".into())),
        }
    };
}

impl<'ctx, 'p> Lowering<'ctx, 'p> {
    fn class(&self, ty: Ty) -> Class {
        let element = self.program.types.element_of(ty);
        match *self.program.types.kind(element) {
            TyKind::Bool => Class::Bool,
            TyKind::Float(_) => Class::Float,
            TyKind::Int(kind) if kind.is_signed() => Class::Signed,
            TyKind::Enum(id) => self.class(self.program.types.enum_(id).underlying),
            TyKind::MemberPointer { .. } => Class::Signed,
            _ => Class::Unsigned,
        }
    }

    pub(crate) fn is_signed(&self, ty: Ty) -> bool {
        self.class(ty) == Class::Signed
    }

    /// Lets LLVM use fast mathematics, as far as the function's rules allow.
    pub(super) fn relaxed(&self, value: BasicValueEnum<'ctx>) -> BasicValueEnum<'ctx> {
        let rules = self.float_rules();
        let mut flags = FastMathFlags::empty();
        flags.set(FAST_FLAGS, rules.is_fast);
        flags.set(FastMathFlags::AllowReassoc, rules.reassociates);
        flags.set(FastMathFlags::AllowReciprocal, rules.uses_reciprocals);
        flags.set(FastMathFlags::AllowContract, rules.contraction == Contraction::Fast);
        if let Some(instruction) = value.as_instruction_value().filter(|_| !flags.is_empty()) {
            let _ = instruction.set_fast_math_flags(flags);
        }
        value
    }

    /// A binary operator on registers of type `ty`.
    pub(crate) fn binary(
        &mut self,
        op: BinaryOp,
        ty: Ty,
        a: BasicValueEnum<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        if let (BasicValueEnum::PointerValue(a), BasicValueEnum::PointerValue(b)) = (a, b) {
            let i64_type = self.context.i64_type();
            let a = self.builder.build_ptr_to_int(a, i64_type, "")?;
            let b = self.builder.build_ptr_to_int(b, i64_type, "")?;
            return self.binary(op, Ty::ULONG, a.into(), b.into());
        }
        let class = self.class(ty);
        if class == Class::Float {
            return self.binary_float(op, a, b);
        }
        let signed = class == Class::Signed;
        let b = match op {
            BinaryOp::Shl | BinaryOp::Shr => self.shift_count(a, b)?,
            _ => b,
        };
        let compare = |signed_form: IntPredicate, unsigned_form: IntPredicate| {
            if signed { signed_form } else { unsigned_form }
        };
        Ok(match op {
            BinaryOp::Add => both!(self, a, b, build_int_add),
            BinaryOp::Sub => both!(self, a, b, build_int_sub),
            BinaryOp::Mul => both!(self, a, b, build_int_mul),
            BinaryOp::Div if signed => both!(self, a, b, build_int_signed_div),
            BinaryOp::Div => both!(self, a, b, build_int_unsigned_div),
            BinaryOp::Rem if signed => both!(self, a, b, build_int_signed_rem),
            BinaryOp::Rem => both!(self, a, b, build_int_unsigned_rem),
            BinaryOp::BitAnd | BinaryOp::And => both!(self, a, b, build_and),
            BinaryOp::BitOr | BinaryOp::Or => both!(self, a, b, build_or),
            BinaryOp::BitXor => both!(self, a, b, build_xor),
            BinaryOp::Shl => both!(self, a, b, build_left_shift),
            BinaryOp::Shr => match (a, b) {
                (BasicValueEnum::IntValue(a), BasicValueEnum::IntValue(b)) => {
                    self.builder.build_right_shift(a, b, signed, "")?.into()
                }
                (BasicValueEnum::VectorValue(a), BasicValueEnum::VectorValue(b)) => {
                    self.builder.build_right_shift(a, b, signed, "")?.into()
                }
                _ => return Err(Error::Internal("operands of different kinds".into())),
            },
            BinaryOp::Less => both!(self, a, b, build_int_compare, compare(IntPredicate::SLT, IntPredicate::ULT)),
            BinaryOp::Greater => {
                both!(self, a, b, build_int_compare, compare(IntPredicate::SGT, IntPredicate::UGT))
            }
            BinaryOp::LessEqual => {
                both!(self, a, b, build_int_compare, compare(IntPredicate::SLE, IntPredicate::ULE))
            }
            BinaryOp::GreaterEqual => {
                both!(self, a, b, build_int_compare, compare(IntPredicate::SGE, IntPredicate::UGE))
            }
            BinaryOp::Equal => both!(self, a, b, build_int_compare, IntPredicate::EQ),
            BinaryOp::NotEqual => both!(self, a, b, build_int_compare, IntPredicate::NE),
        })
    }

    fn binary_float(
        &mut self,
        op: BinaryOp,
        a: BasicValueEnum<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let value = match op {
            BinaryOp::Add => both_float!(self, a, b, build_float_add),
            BinaryOp::Sub => both_float!(self, a, b, build_float_sub),
            BinaryOp::Mul => both_float!(self, a, b, build_float_mul),
            BinaryOp::Div => both_float!(self, a, b, build_float_div),
            BinaryOp::Less => both_float!(self, a, b, build_float_compare, FloatPredicate::OLT),
            BinaryOp::Greater => both_float!(self, a, b, build_float_compare, FloatPredicate::OGT),
            BinaryOp::LessEqual => both_float!(self, a, b, build_float_compare, FloatPredicate::OLE),
            BinaryOp::GreaterEqual => both_float!(self, a, b, build_float_compare, FloatPredicate::OGE),
            BinaryOp::Equal => both_float!(self, a, b, build_float_compare, FloatPredicate::OEQ),
            BinaryOp::NotEqual => both_float!(self, a, b, build_float_compare, FloatPredicate::UNE),
            op => return Err(Error::Internal(format!("'{}' on floating-point numbers", op.text()))),
        };
        Ok(if op.is_comparison() { value } else { self.relaxed(value) })
    }

    /// The count of a shift in the width of the shifted number, and modulo that width: a larger count is undefined
    /// in C++ and defined in Metal, and Apple's compiler masks it, too.
    fn shift_count(&self, a: BasicValueEnum<'ctx>, b: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        let mask = |ty: IntType<'ctx>| ty.const_int(u64::from(ty.get_bit_width()) - 1, false);
        Ok(match (a.get_type(), b) {
            (BasicTypeEnum::IntType(to), BasicValueEnum::IntValue(b)) => {
                let b = self.builder.build_int_cast_sign_flag(b, to, false, "")?;
                self.builder.build_and(b, mask(to), "")?.into()
            }
            (BasicTypeEnum::VectorType(to), BasicValueEnum::VectorValue(b)) => {
                let element = mask(to.get_element_type().into_int_type());
                let masks = VectorType::const_vector(&vec![element; to.get_size() as usize]);
                self.builder.build_and(b, masks, "")?.into()
            }
            (_, b) => b,
        })
    }

    pub(crate) fn unary(&mut self, op: UnaryOp, operand: &'p Expr) -> Result<BasicValueEnum<'ctx>> {
        let ty = operand.ty.ty;
        let value = self.value(operand)?;
        self.unary_value(op, ty, value)
    }

    pub(crate) fn unary_value(
        &mut self,
        op: UnaryOp,
        ty: Ty,
        value: BasicValueEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let is_float = self.class(ty) == Class::Float;
        Ok(match (op, value) {
            (UnaryOp::Negate, BasicValueEnum::FloatValue(v)) => {
                let negated = self.builder.build_float_neg(v, "")?;
                self.relaxed(negated.into())
            }
            (UnaryOp::Negate, BasicValueEnum::VectorValue(v)) if is_float => {
                let negated = self.builder.build_float_neg(v, "")?;
                self.relaxed(negated.into())
            }
            (UnaryOp::Negate, BasicValueEnum::IntValue(v)) => self.builder.build_int_neg(v, "")?.into(),
            (UnaryOp::Negate, BasicValueEnum::VectorValue(v)) => self.builder.build_int_neg(v, "")?.into(),
            (_, BasicValueEnum::IntValue(v)) => self.builder.build_not(v, "")?.into(),
            (_, BasicValueEnum::VectorValue(v)) => self.builder.build_not(v, "")?.into(),
            _ => return Err(Error::Internal("a unary operator on no number".into())),
        })
    }

    // --- conversions -------------------------------------------------------------------------------------------

    pub(crate) fn cast(&mut self, kind: CastKind, operand: &'p Expr, to: Ty) -> Result<BasicValueEnum<'ctx>> {
        let from = operand.ty.ty;
        if kind == CastKind::NullPointer {
            return Ok(self.register_type(to)?.into_pointer_type().const_null().into());
        }
        let value = self.value(operand)?;
        let i64_type = self.context.i64_type();
        Ok(match kind {
            CastKind::Number => self.convert_number(value, from, to)?,
            // Both forms are the same vector in a register.
            CastKind::Packing | CastKind::Matrix | CastKind::Discard | CastKind::NullPointer => value,
            CastKind::Pointer => value,
            CastKind::Base(offset) => self.step_to_base(value.into_pointer_value(), offset)?.into(),
            CastKind::PointerToBool => {
                let address = self.builder.build_ptr_to_int(value.into_pointer_value(), i64_type, "")?;
                let zero = i64_type.const_zero();
                self.builder.build_int_compare(IntPredicate::NE, address, zero, "")?.into()
            }
            CastKind::PointerToInt => {
                let int = self.register_type(to)?.into_int_type();
                self.builder.build_ptr_to_int(value.into_pointer_value(), int, "")?.into()
            }
            CastKind::IntToPointer => {
                let pointer = self.register_type(to)?.into_pointer_type();
                self.builder.build_int_to_ptr(value.into_int_value(), pointer, "")?.into()
            }
        })
    }

    /// A number of type `from` as a `to`, by component for vectors.
    pub(crate) fn convert_number(
        &mut self,
        value: BasicValueEnum<'ctx>,
        from: Ty,
        to: Ty,
    ) -> Result<BasicValueEnum<'ctx>> {
        if from == to {
            return Ok(value);
        }
        let target = self.register_type(to)?;
        if let (BasicTypeEnum::VectorType(_), false) = (target, value.is_vector_value()) {
            let element = self.program.types.element_of(to);
            let scalar = self.convert_number(value, from, element)?;
            return self.splat(scalar, to);
        }
        match (self.class(from), self.class(to)) {
            (Class::Bool, Class::Bool) => Ok(value),
            (Class::Float, Class::Bool) => {
                let zero = value.get_type().const_zero();
                Ok(both_float!(self, value, zero, build_float_compare, FloatPredicate::UNE))
            }
            (_, Class::Bool) => {
                let zero = value.get_type().const_zero();
                Ok(both!(self, value, zero, build_int_compare, IntPredicate::NE))
            }
            // As Apple's compiler: an instruction for scalars, a function for vectors, and between `half` and `bfloat`.
            (Class::Float, Class::Float)
                if self.is_for_library
                    && value.get_type() != target
                    && (value.is_vector_value() || from != Ty::FLOAT && to != Ty::FLOAT) =>
            {
                self.air_convert(value, from, to)
            }
            (Class::Float, Class::Float) => self.convert_float(value, target),
            (Class::Float, _) | (_, Class::Float) => self.air_convert(value, from, to),
            (source, _) => match (value, target) {
                (BasicValueEnum::IntValue(v), BasicTypeEnum::IntType(target)) => {
                    let signed = source == Class::Signed;
                    Ok(self.builder.build_int_cast_sign_flag(v, target, signed, "")?.into())
                }
                (BasicValueEnum::VectorValue(v), BasicTypeEnum::VectorType(target)) => {
                    let width = |ty: inkwell::types::VectorType<'ctx>| {
                        ty.get_element_type().into_int_type().get_bit_width()
                    };
                    Ok(match width(v.get_type()).cmp(&width(target)) {
                        std::cmp::Ordering::Greater => self.builder.build_int_truncate(v, target, "")?.into(),
                        std::cmp::Ordering::Equal => v.into(),
                        std::cmp::Ordering::Less if source == Class::Signed => {
                            self.builder.build_int_s_extend(v, target, "")?.into()
                        }
                        std::cmp::Ordering::Less => self.builder.build_int_z_extend(v, target, "")?.into(),
                    })
                }
                _ => Err(Error::Internal("a conversion between a scalar and a vector".into())),
            },
        }
    }

    fn convert_float(
        &self,
        value: BasicValueEnum<'ctx>,
        target: BasicTypeEnum<'ctx>,
    ) -> Result<BasicValueEnum<'ctx>> {
        let f32_type = self.context.f32_type();
        Ok(match (value, target) {
            (BasicValueEnum::FloatValue(v), BasicTypeEnum::FloatType(target)) => {
                // Between `half` and `bfloat` only `float` leads.
                let wide =
                    if v.get_type() == f32_type { v } else { self.builder.build_float_ext(v, f32_type, "")? };
                if target == f32_type {
                    wide.into()
                } else {
                    self.builder.build_float_trunc(wide, target, "")?.into()
                }
            }
            (BasicValueEnum::VectorValue(v), BasicTypeEnum::VectorType(target)) => {
                let floats = f32_type.vec_type(target.get_size());
                let wide = if v.get_type() == floats { v } else { self.builder.build_float_ext(v, floats, "")? };
                if target == floats {
                    wide.into()
                } else {
                    self.builder.build_float_trunc(wide, target, "")?.into()
                }
            }
            _ => return Err(Error::Internal("a conversion between a scalar and a vector".into())),
        })
    }

    /// Between integers and floating point: `air.convert.f.f32.s.i32` and kin, which define the result out of range.
    fn air_convert(&mut self, value: BasicValueEnum<'ctx>, from: Ty, to: Ty) -> Result<BasicValueEnum<'ctx>> {
        let target = self.register_type(to)?;
        let name = format!("air.convert.{}.{}", self.type_suffix(to), self.type_suffix(from));
        self.intrinsic(&name, &[value], Some(target))?
            .ok_or_else(|| Error::Internal("a conversion without a result".into()))
    }

    /// `f.f32`, `s.v4i16`: a type as the names of AIR's conversions spell it.
    pub(crate) fn type_suffix(&self, ty: Ty) -> String {
        let letter = match self.class(ty) {
            Class::Float => "f",
            Class::Signed => "s",
            Class::Unsigned | Class::Bool => "u",
        };
        format!("{letter}.{}", self.width_suffix(ty))
    }

    /// `f32`, `v4i16`: a type as the names of AIR's functions spell it.
    pub(crate) fn width_suffix(&self, ty: Ty) -> String {
        let types = &self.program.types;
        if let Some((element, len)) = types.vector_parts(ty) {
            return format!("v{len}{}", self.width_suffix(element));
        }
        match *types.kind(ty) {
            TyKind::Bool => "i1".into(),
            TyKind::Int(kind) => format!("i{}", kind.bits()),
            TyKind::Float(msl::types::FloatKind::Half) => "f16".into(),
            TyKind::Float(msl::types::FloatKind::BFloat) => "bf16".into(),
            TyKind::Float(msl::types::FloatKind::Float) => "f32".into(),
            TyKind::Enum(id) => self.width_suffix(types.enum_(id).underlying),
            TyKind::SimdgroupMatrix { element } => format!("v64{}", self.width_suffix(element)),
            _ => "?".into(),
        }
    }

    /// Calls one of AIR's functions, declared with the types of the arguments.
    pub(crate) fn intrinsic(
        &self,
        name: &str,
        args: &[BasicValueEnum<'ctx>],
        result: Option<BasicTypeEnum<'ctx>>,
    ) -> Result<Option<BasicValueEnum<'ctx>>> {
        let function = match self.module.get_function(name) {
            Some(function) => function,
            None => {
                let params: Vec<_> = args.iter().map(|arg| arg.get_type().into()).collect();
                let ty = match result {
                    Some(result) => inkwell::types::BasicType::fn_type(&result, &params, false),
                    None => self.context.void_type().fn_type(&params, false),
                };
                self.module.add_function(name, ty, None)
            }
        };
        let args: Vec<_> = args.iter().map(|arg| (*arg).into()).collect();
        Ok(self.builder.build_call(function, &args, "")?.try_as_basic_value().basic())
    }
}
