//! Functions on simdgroup matrices: loads, stores and products of fragments (see [`super::matrix`]).
//!
//! ```text
//! air.simdgroup_matrix_8x8_load.v64f32.p1f32(pointer, i64 elements_per_row, <2 x i64> origin, i1 transpose)
//! air.simdgroup_matrix_8x8_load.v64f32.p1f32(pointer, <2 x i64> extent, <2 x i64> strides, <2 x i64> origin)
//! air.simdgroup_matrix_8x8_store.v64f32.p1f32(matrix, pointer, …)
//! air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f16.v64f16.v64f32(left, right, sum)
//! ```
//!
//! Products of half and bfloat are those of the tensor cores, `mma.m16n8k8` and `mma.m16n8k16`, summed in float; rows
//! that no matrix fills are zero. A left operand and a sum are fragments as they are; a right operand must have its
//! columns in the lanes: it is transposed. Products of float are computed by the lanes, in the order in which CPUs compute them.

use super::lanes::{Active, from_lane, lane};
use crate::ir::{Builder, Opcode, Type, Value};
use crate::thread::number::{Number, allowing_special_values};

/// Rows and columns.
const SIZE: i64 = 8;

/// A call of a function on matrices; these are fragments of two elements.
pub(super) struct Call<'a, 'm> {
    pub(super) name: &'a str,
    pub(super) arguments: &'a [Value<'m>],
    /// LLVM's fast-math flags.
    pub(super) flags: u32,
    /// True if the GPU has products of matrices.
    pub(super) has_products: bool,
}

/// The result, if there is one; an error in words when the call is not as it should be.
pub(super) fn emit<'m>(b: &Builder<'m>, call: &Call<'_, 'm>) -> Result<Option<Value<'m>>, String> {
    let unknown = || format!("the function '{}'", call.name);
    let mut parts = call.name.strip_prefix("air.simdgroup_matrix_8x8_").ok_or_else(unknown)?.split('.');
    let operation = parts.next().unwrap_or_default();
    let suffixes: Vec<&str> = parts.collect();
    let element = |index: usize| Element::parse(b, suffixes.get(index).copied().unwrap_or_default());
    match (operation, call.arguments) {
        ("load", arguments) => Ok(Some(Tile::new(b, call.name, element(0)?, arguments)?.load(b))),
        ("store", [matrix, arguments @ ..]) => {
            Tile::new(b, call.name, element(0)?, arguments)?.store(b, *matrix);
            Ok(None)
        }
        ("init_filled", &[value]) => Ok(Some(both(b, element(0)?, value))),
        ("init_diag", &[value]) => {
            let value = both(b, element(0)?, value);
            Ok(Some(b.select(diagonal(b), value, value.ty().zero())))
        }
        ("multiply_accumulate", &[left, right, sum]) => {
            let types = [element(1)?, element(2)?];
            let sum = element(3)?.number.open(b, sum);
            Ok(Some(close(b, element(0)?, multiply(b, call, types, left, right, sum))))
        }
        ("multiply", &[left, right]) => {
            let types = [element(1)?, element(2)?];
            let zero = Type::float(b.context()).vector(2).zero();
            Ok(Some(close(b, element(0)?, multiply(b, call, types, left, right, zero))))
        }
        _ => Err(unknown()),
    }
}

/// The elements of a matrix; bfloat is `i16`.
#[derive(Clone, Copy, PartialEq)]
struct Element<'m> {
    number: Number,
    ty: Type<'m>,
}

impl<'m> Element<'m> {
    fn parse(b: &Builder<'m>, suffix: &str) -> Result<Element<'m>, String> {
        let (number, ty) = match suffix.strip_prefix("v64") {
            Some("f32") => (Number::Float, Type::float(b.context())),
            Some("f16") => (Number::Float, Type::half(b.context())),
            Some("bf16") => (Number::BFloat, Type::int(b.context(), 16)),
            _ => return Err(format!("a simdgroup matrix of the type '{suffix}'")),
        };
        Ok(Element { number, ty })
    }

    fn is_short(self) -> bool {
        self.ty.is_half() || self.number == Number::BFloat
    }

    /// Bytes in memory.
    fn bytes(self) -> u32 {
        if self.is_short() { 2 } else { 4 }
    }
}

/// A number in both elements.
fn both<'m>(b: &Builder<'m>, element: Element<'m>, value: Value<'m>) -> Value<'m> {
    let int = Type::int(b.context(), 32);
    let value = b.bitcast(value, element.ty);
    let first = b.insert(element.ty.vector(2).poison(), value, int.constant(0));
    b.insert(first, value, int.constant(1))
}

/// Floats rounded to the elements of a result.
fn close<'m>(b: &Builder<'m>, element: Element<'m>, value: Value<'m>) -> Value<'m> {
    element.number.close(b, value, element.ty.vector(2))
}

/// The elements of this lane that are on the diagonal.
fn diagonal<'m>(b: &Builder<'m>) -> Value<'m> {
    let int = Type::int(b.context(), 32);
    let (row, column) = (row(b), column(b));
    let bits = Type::int(b.context(), 1).vector(2).poison();
    let on = |column: Value<'m>| b.icmp(crate::ir::IntPredicate::LLVMIntEQ, row, column);
    let first = b.insert(bits, on(column), int.constant(0));
    b.insert(first, on(b.add(column, int.constant(1))), int.constant(1))
}

/// The row of this lane's elements.
fn row<'m>(b: &Builder<'m>) -> Value<'m> {
    let lane = lane(b);
    b.binary(Opcode::LLVMLShr, lane, lane.ty().constant(2))
}

/// The column of this lane's first element.
fn column<'m>(b: &Builder<'m>) -> Value<'m> {
    let lane = lane(b);
    b.mul(b.and(lane, lane.ty().constant(3)), lane.ty().constant(2))
}

/// A matrix in memory.
struct Tile<'m> {
    element: Element<'m>,
    /// The address of this lane's first element.
    start: Value<'m>,
    /// The distance to its second in bytes; none where that follows at once.
    between: Option<Value<'m>>,
}

impl<'m> Tile<'m> {
    fn new(b: &Builder<'m>, name: &str, element: Element<'m>, arguments: &[Value<'m>]) -> Result<Tile<'m>, String> {
        let int = Type::int(b.context(), 32);
        let part = |vector: Value<'m>, index: i64| b.extract(vector, int.constant(index));
        let (pointer, [x, y], [between_columns, between_rows]) = match *arguments {
            [pointer, elements_per_row, origin, transpose] if !elements_per_row.ty().is_vector() => {
                let one = elements_per_row.ty().constant(1);
                let [x, y] = [part(origin, 0), part(origin, 1)];
                // The origin is that of the matrix as it is in memory.
                match transpose.as_int() {
                    Some(0) => (pointer, [x, y], [one, elements_per_row]),
                    Some(_) => (pointer, [y, x], [elements_per_row, one]),
                    None => {
                        let choose = |yes, no| b.select(transpose, yes, no);
                        let strides = [choose(elements_per_row, one), choose(one, elements_per_row)];
                        (pointer, [choose(y, x), choose(x, y)], strides)
                    }
                }
            }
            [pointer, _, strides, origin] if strides.ty().is_vector() => {
                let both = |vector| [part(vector, 0), part(vector, 1)];
                (pointer, both(origin), both(strides))
            }
            _ => return Err(format!("a call of '{name}' with these arguments")),
        };
        let long = x.ty();
        let size = long.constant(element.bytes().into());
        let at = |place: Value<'m>, number: Value<'m>, stride: Value<'m>| {
            b.mul(b.add(place, b.zext(number, long)), b.mul(stride, size))
        };
        let offset = b.add(at(x, column(b), between_columns), at(y, row(b), between_rows));
        let is_adjacent = between_columns.as_int() == Some(1);
        let between = (!is_adjacent).then(|| b.mul(between_columns, size));
        Ok(Tile { element, start: b.offset(pointer, offset), between })
    }

    fn load(&self, b: &Builder<'m>) -> Value<'m> {
        let (ty, align) = (self.element.ty, self.element.bytes());
        let Some(between) = self.between else { return b.load(ty.vector(2), self.start, align) };
        let int = Type::int(b.context(), 32);
        let (first, second) = (b.load(ty, self.start, align), b.load(ty, b.offset(self.start, between), align));
        let pair = b.insert(ty.vector(2).poison(), first, int.constant(0));
        b.insert(pair, second, int.constant(1))
    }

    fn store(&self, b: &Builder<'m>, value: Value<'m>) {
        let align = self.element.bytes();
        let Some(between) = self.between else {
            b.store(value, self.start, align);
            return;
        };
        let int = Type::int(b.context(), 32);
        b.store(b.extract(value, int.constant(0)), self.start, align);
        b.store(b.extract(value, int.constant(1)), b.offset(self.start, between), align);
    }
}

/// A·B + C, in float.
fn multiply<'m>(
    b: &Builder<'m>,
    call: &Call<'_, 'm>,
    types: [Element<'m>; 2],
    left: Value<'m>,
    right: Value<'m>,
    sum: Value<'m>,
) -> Value<'m> {
    if call.has_products && types[0] == types[1] && types[0].is_short() {
        return tile(b, &[transposed(b, right)], &[(vec![left], sum)])[0];
    }
    let [left, right] = [(types[0], left), (types[1], right)].map(|(element, value)| element.number.open(b, value));
    lanes_product(b, call.flags, left, right, sum)
}

/// A right operand of a product: its columns in the lanes, as a register of 32 bits.
pub(super) fn transposed<'m>(b: &Builder<'m>, fragment: Value<'m>) -> Value<'m> {
    let int = Type::int(b.context(), 32);
    b.assembly("movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r", int, &[b.bitcast(fragment, int)])
}

/// Sums of products by the tensor cores. `rights` are one or two right operands, transposed, of products that add to
/// one another; `columns` are one or two lists of their left operands, with the sum that they add to.
pub(super) fn tile<'m>(
    b: &Builder<'m>,
    rights: &[Value<'m>],
    columns: &[(Vec<Value<'m>>, Value<'m>)],
) -> Vec<Value<'m>> {
    let int = Type::int(b.context(), 32);
    let float = Type::float(b.context());
    let is_half = columns[0].0[0].ty().element().is_half();
    let (name, register) = match (is_half, rights.len()) {
        (true, 1) => ("llvm.nvvm.mma.m16n8k8.row.col.f32.f32", Type::half(b.context()).vector(2)),
        (true, _) => ("llvm.nvvm.mma.m16n8k16.row.col.f32.f32", Type::half(b.context()).vector(2)),
        (false, 1) => ("llvm.nvvm.mma.m16n8k8.row.col.bf16", int),
        (false, _) => ("llvm.nvvm.mma.m16n8k16.row.col.bf16", int),
    };
    let mut arguments = Vec::new();
    for step in 0..rights.len() {
        let left = |column: usize| columns.get(column).map(|(lefts, _)| b.bitcast(lefts[step], register));
        arguments.extend([0, 1].map(|column| left(column).unwrap_or_else(|| register.zero())));
    }
    arguments.extend(rights.iter().map(|&right| b.bitcast(right, register)));
    for column in 0..2 {
        let sum = columns.get(column).map(|(_, sum)| *sum);
        let part = |index: i64| sum.map_or_else(|| float.zero(), |sum| b.extract(sum, int.constant(index)));
        arguments.extend([part(0), part(1)]);
    }
    let result = b.intrinsic(name, &[], &arguments);
    let pair = |column: usize| {
        let part = |index: u32| b.extract_value(result, 2 * column as u32 + index);
        let first = b.insert(float.vector(2).poison(), part(0), int.constant(0));
        b.insert(first, part(1), int.constant(1))
    };
    (0..columns.len()).map(pair).collect()
}

/// By the lanes: each computes its two elements, for which it reads a row of A and two columns of B.
fn lanes_product<'m>(b: &Builder<'m>, flags: u32, left: Value<'m>, right: Value<'m>, sum: Value<'m>) -> Value<'m> {
    let int = Type::int(b.context(), 32);
    let active = Active::full(b);
    let lane = lane(b);
    let part = |vector: Value<'m>, index: i64| b.extract(vector, int.constant(index));
    let row_start = b.and(lane, int.constant(!3));
    let column_lane = b.and(lane, int.constant(3));
    let mut sums = [part(sum, 0), part(sum, 1)];
    for k in 0..SIZE {
        let of_row = from_lane(b, active, part(left, k % 2), b.or(row_start, int.constant(k / 2)));
        let source = b.or(column_lane, int.constant(4 * k));
        for (element, sum) in sums.iter_mut().enumerate() {
            let of_column = from_lane(b, active, part(right, element as i64), source);
            *sum = b.intrinsic("llvm.fmuladd", &[sum.ty()], &[of_row, of_column, *sum]);
            sum.set_fast_math(allowing_special_values(flags));
        }
    }
    let first = b.insert(sum.ty().poison(), sums[0], int.constant(0));
    b.insert(first, sums[1], int.constant(1))
}
