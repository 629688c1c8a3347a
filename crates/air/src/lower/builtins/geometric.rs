//! <metal_geometric>: `air.dot`, and the functions built on it.

use super::call::{Call, Effects};
use super::shape::Shape;
use super::{Attempt, Output, Result};
use inkwell::FloatPredicate;
use inkwell::values::BasicValueEnum;

impl<'ctx> Call<'_, 'ctx, '_> {
    /// The functions of <metal_geometric>.
    pub(super) fn geometric(&self) -> Attempt<'ctx> {
        let Some(shape) = self.float_shape() else { return Ok(None) };
        let value = match self.name {
            "cross" => self.cross()?,
            "dot" => self.dot(shape, self.arg(0)?, self.arg(1)?)?,
            "length" => self.length(shape, self.arg(0)?)?,
            "length_squared" => self.dot(shape, self.arg(0)?, self.arg(0)?)?,
            "distance" => self.length(shape, self.fsub(self.arg(0)?, self.arg(1)?)?)?,
            "distance_squared" => {
                let difference = self.fsub(self.arg(0)?, self.arg(1)?)?;
                self.dot(shape, difference, difference)?
            }
            "normalize" => {
                let x = self.arg(0)?;
                let factor = self.float_intrinsic("rsqrt", shape.element(), &[self.dot(shape, x, x)?])?;
                self.fmul(self.splat(factor, shape)?, x)?
            }
            "faceforward" => {
                let (n, i, reference) = (self.arg(0)?, self.arg(1)?, self.arg(2)?);
                let zero = self.float(shape.element(), 0.0)?;
                let is_facing = self.fcmp(FloatPredicate::OLT, self.dot(shape, reference, i)?, zero)?;
                self.select(is_facing, n, self.fneg(n)?)?
            }
            "reflect" => {
                let (i, n) = (self.arg(0)?, self.arg(1)?);
                let factor = self.fmul(self.dot(shape, n, i)?, self.float(shape.element(), 2.0)?)?;
                self.fsub(i, self.fmul(self.splat(factor, shape)?, n)?)?
            }
            "refract" => self.refract(shape)?,
            _ => return Ok(None),
        };
        Ok(Some(Output::Value(value)))
    }

    fn dot(&self, shape: Shape, x: BasicValueEnum<'ctx>, y: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        self.value_of(&format!("air.dot.{}", shape.suffix()), self.ty(shape.element()), &[x, y], Effects::None)
    }

    fn length(&self, shape: Shape, x: BasicValueEnum<'ctx>) -> Result<BasicValueEnum<'ctx>> {
        self.float_intrinsic("sqrt", shape.element(), &[self.dot(shape, x, x)?])
    }

    fn cross(&self) -> Result<BasicValueEnum<'ctx>> {
        const YZX: [Option<u64>; 3] = [Some(1), Some(2), Some(0)];
        const ZXY: [Option<u64>; 3] = [Some(2), Some(0), Some(1)];
        let (x, y) = (self.arg(0)?, self.arg(1)?);
        let left = self.fmul(self.shuffle(x, &YZX)?, self.shuffle(y, &ZXY)?)?;
        let right = self.fmul(self.shuffle(x, &ZXY)?, self.shuffle(y, &YZX)?)?;
        self.fsub(left, right)
    }

    /// k = 1 - eta² (1 - dot(n, i)²); k < 0 ? 0 : eta i - (eta dot(n, i) + sqrt(k)) n
    fn refract(&self, shape: Shape) -> Result<BasicValueEnum<'ctx>> {
        let (i, n, eta) = (self.arg(0)?, self.arg(1)?, self.arg(2)?);
        let element = shape.element();
        let one = self.float(element, 1.0)?;
        let cosine = self.dot(shape, n, i)?;
        let sine_squared = self.fsub(one, self.fmul(cosine, cosine)?)?;
        let k = self.fsub(one, self.fmul(self.fmul(eta, eta)?, sine_squared)?)?;
        let along = self.fadd(self.fmul(eta, cosine)?, self.float_intrinsic("sqrt", element, &[k])?)?;
        let bent = self.fsub(self.fmul(self.splat(eta, shape)?, i)?, self.fmul(self.splat(along, shape)?, n)?)?;
        let is_total = self.fcmp(FloatPredicate::OLT, k, self.float(element, 0.0)?)?;
        self.select(is_total, self.float(shape, 0.0)?, bent)
    }
}
