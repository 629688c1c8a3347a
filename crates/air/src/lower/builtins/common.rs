//! <metal_common>: functions that are more than one intrinsic. The others are in `math`.

use super::call::Call;
use super::{Attempt, Output};
use inkwell::FloatPredicate;

impl<'ctx> Call<'_, 'ctx, '_> {
    /// The functions of <metal_common>.
    pub(super) fn common(&self) -> Attempt<'ctx> {
        let Some(shape) = self.float_shape() else { return Ok(None) };
        let value = match self.name {
            // As Apple does: a NaN gives 0.
            "step" => {
                let is_at_least = self.fcmp(FloatPredicate::OLE, self.arg(0)?, self.arg(1)?)?;
                self.bool_to_float(self.relaxed(is_at_least), shape)?
            }
            "smoothstep" => {
                let (edge0, edge1, x) = (self.arg(0)?, self.arg(1)?, self.arg(2)?);
                let position = self.fdiv(self.fsub(x, edge0)?, self.fsub(edge1, edge0)?)?;
                let bounds = [position, self.float(shape, 0.0)?, self.float(shape, 1.0)?];
                let t = self.float_intrinsic("clamp", shape, &bounds)?;
                let factor = self.fsub(self.float(shape, 3.0)?, self.fmul(t, self.float(shape, 2.0)?)?)?;
                self.fmul(self.fmul(t, t)?, factor)?
            }
            _ => return Ok(None),
        };
        Ok(Some(Output::Value(value)))
    }
}
