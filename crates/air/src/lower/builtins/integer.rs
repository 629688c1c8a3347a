//! <metal_integer>.

use super::call::{Call, Effects};
use super::shape::{Scalar, Shape};
use super::{Attempt, Output};

/// AIR's name for a function that depends on the sign of its arguments, whose result has their type.
fn signed_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "abs" => "abs",
        "absdiff" => "abs_diff",
        "addsat" => "add_sat",
        "clamp" => "clamp",
        "extract_bits" => "extract_bits",
        "hadd" => "hadd",
        "insert_bits" => "insert_bits",
        "madhi" => "mad_hi",
        "madsat" => "mad_sat",
        "max" => "max",
        "max3" => "max3",
        "median3" => "median3",
        "min" => "min",
        "min3" => "min3",
        "mulhi" => "mul_hi",
        "rhadd" => "rhadd",
        "subsat" => "sub_sat",
        _ => return None,
    })
}

impl<'ctx> Call<'_, 'ctx, '_> {
    /// The functions of <metal_integer>.
    pub(super) fn integer(&self) -> Attempt<'ctx> {
        let is_integer = |shape: &Shape| matches!(shape.scalar, Scalar::Int(_));
        let Some(shape) = self.param_shape(0).filter(is_integer) else { return Ok(None) };
        if let Some(name) = signed_name(self.name) {
            let name = format!("air.{name}.{}", shape.signed_suffix());
            return Ok(Some(Output::Value(self.value_of(&name, self.ty(shape), self.args, Effects::None)?)));
        }
        let value = match self.name {
            "clz" | "ctz" => self.count_zeros(self.name, shape, self.arg(0)?)?,
            "popcount" | "reverse_bits" | "rotate" => {
                let name = format!("air.{}.{}", self.name, shape.suffix());
                self.value_of(&name, self.ty(shape), self.args, Effects::None)?
            }
            // The result for factors of more than 24 bits is undefined in Metal.
            "mul24" => self.mul(self.arg(0)?, self.arg(1)?)?,
            "mad24" => self.add(self.mul(self.arg(0)?, self.arg(1)?)?, self.arg(2)?)?,
            _ => return Ok(None),
        };
        Ok(Some(Output::Value(value)))
    }
}
