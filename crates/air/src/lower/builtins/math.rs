//! <metal_math>: functions on floating point that AIR has, and those that are one or two operations.

use super::call::{Call, Effects};
use super::shape::{Scalar, Shape};
use super::{Attempt, Output, Result};
use inkwell::FloatPredicate;
use inkwell::values::BasicValueEnum;
use msl::types::IntKind;

/// AIR's name for a function, where it has one with only values as arguments. All have a `fast_` variant for `float`
/// but those of [`has_fast`].
fn intrinsic_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "abs" | "fabs" => "fabs",
        "acos" => "acos",
        "acosh" => "acosh",
        "asin" => "asin",
        "asinh" => "asinh",
        "atan" => "atan",
        "atan2" => "atan2",
        "atanh" => "atanh",
        "ceil" => "ceil",
        "cos" => "cos",
        "cosh" => "cosh",
        "cospi" => "cospi",
        "exp" => "exp",
        "exp10" => "exp10",
        "exp2" => "exp2",
        "floor" => "floor",
        "fma" => "fma",
        "max" | "fmax" => "fmax",
        "max3" | "fmax3" => "fmax3",
        "median3" | "fmedian3" => "fmedian3",
        "min" | "fmin" => "fmin",
        "min3" | "fmin3" => "fmin3",
        "fmod" => "fmod",
        "fract" => "fract",
        "ldexp" => "ldexp",
        "log" => "log",
        "log10" => "log10",
        "log2" => "log2",
        "pow" => "pow",
        "powr" => "powr",
        "rint" => "rint",
        "round" => "round",
        "rsqrt" => "rsqrt",
        "sin" => "sin",
        "sinh" => "sinh",
        "sinpi" => "sinpi",
        "sqrt" => "sqrt",
        "tan" => "tan",
        "tanh" => "tanh",
        "tanpi" => "tanpi",
        "trunc" => "trunc",
        // <metal_common>
        "clamp" => "clamp",
        "mix" => "mix",
        "saturate" => "saturate",
        "sign" => "sign",
        _ => return None,
    })
}

/// True if AIR has a `fast_` variant.
fn has_fast(intrinsic: &str) -> bool {
    !matches!(intrinsic, "fma" | "mix" | "sign")
}

impl<'ctx> Call<'_, 'ctx, '_> {
    /// The functions of <metal_math>.
    pub(super) fn math(&self) -> Attempt<'ctx> {
        let Some(shape) = self.float_shape() else { return Ok(None) };
        if let Some(name) = intrinsic_name(self.name) {
            return Ok(Some(Output::Value(self.float_intrinsic(name, shape, self.args)?)));
        }
        let value = match self.name {
            "divide" => self.fdiv(self.arg(0)?, self.arg(1)?)?,
            "fdim" => self.fdim(shape)?,
            "sincos" => {
                let name =
                    format!("air.{}sincos.{}", if self.is_fast(shape) { "fast_" } else { "" }, shape.suffix());
                self.value_of(&name, self.ty(shape), self.args, Effects::Out)?
            }
            // Derivatives exist in fragment functions only, where neighbouring threads take part.
            "dfdx" | "dfdy" | "fwidth" => self.value_of(
                &format!("air.{}.{}", self.name, shape.suffix()),
                self.ty(shape),
                self.args,
                Effects::Group,
            )?,
            _ => return Ok(None),
        };
        Ok(Some(Output::Value(value)))
    }

    /// Calls `air.[fast_]name.type`; the result has the type of the first argument.
    pub(super) fn float_intrinsic(
        &self,
        name: &str,
        shape: Shape,
        args: &[BasicValueEnum<'ctx>],
    ) -> Result<BasicValueEnum<'ctx>> {
        let fast = if self.is_fast(shape) && has_fast(name) { "fast_" } else { "" };
        self.value_of(&format!("air.{fast}{name}.{}", shape.suffix()), self.ty(shape), args, Effects::None)
    }

    /// Converts, with `air.convert`: `f.f32.u.i1`.
    pub(super) fn bool_to_float(&self, value: BasicValueEnum<'ctx>, to: Shape) -> Result<BasicValueEnum<'ctx>> {
        let name = format!("air.convert.f.{}.u.{}", to.suffix(), to.with(Scalar::Bool).suffix());
        self.value_of(&name, self.ty(to), &[value], Effects::None)
    }

    /// `x > y ? x - y : 0`, and NaN where one of them is.
    fn fdim(&self, shape: Shape) -> Result<BasicValueEnum<'ctx>> {
        let (x, y) = (self.arg(0)?, self.arg(1)?);
        let zero = self.float(shape, 0.0)?;
        let difference = self.fsub(x, y)?;
        self.select(self.fcmp(FloatPredicate::OLE, x, y)?, zero, difference)
    }

    /// The shape of `int` with as many components.
    pub(super) fn ints(shape: Shape) -> Shape {
        shape.with(Scalar::Int(IntKind::Int))
    }
}
