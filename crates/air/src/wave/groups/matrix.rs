//! Simdgroup matrices of 8×8 elements. Each lane holds two elements side by side; the matrix is two vectors: the first
//! element of each lane, and the second.
//!
//! Apple does not document the elements of each lane, but shaders that other people wrote rely on them:
//!
//! ```text
//! row bits r2 r1 r0, column bits c2 c1 c0:   lane = r2 c2 r1 r0 c1,   element = c0
//! ```
//!
//! D = A·B + C is computed in this form, without any other in between: for each k, lane (r, c) of D's element e takes
//! A(r, k), a shuffle of one of A's vectors, times B(k, c), a shuffle of B's vector e. With 512-bit registers each of
//! these shuffles is one instruction, and where a matrix is multiplied several times LLVM makes them only once.

use super::Call;
use super::number::{Number, allowing_special_values};
use crate::ir::{Builder, Type, Value};
use crate::wave::lanes::lanes_of;
use abi::LANES;

/// Rows and columns.
pub(super) const SIZE: usize = 8;

/// The name of a function on matrices, taken apart.
pub(super) struct Name<'a> {
    pub(super) operation: &'a str,
    /// `v64f32`, …
    suffixes: Vec<&'a str>,
}

impl<'a> Name<'a> {
    pub(super) fn parse(name: &'a str) -> Option<Name<'a>> {
        let mut parts = name.strip_prefix("air.simdgroup_matrix_8x8_")?.split('.');
        Some(Name { operation: parts.next()?, suffixes: parts.collect() })
    }

    /// True for loads and stores.
    pub(super) fn is_memory(&self) -> bool {
        matches!(self.operation, "load" | "store")
    }

    /// The elements of the matrix with this position in the name.
    pub(super) fn element<'m>(&self, b: &Builder<'m>, index: usize) -> Result<Element<'m>, String> {
        let suffix = self.suffixes.get(index).copied().unwrap_or_default();
        let (number, ty) = match suffix.strip_prefix("v64") {
            Some("f32") => (Number::Float, Type::float(b.context())),
            Some("f16") => (Number::Float, Type::half(b.context())),
            Some("bf16") => (Number::BFloat, Type::int(b.context(), 16)),
            _ => return Err(format!("simdgroup matrices of the type '{suffix}' are not supported")),
        };
        Ok(Element { number, ty })
    }
}

/// The elements of a matrix; bfloat is `i16`.
#[derive(Clone, Copy)]
pub(super) struct Element<'m> {
    pub(super) number: Number,
    pub(super) ty: Type<'m>,
}

impl Element<'_> {
    /// Bytes in memory.
    pub(super) fn bytes(self) -> u32 {
        if self.ty.is_int() || self.ty.is_half() { 2 } else { 4 }
    }
}

/// The row and the column of a lane's element.
pub(super) fn position(lane: usize, element: usize) -> (usize, usize) {
    let quad = lane / 4;
    let row = (quad & 4) + (lane / 2) % 4;
    let column = (quad & 2) * 2 + (lane % 2) * 2 + element;
    (row, column)
}

/// The lane and the element where the element of a row and a column is.
pub(super) fn place(row: usize, column: usize) -> (usize, usize) {
    let lane = (row & 4) << 2 | (column & 4) << 1 | (row & 3) << 1 | (column & 2) >> 1;
    (lane, column & 1)
}

/// All functions on matrices but loads and stores.
pub(super) fn arithmetic<'m>(b: &Builder<'m>, call: &Call<'_, 'm>, name: &Name) -> Result<Vec<Value<'m>>, String> {
    let element = name.element(b, 0)?;
    match name.operation {
        "multiply_accumulate" => {
            let [left, right, sum] = [0, 1, 2].map(|index| opened_argument(b, call, name, index));
            multiply(b, call, element, left?, right?, sum?)
        }
        "multiply" => {
            let [left, right] = [0, 1].map(|index| opened_argument(b, call, name, index));
            let zero = lanes_of(Type::float(b.context())).zero();
            multiply(b, call, element, left?, right?, [zero; 2])
        }
        "init_filled" => Ok(vec![call.scalar(0)?; 2]),
        "init_diag" => {
            let value = call.scalar(0)?;
            Ok([0, 1].map(|element| b.select(diagonal(b, element), value, value.ty().zero())).to_vec())
        }
        operation => {
            Err(format!("the simdgroup matrix function '{operation}' of '{}' is not supported", call.name))
        }
    }
}

/// A matrix among the arguments in float. The name has the elements of the result first.
fn opened_argument<'m>(
    b: &Builder<'m>,
    call: &Call<'_, 'm>,
    name: &Name,
    index: usize,
) -> Result<[Value<'m>; 2], String> {
    let element = name.element(b, index + 1)?;
    match call.argument(index)? {
        &[first, second] => Ok([first, second].map(|part| element.number.open(b, part))),
        _ => Err(format!("argument {index} of '{}' is no simdgroup matrix", call.name)),
    }
}

/// The lanes whose element is on the diagonal.
fn diagonal<'m>(b: &Builder<'m>, element: usize) -> Value<'m> {
    let bit = Type::int(b.context(), 1);
    let lanes: Vec<Value<'m>> = (0..LANES)
        .map(|lane| {
            let (row, column) = position(lane, element);
            bit.constant((row == column).into())
        })
        .collect();
    Value::constant_vector(&lanes)
}

/// A·B + C in float, rounded to the result's elements.
fn multiply<'m>(
    b: &Builder<'m>,
    call: &Call<'_, 'm>,
    result: Element<'m>,
    left: [Value<'m>; 2],
    right: [Value<'m>; 2],
    sum: [Value<'m>; 2],
) -> Result<Vec<Value<'m>>, String> {
    let mut sums = sum;
    for k in 0..SIZE {
        let of_row = spread(b, left, |row, _| (row, k), 0);
        for (element, sum) in sums.iter_mut().enumerate() {
            let of_column = spread(b, right, |_, column| (k, column), element);
            *sum = b.intrinsic("llvm.fmuladd", &[sum.ty()], &[of_row, of_column, *sum]);
            sum.set_fast_math(allowing_special_values(call.fast_math));
        }
    }
    Ok(sums.map(|sum| result.number.close(b, sum, lanes_of(result.ty))).to_vec())
}

/// A vector of those elements of a matrix that `source` names for the rows and columns of element `element`. They must
/// all be in the same one of the matrix's two vectors.
fn spread<'m>(
    b: &Builder<'m>,
    matrix: [Value<'m>; 2],
    source: impl Fn(usize, usize) -> (usize, usize),
    element: usize,
) -> Value<'m> {
    let places = |lane| {
        let (row, column) = position(lane, element);
        let (row, column) = source(row, column);
        place(row, column)
    };
    let pattern: Vec<i32> = (0..LANES).map(|lane| places(lane).0 as i32).collect();
    let vector = matrix[places(0).1];
    b.shuffle(vector, vector.ty().poison(), &pattern)
}
