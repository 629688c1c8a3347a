//! `simdgroup_load` and `simdgroup_store`: simdgroup matrices in memory, eight rows of eight elements each.

use super::matrix::{Element, Name, SIZE, place, position};
use crate::ir::{Builder, Value};
use abi::LANES;

/// Whether [`matrix_memory`] is for this function.
pub(in crate::wave) fn is_matrix_memory(name: &str) -> bool {
    Name::parse(name).is_some_and(|name| name.is_memory())
}

/// Emits a load or a store:
///
/// ```text
/// air.simdgroup_matrix_8x8_load.v64f32.p1f32(pointer, i64 elements_per_row, <2 x i64> origin, i1 transpose)
/// air.simdgroup_matrix_8x8_store.v64f32.p1f32(matrix, pointer, i64 elements_per_row, <2 x i64> origin, i1 transpose)
/// ```
///
/// `arguments` are those of the call in the same order. A matrix is its two vectors of lanes; everything else is the
/// same in all lanes and given as scalars, the origin as two; the pointer is in address space 0. (Where they vary for
/// all that, give those of the first active lane.) At least one lane must be active: all of the memory is touched.
///
/// The result is the two vectors of the matrix, or nothing for a store; `None` when the name is another one.
pub(in crate::wave) fn matrix_memory(
    b: &Builder,
    name: &str,
    arguments: &[Vec<Value>],
) -> Option<Result<Vec<Value>, String>> {
    let parsed = Name::parse(name)?;
    match parsed.operation {
        "load" => Some(load(b, name, &parsed, arguments)),
        "store" => Some(store(b, name, &parsed, arguments)),
        _ => None,
    }
}

fn load(b: &Builder, name: &str, parsed: &Name, arguments: &[Vec<Value>]) -> Result<Vec<Value>, String> {
    let tile = Tile::new(b, name, parsed, arguments)?;
    let row_type = tile.element.ty.vector(SIZE);
    let rows: Vec<Value> = (0..SIZE).map(|row| b.load(row_type, tile.row(b, row), tile.align())).collect();
    let memory = concatenate(b, rows);
    let arranged = |is_transposed: bool, element: usize| {
        let from = |lane| {
            let (row, column) = position(lane, element);
            if is_transposed { column * SIZE + row } else { row * SIZE + column }
        };
        let pattern: Vec<i32> = (0..LANES).map(|lane| from(lane) as i32).collect();
        b.shuffle(memory, memory.ty().poison(), &pattern)
    };
    let parts = [0, 1].map(|element| match tile.transpose.as_int() {
        Some(bit) => arranged(bit != 0, element),
        None => b.select(tile.transpose, arranged(true, element), arranged(false, element)),
    });
    Ok(parts.to_vec())
}

fn store(b: &Builder, name: &str, parsed: &Name, arguments: &[Vec<Value>]) -> Result<Vec<Value>, String> {
    let (matrix, others) = arguments.split_first().ok_or_else(|| format!("'{name}' lacks its arguments"))?;
    let &[first, second] = matrix.as_slice() else {
        return Err(format!("the first argument of '{name}' is no simdgroup matrix"));
    };
    let tile = Tile::new(b, name, parsed, others)?;
    let arranged = |is_transposed: bool, line: usize| {
        let from = |index| {
            let (lane, element) = if is_transposed { place(index, line) } else { place(line, index) };
            (element * LANES + lane) as i32
        };
        let pattern: Vec<i32> = (0..SIZE).map(from).collect();
        b.shuffle(first, second, &pattern)
    };
    for line in 0..SIZE {
        let row = match tile.transpose.as_int() {
            Some(bit) => arranged(bit != 0, line),
            None => b.select(tile.transpose, arranged(true, line), arranged(false, line)),
        };
        b.store(row, tile.row(b, line), tile.align());
    }
    Ok(Vec::new())
}

/// Where a matrix is in memory.
struct Tile {
    element: Element,
    /// Of the first row.
    start: Value,
    /// From one row to the next, in bytes.
    stride: Value,
    transpose: Value,
}

impl Tile {
    fn new(b: &Builder, name: &str, parsed: &Name, arguments: &[Vec<Value>]) -> Result<Tile, String> {
        let element = parsed.element(b, 0)?;
        let [pointer, elements_per_row, origin, transpose] = arguments else {
            return Err(format!("'{name}' has {} arguments besides the matrix, not four", arguments.len()));
        };
        let (&[pointer], &[elements_per_row], &[x, y], &[transpose]) =
            (pointer.as_slice(), elements_per_row.as_slice(), origin.as_slice(), transpose.as_slice())
        else {
            return Err(format!("the arguments of '{name}' do not have the components that they should"));
        };
        let long = elements_per_row.ty();
        let stride = b.mul(elements_per_row, long.constant(element_bytes(element)));
        let offset = b.add(b.mul(y, stride), b.mul(x, long.constant(element_bytes(element))));
        Ok(Tile { element, start: b.offset(pointer, offset), stride, transpose })
    }

    fn row(&self, b: &Builder, row: usize) -> Value {
        b.offset(self.start, b.mul(self.stride, self.stride.ty().constant(row as i64)))
    }

    fn align(&self) -> u32 {
        element_bytes(self.element) as u32
    }
}

fn element_bytes(element: Element) -> i64 {
    if element.ty.is_int() || element.ty.is_half() { 2 } else { 4 }
}

/// Vectors of the same length one after the other; their number is a power of two.
fn concatenate(b: &Builder, mut vectors: Vec<Value>) -> Value {
    while vectors.len() > 1 {
        let pattern: Vec<i32> = (0..2 * vectors[0].ty().length() as i32).collect();
        vectors = vectors.chunks(2).map(|pair| b.shuffle(pair[0], pair[1], &pattern)).collect();
    }
    vectors[0]
}
