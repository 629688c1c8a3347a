//! `simdgroup_load` and `simdgroup_store`: simdgroup matrices in memory, eight rows of eight elements each.

use super::matrix::{Element, Name, SIZE, place, position};
use crate::ir::{Builder, Opcode, Type, Value};
use crate::wave::lanes::{lanes_of, splat};
use abi::LANES;

/// True for the functions of [`matrix_memory`].
pub(in crate::wave) fn is_matrix_memory(name: &str) -> bool {
    Name::parse(name).is_some_and(|name| name.is_memory())
}

/// Emits a load or a store:
///
/// ```text
/// air.simdgroup_matrix_8x8_load.v64f32.p1f32(pointer, i64 elements_per_row, <2 x i64> origin, i1 transpose)
/// air.simdgroup_matrix_8x8_load.v64f32.p1f32(pointer, <2 x i64> extent, <2 x i64> strides, <2 x i64> origin)
/// air.simdgroup_matrix_8x8_store.v64f32.p1f32(matrix, pointer, …)
/// ```
///
/// The second form is that of newer compilers: strides of columns and of rows, in elements.
///
/// `arguments` are those of the call in the same order. A matrix is its two vectors of lanes; everything else is the
/// same in all lanes and given as scalars, two for a pair; the pointer is in address space 0. (If they vary
/// nevertheless, pass those of the first active lane.) At least one lane must be active: all of the memory is touched.
///
/// The result is the two vectors of the matrix, or nothing for a store; `None` when the name is another one.
pub(in crate::wave) fn matrix_memory<'m>(
    b: &Builder<'m>,
    name: &str,
    arguments: &[Vec<Value<'m>>],
) -> Option<Result<Vec<Value<'m>>, String>> {
    let parsed = Name::parse(name)?;
    match parsed.operation {
        "load" => Some(Tile::new(b, name, &parsed, arguments).map(|tile| tile.load(b))),
        "store" => Some(store(b, name, &parsed, arguments)),
        _ => None,
    }
}

/// The addresses, as numbers, of the elements that the lanes hold: the first ones, and the second ones. `arguments` are
/// those of [`matrix_memory`].
pub(in crate::wave) fn matrix_addresses<'m>(
    b: &Builder<'m>,
    name: &str,
    arguments: &[Vec<Value<'m>>],
) -> Result<[Value<'m>; 2], String> {
    let unknown = || format!("the arguments of '{name}' are not those of a known form");
    let parsed = Name::parse(name).ok_or_else(unknown)?;
    let others = if parsed.operation == "store" { arguments.get(1..).ok_or_else(unknown)? } else { arguments };
    let tile = Tile::new(b, name, &parsed, others)?;
    let wide = Type::int(b.context(), 64);
    let size = wide.constant(tile.element.bytes().into());
    let [between_columns, between_rows] = match tile.order {
        Order::Rows { distance } => [size, distance],
        Order::Columns { distance } => [distance, size],
        Order::Apart { between_columns, between_rows } => [between_columns, between_rows],
    };
    let start = b.cast(Opcode::LLVMPtrToInt, tile.start, wide);
    Ok([0, 1].map(|element| {
        let numbers = |of: fn((usize, usize)) -> usize| {
            let number = |lane| wide.constant(of(position(lane, element)) as i64);
            Value::constant_vector(&(0..LANES).map(number).collect::<Vec<_>>())
        };
        let rows = b.mul(splat(b, between_rows), numbers(|(row, _)| row));
        let columns = b.mul(splat(b, between_columns), numbers(|(_, column)| column));
        b.add(splat(b, start), b.add(rows, columns))
    }))
}

fn store<'m>(
    b: &Builder<'m>,
    name: &str,
    parsed: &Name,
    arguments: &[Vec<Value<'m>>],
) -> Result<Vec<Value<'m>>, String> {
    let (matrix, others) = arguments.split_first().ok_or_else(|| format!("'{name}' lacks its arguments"))?;
    let &[first, second] = matrix.as_slice() else {
        return Err(format!("the first argument of '{name}' is no simdgroup matrix"));
    };
    Tile::new(b, name, parsed, others)?.store(b, first, second);
    Ok(Vec::new())
}

/// A matrix in memory.
struct Tile<'m> {
    element: Element<'m>,
    /// The address of the first element.
    start: Value<'m>,
    order: Order<'m>,
}

/// The order of the elements; distances are in bytes.
enum Order<'m> {
    /// Each row in one piece.
    Rows { distance: Value<'m> },
    /// Each column in one piece.
    Columns { distance: Value<'m> },
    /// Each element alone.
    Apart { between_columns: Value<'m>, between_rows: Value<'m> },
}

impl<'m> Tile<'m> {
    fn new(b: &Builder<'m>, name: &str, parsed: &Name, arguments: &[Vec<Value<'m>>]) -> Result<Tile<'m>, String> {
        let element = parsed.element(b, 0)?;
        let arguments: Vec<&[Value<'m>]> = arguments.iter().map(Vec::as_slice).collect();
        let (pointer, [x, y], strides) = match arguments[..] {
            [&[pointer], &[elements_per_row], &[x, y], &[transpose]] => {
                let one = elements_per_row.ty().constant(1);
                let strides = match transpose.as_int() {
                    Some(0) => [one, elements_per_row],
                    Some(_) => [elements_per_row, one],
                    None => {
                        [b.select(transpose, elements_per_row, one), b.select(transpose, one, elements_per_row)]
                    }
                };
                // The origin is that of the matrix as it is in memory.
                let origin = match transpose.as_int() {
                    Some(0) => [x, y],
                    Some(_) => [y, x],
                    None => [b.select(transpose, y, x), b.select(transpose, x, y)],
                };
                (pointer, origin, strides)
            }
            [&[pointer], &[_, _], &[between_columns, between_rows], &[x, y]] => {
                (pointer, [x, y], [between_columns, between_rows])
            }
            _ => return Err(format!("the arguments of '{name}' are not those of a known form")),
        };
        let [is_by_row, is_by_column] = strides.map(|stride| stride.as_int() == Some(1));
        let size = x.ty().constant(element.bytes().into());
        let [between_columns, between_rows] = strides.map(|stride| b.mul(stride, size));
        let offset = b.add(b.mul(x, between_columns), b.mul(y, between_rows));
        let order = match (is_by_row, is_by_column) {
            (true, _) => Order::Rows { distance: between_rows },
            (false, true) => Order::Columns { distance: between_columns },
            (false, false) => Order::Apart { between_columns, between_rows },
        };
        Ok(Tile { element, start: b.offset(pointer, offset), order })
    }

    fn load(&self, b: &Builder<'m>) -> Vec<Value<'m>> {
        let ty = self.element.ty;
        let lines = |distance: Value<'m>| {
            let load = |line| b.load(ty.vector(SIZE), self.at(b, distance, line), self.element.bytes());
            concatenate(b, (0..SIZE).map(load).collect())
        };
        match self.order {
            Order::Rows { distance } => arrange(b, lines(distance), |row, column| row * SIZE + column),
            Order::Columns { distance } => arrange(b, lines(distance), |row, column| column * SIZE + row),
            Order::Apart { .. } => {
                let long = Type::int(b.context(), 64);
                let vector = |element: usize| {
                    (0..LANES).fold(lanes_of(ty).poison(), |vector, lane| {
                        let (row, column) = position(lane, element);
                        let value = b.load(ty, self.address(b, row, column), self.element.bytes());
                        b.insert(vector, value, long.constant(lane as i64))
                    })
                };
                vec![vector(0), vector(1)]
            }
        }
    }

    fn store(&self, b: &Builder<'m>, first: Value<'m>, second: Value<'m>) {
        let store_lines = |distance: Value<'m>, places: fn(usize, usize) -> (usize, usize)| {
            for line in 0..SIZE {
                let pattern: Vec<i32> = (0..SIZE)
                    .map(|index| {
                        let (lane, element) = places(line, index);
                        (element * LANES + lane) as i32
                    })
                    .collect();
                let value = b.shuffle(first, second, &pattern);
                b.store(value, self.at(b, distance, line), self.element.bytes());
            }
        };
        match self.order {
            Order::Rows { distance } => store_lines(distance, place),
            Order::Columns { distance } => store_lines(distance, |column, row| place(row, column)),
            Order::Apart { .. } => {
                let long = Type::int(b.context(), 64);
                for (element, vector) in [first, second].into_iter().enumerate() {
                    for lane in 0..LANES {
                        let (row, column) = position(lane, element);
                        let value = b.extract(vector, long.constant(lane as i64));
                        b.store(value, self.address(b, row, column), self.element.bytes());
                    }
                }
            }
        }
    }

    /// The start of a line.
    fn at(&self, b: &Builder<'m>, distance: Value<'m>, line: usize) -> Value<'m> {
        b.offset(self.start, b.mul(distance, distance.ty().constant(line as i64)))
    }

    /// The address of an element whose neighbours are elsewhere.
    fn address(&self, b: &Builder<'m>, row: usize, column: usize) -> Value<'m> {
        let Order::Apart { between_columns, between_rows } = self.order else { return self.start };
        let times = |distance: Value<'m>, count: usize| b.mul(distance, distance.ty().constant(count as i64));
        b.offset(self.start, b.add(times(between_columns, column), times(between_rows, row)))
    }
}

/// The two vectors of a matrix, from 64 elements in the order of memory.
fn arrange<'m>(b: &Builder<'m>, memory: Value<'m>, index: impl Fn(usize, usize) -> usize) -> Vec<Value<'m>> {
    let vector = |element: usize| {
        let from = |lane| {
            let (row, column) = position(lane, element);
            index(row, column) as i32
        };
        b.shuffle(memory, memory.ty().poison(), &(0..LANES).map(from).collect::<Vec<i32>>())
    };
    vec![vector(0), vector(1)]
}

/// Vectors of the same length one after the other; their number is a power of two.
fn concatenate<'m>(b: &Builder<'m>, mut vectors: Vec<Value<'m>>) -> Value<'m> {
    while vectors.len() > 1 {
        let pattern: Vec<i32> = (0..2 * vectors[0].ty().length() as i32).collect();
        vectors = vectors.chunks(2).map(|pair| b.shuffle(pair[0], pair[1], &pattern)).collect();
    }
    vectors[0]
}
