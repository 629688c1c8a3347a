//! Matrices: columns in memory, worked on one column at a time.

use super::contraction::Contraction;
use super::{Error, Lowering, Result};
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, BasicValueEnum, PointerValue};
use msl::program::{BinaryOp, Expr};
use msl::types::{Ty, TyKind};

impl<'ctx, 'p> Lowering<'ctx, 'p> {
    fn shape(&self, ty: Ty) -> Result<(Ty, u8, u8)> {
        match *self.program.types.kind(ty) {
            TyKind::Matrix { element, columns, rows } => Ok((element, columns, rows)),
            _ => Err(Error::Internal(format!("'{}' is no matrix", self.program.types.name(ty)))),
        }
    }

    /// The LLVM type of a column.
    pub(crate) fn column_type(&self, matrix: Ty) -> Result<BasicTypeEnum<'ctx>> {
        let (element, _, rows) = self.shape(matrix)?;
        Ok(self.vector_of(self.register_type(element)?, u32::from(rows)))
    }

    /// The type of a column. The checker created it with the matrix's columns; here it is looked up.
    pub(crate) fn column_ty(&self, matrix: Ty) -> Result<Ty> {
        let (element, _, rows) = self.shape(matrix)?;
        // Operators look at the element alone, so any vector of it will do where the exact one was never named.
        let found = self.program.types.find_vector(element, rows);
        Ok(found.unwrap_or(element))
    }

    fn column_address(&self, matrix: PointerValue<'ctx>, ty: Ty, index: u64) -> Result<PointerValue<'ctx>> {
        let (_, columns, _) = self.shape(ty)?;
        let stride = self.layout(ty)?.size / u64::from(columns);
        self.offset(matrix, index * stride)
    }

    pub(crate) fn load_column(
        &self,
        matrix: PointerValue<'ctx>,
        ty: Ty,
        index: u64,
    ) -> Result<BasicValueEnum<'ctx>> {
        let address = self.column_address(matrix, ty, index)?;
        let loaded = self.builder.build_load(self.column_type(ty)?, address, "")?;
        if let Some(instruction) = loaded.as_instruction_value() {
            let _ = instruction.set_alignment(self.align_at(address, ty)?);
        }
        Ok(loaded)
    }

    pub(crate) fn store_column(
        &self,
        matrix: PointerValue<'ctx>,
        ty: Ty,
        index: u64,
        value: BasicValueEnum<'ctx>,
    ) -> Result<()> {
        let address = self.column_address(matrix, ty, index)?;
        let stored = self.builder.build_store(address, value)?;
        let _ = stored.set_alignment(self.align_at(address, ty)?);
        Ok(())
    }

    /// Column `index` of a matrix expression. Evaluated anew for each column: operands are places or cheap.
    pub(crate) fn column(&mut self, matrix: &'p Expr, index: u64) -> Result<BasicValueEnum<'ctx>> {
        let address = self.matrix_address(matrix)?;
        self.load_column(address, matrix.ty.ty, index)
    }

    /// The address of a matrix; one that is a value is evaluated once and remembered for its other columns.
    fn matrix_address(&mut self, matrix: &'p Expr) -> Result<PointerValue<'ctx>> {
        let key: *const Expr = matrix;
        if let Some(address) = self.matrices.get(&key) {
            return Ok(*address);
        }
        let address = self.alloca(matrix.ty.ty)?;
        self.aggregate_into(matrix, address)?;
        self.matrices.insert(key, address);
        Ok(address)
    }

    /// Makes each column of a matrix by itself.
    pub(crate) fn by_column(
        &mut self,
        ty: Ty,
        to: PointerValue<'ctx>,
        mut make: impl FnMut(&mut Self, u64, Ty) -> Result<BasicValueEnum<'ctx>>,
    ) -> Result<()> {
        let (_, columns, _) = self.shape(ty)?;
        let column = self.column_ty(ty)?;
        let saved = std::mem::take(&mut self.matrices);
        let mut made = Vec::new();
        for index in 0..u64::from(columns) {
            made.push(make(self, index, column)?);
        }
        self.matrices = saved;
        for (index, value) in made.into_iter().enumerate() {
            self.store_column(to, ty, index as u64, value)?;
        }
        Ok(())
    }

    pub(crate) fn compare_matrices(
        &mut self,
        op: BinaryOp,
        lhs: &'p Expr,
        rhs: &'p Expr,
    ) -> Result<BasicValueEnum<'ctx>> {
        let ty = lhs.ty.ty;
        let (_, columns, rows) = self.shape(ty)?;
        let column_ty = self.column_ty(ty)?;
        let saved = std::mem::take(&mut self.matrices);
        let mut all = self.context.bool_type().const_int(1, false);
        for index in 0..u64::from(columns) {
            let (a, b) = (self.column(lhs, index)?, self.column(rhs, index)?);
            let equal = self.binary(BinaryOp::Equal, column_ty, a, b)?;
            for row in 0..rows {
                let bit = self.shuffle(equal, &[row])?.into_int_value();
                all = self.builder.build_and(all, bit, "")?;
            }
        }
        self.matrices = saved;
        Ok(match op {
            BinaryOp::NotEqual => self.builder.build_not(all, "")?.into(),
            _ => all.into(),
        })
    }

    /// A scalar on the diagonal, zero elsewhere.
    pub(crate) fn diagonal(&mut self, scalar: &'p Expr, ty: Ty, to: PointerValue<'ctx>) -> Result<()> {
        let (_, columns, rows) = self.shape(ty)?;
        let scalar = self.value(scalar)?;
        let column_type = self.column_type(ty)?.into_vector_type();
        for index in 0..columns {
            let mut column = column_type.const_zero();
            if index < rows {
                let at = self.context.i32_type().const_int(u64::from(index), false);
                column = self.builder.build_insert_element(column, scalar, at, "")?;
            }
            self.store_column(to, ty, u64::from(index), column.into())?;
        }
        Ok(())
    }

    /// Σ a[k] · b[k] over the columns of a.
    fn combine(
        &mut self,
        columns: &[BasicValueEnum<'ctx>],
        weights: BasicValueEnum<'ctx>,
        ty: Ty,
    ) -> Result<BasicValueEnum<'ctx>> {
        let len = columns[0].into_vector_value().get_type().get_size();
        // In Metal, the operator is a function of the library that adds one product after the other.
        let fuses = self.float_rules().contraction == Contraction::On;
        let mut sum: Option<BasicValueEnum<'ctx>> = None;
        for (index, &column) in columns.iter().enumerate() {
            let weight = self.shuffle(weights, &vec![index as u8; len as usize])?;
            sum = Some(match sum {
                Some(sum) if fuses => self.multiply_add(column, weight, sum)?,
                Some(sum) => {
                    let product = self.binary(BinaryOp::Mul, ty, column, weight)?;
                    self.binary(BinaryOp::Add, ty, sum, product)?
                }
                None => self.binary(BinaryOp::Mul, ty, column, weight)?,
            });
        }
        sum.ok_or_else(|| Error::Internal("a matrix without columns".into()))
    }

    /// matrix · matrix
    pub(crate) fn product_matrix(
        &mut self,
        lhs: &'p Expr,
        rhs: &'p Expr,
        ty: Ty,
        to: PointerValue<'ctx>,
    ) -> Result<()> {
        let (element, inner, _) = self.shape(lhs.ty.ty)?;
        let (_, columns, _) = self.shape(ty)?;
        let saved = std::mem::take(&mut self.matrices);
        let mut left = Vec::new();
        for index in 0..u64::from(inner) {
            left.push(self.column(lhs, index)?);
        }
        let mut made = Vec::new();
        for index in 0..u64::from(columns) {
            let weights = self.column(rhs, index)?;
            made.push(self.combine(&left, weights, element)?);
        }
        self.matrices = saved;
        for (index, value) in made.into_iter().enumerate() {
            self.store_column(to, ty, index as u64, value)?;
        }
        Ok(())
    }

    /// matrix · vector, vector · matrix
    pub(crate) fn product_vector(&mut self, lhs: &'p Expr, rhs: &'p Expr) -> Result<BasicValueEnum<'ctx>> {
        let saved = std::mem::take(&mut self.matrices);
        let result = if self.is_register(rhs.ty.ty) {
            let (element, inner, _) = self.shape(lhs.ty.ty)?;
            let mut left = Vec::new();
            for index in 0..u64::from(inner) {
                left.push(self.column(lhs, index)?);
            }
            let weights = self.value(rhs)?;
            self.combine(&left, weights, element)?
        } else {
            // Each component is the dot product of the vector with a column.
            let (element, columns, rows) = self.shape(rhs.ty.ty)?;
            let vector = self.value(lhs)?;
            let result_type = self.vector_of(self.register_type(element)?, u32::from(columns));
            let mut result = result_type.into_vector_type().get_undef();
            for index in 0..u64::from(columns) {
                let column = self.column(rhs, index)?;
                let product = self.binary(BinaryOp::Mul, element, vector, column)?;
                let mut sum = self.shuffle(product, &[0])?;
                for row in 1..rows {
                    let next = self.shuffle(product, &[row])?;
                    sum = self.binary(BinaryOp::Add, element, sum, next)?;
                }
                let at = self.context.i32_type().const_int(index, false);
                result = self.builder.build_insert_element(result, sum, at, "")?;
            }
            result.into()
        };
        self.matrices = saved;
        Ok(result)
    }

    /// A simdgroup matrix with a scalar on its diagonal.
    pub(crate) fn simdgroup_diagonal(
        &mut self,
        scalar: BasicValueEnum<'ctx>,
        ty: Ty,
    ) -> Result<BasicValueEnum<'ctx>> {
        let TyKind::SimdgroupMatrix { element } = *self.program.types.kind(ty) else {
            return Err(Error::Internal("no simdgroup matrix".into()));
        };
        let (matrix, element) = (self.width_suffix(ty), self.width_suffix(element));
        let name = format!("air.simdgroup_matrix_8x8_init_diag.{matrix}.{element}");
        let result = self.register_type(ty)?;
        let made = self.intrinsic(&name, &[scalar], Some(result))?;
        made.ok_or_else(|| Error::Internal("a matrix without a value".into()))
    }
}
