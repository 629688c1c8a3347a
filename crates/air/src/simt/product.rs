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
//! columns in the lanes: it is transposed. Products of float are those of the tensor cores in three parts with fast
//! mathematics; without it they are computed by the lanes, in the order in which CPUs compute them.

use super::lanes::{Active, from_lane, lane};
use crate::ir::{Builder, IntPredicate, Opcode, Type, Value};
use crate::thread::number::{Number, allowing_special_values};
use inkwell::llvm_sys::LLVMFastMathApproxFunc;

/// Rows and columns.
const SIZE: i64 = 8;

/// The name of all instructions that multiply matrices begins so.
pub(super) const INSTRUCTION: &str = "mma.sync.";

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

/// The registers of a right operand (see [`transposed`]) that a call loads; `None` if it is no load of a matrix whose
/// columns are each in one piece. Such a matrix needs no transposition: it is loaded by columns.
pub(super) fn load_right<'m>(b: &Builder<'m>, name: &str, arguments: &[Value<'m>]) -> Option<Vec<Value<'m>>> {
    let types = name.strip_prefix("air.simdgroup_matrix_8x8_load.")?;
    let element = Element::parse(b, types.split('.').next()?).ok()?;
    let &[pointer, elements_per_row, origin, transpose] = arguments else { return None };
    if elements_per_row.ty().is_vector() || transpose.as_int().is_none_or(|transpose| transpose == 0) {
        return None;
    }
    let straight = [pointer, elements_per_row, origin, transpose.ty().zero()];
    let fragment = Tile::new(b, name, element, &straight).ok()?.load(b);
    Some(match is_float(fragment) {
        true => elements(b, fragment).to_vec(),
        false => vec![b.bitcast(fragment, Type::int(b.context(), 32))],
    })
}

/// The number of registers of a right operand whose lanes have this pair.
pub(super) fn right_registers(pair: Type) -> usize {
    if pair.element().is_int() || pair.element().is_half() { 1 } else { 2 }
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
    let on = |column: Value<'m>| b.icmp(IntPredicate::LLVMIntEQ, row, column);
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

/// True if fast mathematics is allowed.
pub(super) fn is_fast(flags: u32) -> bool {
    flags & LLVMFastMathApproxFunc != 0
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
    let by_tensor_cores = types[0].is_short() || is_fast(call.flags);
    if call.has_products && types[0] == types[1] && by_tensor_cores {
        return tile(b, &[transposed(b, right)], &[(vec![left], sum)])[0];
    }
    let [left, right] = [(types[0], left), (types[1], right)].map(|(element, value)| element.number.open(b, value));
    lanes_product(b, call.flags, left, right, sum)
}

/// A right operand of a product: its columns in the lanes, in registers of 32 bits. Those of half and bfloat take one,
/// those of float two.
pub(super) fn transposed<'m>(b: &Builder<'m>, fragment: Value<'m>) -> Vec<Value<'m>> {
    let int = Type::int(b.context(), 32);
    let transpose =
        |register: Value<'m>| b.assembly("movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r", int, &[register]);
    if !is_float(fragment) {
        return vec![transpose(b.bitcast(fragment, int))];
    }
    // The lower halves of both elements in one register, the upper halves in the other, and back.
    let halves = |x: Value<'m>, y: Value<'m>| {
        [0x5410, 0x7632].map(|selector| b.intrinsic("llvm.nvvm.prmt", &[], &[x, y, int.constant(selector)]))
    };
    let [x, y] = elements(b, fragment);
    let [low, high] = halves(x, y).map(transpose);
    halves(low, high).to_vec()
}

/// The bits of a lane's two numbers.
fn elements<'m>(b: &Builder<'m>, fragment: Value<'m>) -> [Value<'m>; 2] {
    let int = Type::int(b.context(), 32);
    [0, 1].map(|index| b.bitcast(b.extract(fragment, int.constant(index)), int))
}

fn is_float(fragment: Value) -> bool {
    let element = fragment.ty().element();
    !element.is_int() && !element.is_half()
}

/// Sums of products by the tensor cores. `rights` are one or two right operands, transposed, of products that add to
/// one another; `columns` are one or two lists of their left operands, with the sum that they add to.
pub(super) fn tile<'m>(
    b: &Builder<'m>,
    rights: &[Vec<Value<'m>>],
    columns: &[(Vec<Value<'m>>, Value<'m>)],
) -> Vec<Value<'m>> {
    match (rights, is_float(columns[0].0[0])) {
        ([right], true) => float_tile(b, right, columns),
        _ => short_tile(b, &rights.concat(), columns),
    }
}

/// Products of float in three parts. The GPU multiplies numbers of 11 bits: x is the nearest of these plus a second,
/// which is the rest, and of the four products that of the rests is left out. The instruction adds less exactly than
/// float does, so that it begins with zero, and the sum is added after it.
fn float_tile<'m>(b: &Builder<'m>, right: &[Value<'m>], columns: &[(Vec<Value<'m>>, Value<'m>)]) -> Vec<Value<'m>> {
    let int = Type::int(b.context(), 32);
    let float = Type::float(b.context());
    let split = |values: &[Value<'m>]| -> [Vec<Value<'m>>; 2] {
        let parts: Vec<[Value<'m>; 2]> = values.iter().map(|&bits| split_float(b, bits)).collect();
        [0, 1].map(|which| parts.iter().map(|part| part[which]).collect())
    };
    let of_column = |column: usize| match columns.get(column) {
        Some((lefts, _)) => elements(b, lefts[0]),
        None => [int.zero(); 2],
    };
    let [[x0, y0], [x1, y1]] = [of_column(0), of_column(1)];
    // Columns of A and rows of B are in an order of their own, the same in both: even ones first.
    let [left_near, left_rest] = split(&[x0, x1, y0, y1]);
    let [right_near, right_rest] = split(right);
    let parts = [(&left_rest, &right_near), (&left_near, &right_rest), (&left_near, &right_near)];
    let products = parts.into_iter().fold([float.zero(); 4], |sum, (left, right)| {
        let arguments: Vec<Value<'m>> = left.iter().chain(right).copied().chain(sum).collect();
        let result = b.intrinsic("llvm.nvvm.mma.m16n8k8.row.col.tf32", &[], &arguments);
        [0, 1, 2, 3].map(|index| b.extract_value(result, index))
    });
    let sum = |(column, (_, sum)): (usize, &(Vec<Value<'m>>, Value<'m>))| {
        let first = b.insert(float.vector(2).poison(), products[2 * column], int.constant(0));
        let product = b.insert(first, products[2 * column + 1], int.constant(1));
        b.binary(Opcode::LLVMFAdd, *sum, product)
    };
    columns.iter().enumerate().map(sum).collect()
}

/// A number rounded to 11 bits, and the rest; 0 for infinity. All as bits.
fn split_float<'m>(b: &Builder<'m>, bits: Value<'m>) -> [Value<'m>; 2] {
    let int = bits.ty();
    let float = Type::float(b.context());
    let near = b.and(b.add(bits, int.constant(0x1000)), int.constant(!0x1fff));
    let [number, rounded] = [bits, near].map(|bits| b.bitcast(bits, float));
    let rest = b.binary(Opcode::LLVMFSub, number, rounded);
    let is_exact = b.icmp(IntPredicate::LLVMIntEQ, bits, near);
    [near, b.select(is_exact, int.zero(), b.bitcast(rest, int))]
}

/// Products of half and bfloat.
fn short_tile<'m>(
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
