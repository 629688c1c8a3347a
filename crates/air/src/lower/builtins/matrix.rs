//! <metal_matrix>: matrices are columns in memory. Apple's headers compute these functions, too.

use super::call::Call;
use super::{Attempt, Output, Result};
use inkwell::types::BasicTypeEnum;
use inkwell::values::BasicValueEnum;
use msl::types::TyKind;

impl<'ctx> Call<'_, 'ctx, '_> {
    /// The functions of <metal_matrix>.
    pub(super) fn matrix(&self) -> Attempt<'ctx> {
        if !matches!(self.name, "determinant" | "transpose") {
            return Ok(None);
        }
        let ty = self.param(0).ok_or_else(|| self.internal("an argument is missing"))?;
        let TyKind::Matrix { columns, rows, .. } = *self.lowering.program.types.kind(ty) else {
            return Err(self.internal("a matrix"));
        };
        let mut elements = Vec::new();
        for index in 0..u64::from(columns) {
            let column = self.lowering.load_column(self.pointer_arg(0)?, ty, index)?;
            let column: Result<Vec<_>> = (0..u64::from(rows)).map(|row| self.component(column, row)).collect();
            elements.push(column?);
        }
        if self.name == "determinant" {
            return Ok(Some(Output::Value(self.determinant(&elements)?)));
        }
        self.transpose(&elements, usize::from(rows))?;
        Ok(Some(Output::Nothing))
    }

    fn transpose(&self, columns: &[Vec<BasicValueEnum<'ctx>>], rows: usize) -> Result<()> {
        let result = self.result.ok_or_else(|| self.internal("a place for the result"))?;
        let BasicTypeEnum::VectorType(ty) = self.lowering.column_type(self.function.result)? else {
            return Err(self.internal("a column"));
        };
        for row in 0..rows {
            let mut column = ty.get_poison();
            for (index, source) in (0u64..).zip(columns) {
                column = self.lowering.builder.build_insert_element(column, source[row], self.i32(index), "")?;
            }
            self.lowering.store_column(result, self.function.result, row as u64, column.into())?;
        }
        Ok(())
    }

    /// By the first column, and the determinants of the matrix without it and without one row.
    fn determinant(&self, columns: &[Vec<BasicValueEnum<'ctx>>]) -> Result<BasicValueEnum<'ctx>> {
        let [first, others @ ..] = columns else { return Err(self.internal("a matrix without columns")) };
        if others.is_empty() {
            return first.first().copied().ok_or_else(|| self.internal("a matrix without rows"));
        }
        let mut sum = None;
        for (row, &element) in first.iter().enumerate() {
            let minor: Vec<Vec<_>> = others
                .iter()
                .map(|column| column.iter().enumerate().filter(|&(r, _)| r != row).map(|(_, &e)| e).collect())
                .collect();
            let term = self.fmul(element, self.determinant(&minor)?)?;
            sum = Some(match sum {
                None => term,
                Some(sum) if row % 2 == 0 => self.fadd(sum, term)?,
                Some(sum) => self.fsub(sum, term)?,
            });
        }
        sum.ok_or_else(|| self.internal("a matrix without rows"))
    }
}
