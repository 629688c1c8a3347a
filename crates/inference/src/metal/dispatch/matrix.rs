//! Checks of weight matrices.

use super::Check;
use crate::formats::Format;
use crate::metal::layout::{Layout, Matrix};
use compute::Result;

/// A matrix that passed the checks, with its size as kernels take it.
pub(crate) struct CheckedMatrix<'a> {
    matrix: Matrix<'a>,
    pub(crate) rows: u32,
    pub(crate) columns: u32,
    pub(crate) tiled: bool,
}

/// Checks that a matrix has all its bytes, and that they are aligned: kernels read words of two or four bytes, which a
/// GPU requires to be aligned.
pub(crate) fn matrix<'a>(check: &Check<'_>, name: &str, matrix: &Matrix<'a>) -> Result<CheckedMatrix<'a>> {
    let rows = check.count(&format!("rows of {name}"), matrix.rows)?;
    let columns = check.count(&format!("columns of {name}"), matrix.columns)?;
    match matrix.layout.matrix_bytes(matrix.format, matrix.rows, matrix.columns) {
        Err(error) => return check.error(format_args!("{name}: {error}")),
        Ok(needed) if needed > matrix.data.len() => {
            let (has, format) = (matrix.data.len(), matrix.format);
            let what = format_args!("{name} has {has} bytes, but {rows} × {columns} of {format} are {needed}");
            return check.error(what);
        }
        Ok(_) => {}
    }
    let alignment = match (matrix.layout, matrix.format) {
        (Layout::Tiles, _) | (Layout::Blocks, Format::F32) => 4,
        (Layout::Blocks, _) => 2,
    };
    let offset = matrix.data.offset();
    if !matrix.data.buffer().addresses(offset..offset).start.is_multiple_of(alignment) {
        return check.error(format_args!("{name} begins at an address that is no multiple of {alignment}"));
    }
    Ok(CheckedMatrix { matrix: *matrix, rows, columns, tiled: matrix.layout == Layout::Tiles })
}

impl CheckedMatrix<'_> {
    /// Checks that another matrix has the same format, layout and columns, and `rows` rows.
    pub(crate) fn stored_like(&self, check: &Check<'_>, name: &str, other: &Matrix<'_>, rows: usize) -> Result<()> {
        matrix(check, name, other)?;
        let like = |matrix: &Matrix<'_>| (matrix.format, matrix.layout, matrix.columns);
        match like(other) == like(&self.matrix) && other.rows == rows {
            true => Ok(()),
            false => check.error(format_args!(
                "{name} is {} × {} of {} in {:?}, but must be {rows} × {} of {} in {:?}",
                other.rows,
                other.columns,
                other.format,
                other.layout,
                self.matrix.columns,
                self.matrix.format,
                self.matrix.layout
            )),
        }
    }

    /// Checks that the columns are a multiple of 32: kernels take plain numbers 32 at a time, too.
    pub(crate) fn whole_pieces(&self, check: &Check<'_>) -> Result<()> {
        match self.columns.is_multiple_of(32) {
            true => Ok(()),
            false => check.error(format_args!("{} columns: they must be a multiple of 32 here", self.columns)),
        }
    }
}
