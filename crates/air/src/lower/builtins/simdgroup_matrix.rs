//! <metal_simdgroup_matrix>: an 8×8 matrix is a `<64 x T>`, whichever thread holds which elements.

use super::call::{Call, Effects};
use super::shape::Shape;
use super::{Attempt, Output, Result};
use crate::lower::types::space_number;
use inkwell::values::BasicValueEnum;
use msl::types::AddressSpace;

impl<'ctx> Call<'_, 'ctx, '_> {
    /// The functions of <metal_simdgroup_matrix>.
    pub(super) fn simdgroup_matrix(&self) -> Attempt<'ctx> {
        match self.name {
            "make_filled_simdgroup_matrix" => self.make("init_filled"),
            "make_diagonal_simdgroup_matrix" => self.make("init_diag"),
            "simdgroup_load" => {
                let matrix = self.matrix_shape(0)?;
                let name = format!("{PREFIX}load.{}.{}", matrix.suffix(), self.pointer_suffix(1)?);
                let loaded = self.value_of(&name, self.ty(matrix), &self.args[1..], Effects::GroupRead)?;
                self.store_matrix(loaded)
            }
            "simdgroup_store" => {
                let matrix = self.matrix_shape(0)?;
                let name = format!("{PREFIX}store.{}.{}", matrix.suffix(), self.pointer_suffix(1)?);
                self.intrinsic(&name, None, self.args, Effects::GroupWrite).map(Some)
            }
            // Inferred: MLX's code has calls with a sum of zeros, and no intrinsic without a sum.
            "simdgroup_multiply" => {
                let zero = self.ty(self.matrix_shape(0)?).const_zero();
                self.multiply(zero, self.matrix_shape(0)?)
            }
            "simdgroup_multiply_accumulate" => self.multiply(self.arg(3)?, self.matrix_shape(3)?),
            _ => Ok(None),
        }
    }

    /// The shape of an argument that is a matrix or a reference to one.
    fn matrix_shape(&self, index: usize) -> Result<Shape> {
        Shape::of(&self.lowering.program.types, self.referent(index)?.ty).ok_or_else(|| self.internal("a matrix"))
    }

    /// `p1f32`: a pointer to `float` in device memory.
    fn pointer_suffix(&self, index: usize) -> Result<String> {
        let types = &self.lowering.program.types;
        let pointee =
            self.param(index).and_then(|ty| types.pointee(ty)).ok_or_else(|| self.internal("a pointer"))?;
        let element = Shape::of(types, pointee.ty).ok_or_else(|| self.internal("a pointer to numbers"))?;
        let space = space_number(pointee.space.unwrap_or(AddressSpace::Thread));
        Ok(format!("p{space}{}", element.suffix()))
    }

    fn make(&self, operation: &str) -> Attempt<'ctx> {
        let matrix = self.result_shape()?;
        let name = format!("{PREFIX}{operation}.{}.{}", matrix.suffix(), matrix.element().suffix());
        Ok(Some(Output::Value(self.value_of(&name, self.ty(matrix), self.args, Effects::Group)?)))
    }

    fn multiply(&self, sum: BasicValueEnum<'ctx>, sum_shape: Shape) -> Attempt<'ctx> {
        let [d, a, b] = [self.matrix_shape(0)?, self.matrix_shape(1)?, self.matrix_shape(2)?];
        let name = format!(
            "{PREFIX}multiply_accumulate.{}.{}.{}.{}",
            d.suffix(),
            a.suffix(),
            b.suffix(),
            sum_shape.suffix()
        );
        let args = [self.arg(1)?, self.arg(2)?, sum];
        let product = self.value_of(&name, self.ty(d), &args, Effects::Group)?;
        self.store_matrix(product)
    }

    /// Through the reference that is the first argument.
    fn store_matrix(&self, matrix: BasicValueEnum<'ctx>) -> Attempt<'ctx> {
        self.store_through(0, matrix)?;
        Ok(Some(Output::Nothing))
    }
}

const PREFIX: &str = "air.simdgroup_matrix_8x8_";
