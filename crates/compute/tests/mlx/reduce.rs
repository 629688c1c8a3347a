//! Reductions: of everything, along rows, along columns. The cases cover each kernel's ways through, with rows that do not
//! fill a threadgroup and columns that do not fill a tile.

use crate::array::{Array, DType, Scalar};
use crate::complex;
use crate::harness::{self, Argument, Case, Grid, Tolerance};
use crate::layout::strided_locations;
use crate::random::Random;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Operation {
    And,
    Or,
    Sum,
    Prod,
    Min,
    Max,
}

const OPERATIONS: [(&str, Operation); 6] = [
    ("and", Operation::And),
    ("or", Operation::Or),
    ("sum", Operation::Sum),
    ("prod", Operation::Prod),
    ("min", Operation::Min),
    ("max", Operation::Max),
];

impl Operation {
    /// The operation and the input's type at the end of a name: `reduce_sumfloat32`.
    fn parse(name: &str) -> Option<(Operation, DType)> {
        let (rest, dtype) = DType::suffix(name)?;
        let operation = OPERATIONS.iter().find(|(known, _)| rest.ends_with(known))?;
        Some((operation.1, dtype))
    }

    /// The type of the result.
    fn result(self, dtype: DType) -> DType {
        match (self, dtype) {
            (Operation::And | Operation::Or, _) => DType::Bool,
            (Operation::Sum | Operation::Prod, DType::Int8 | DType::Int16 | DType::Uint8) => DType::Int32,
            (Operation::Sum | Operation::Prod, DType::Uint16) => DType::Uint32,
            _ => dtype,
        }
    }

    /// What a reduction of nothing gives.
    pub(crate) fn initial(self, dtype: DType) -> Scalar {
        let number = |float: f64, int: i128| match dtype {
            DType::Complex64 => Scalar::Complex(float, if self == Operation::Prod { 0.0 } else { float }),
            _ if dtype.is_float() => Scalar::Float(float),
            _ => Scalar::Int(int),
        };
        match self {
            Operation::And => Scalar::Int(1),
            Operation::Or => Scalar::Int(0),
            Operation::Sum => number(0.0, 0),
            Operation::Prod => number(1.0, 1),
            Operation::Min => number(f64::INFINITY, dtype.range_or_zero().1),
            Operation::Max => number(f64::NEG_INFINITY, dtype.range_or_zero().0),
        }
    }

    /// `a` and `b` as one, in type `dtype`.
    pub(crate) fn combine(self, dtype: DType, a: Scalar, b: Scalar) -> Scalar {
        match (self, a, b) {
            (Operation::And, ..) => Scalar::Int(i128::from(a.truth() && b.truth())),
            (Operation::Or, ..) => Scalar::Int(i128::from(a.truth() || b.truth())),
            (Operation::Sum, Scalar::Int(a), Scalar::Int(b)) => dtype.hold(Scalar::Int(a + b)),
            (Operation::Prod, Scalar::Int(a), Scalar::Int(b)) => dtype.hold(Scalar::Int(a * b)),
            (Operation::Min, Scalar::Int(a), Scalar::Int(b)) => Scalar::Int(a.min(b)),
            (Operation::Max, Scalar::Int(a), Scalar::Int(b)) => Scalar::Int(a.max(b)),
            (_, Scalar::Float(a), Scalar::Float(b)) => Scalar::Float(match self {
                Operation::Sum => a + b,
                Operation::Prod => a * b,
                _ if a.is_nan() || b.is_nan() => f64::NAN,
                Operation::Min => a.min(b),
                _ => a.max(b),
            }),
            (_, a, b) => {
                let (a, b) = (a.complex(), b.complex());
                let (real, imaginary) = match self {
                    Operation::Sum => complex::add(a, b),
                    Operation::Prod => complex::multiply(a, b),
                    Operation::Min if complex::less(b, a) => b,
                    Operation::Max if complex::less(a, b) => b,
                    _ => a,
                };
                Scalar::Complex(real, imaginary)
            }
        }
    }

    /// The reduction of `values` in type `dtype`.
    fn reduce(self, dtype: DType, values: impl Iterator<Item = Scalar>) -> Scalar {
        values.fold(self.initial(dtype), |total, value| self.combine(dtype, total, value))
    }

    /// Numbers whose reduction is exact and tells something: products stay in range and never become 0, most of what is
    /// to be all true is, and one NaN is among the numbers of which the greatest is sought.
    pub(crate) fn values(self, random: &mut Random, dtype: DType, length: usize) -> Array {
        let rarely =
            |random: &mut Random, usual: f64, other: f64| if random.below(400) == 0 { other } else { usual };
        match self {
            Operation::And => Array::floats_or_ints(dtype, length, || rarely(random, 1.0, 0.0)),
            Operation::Or => Array::floats_or_ints(dtype, length, || rarely(random, 0.0, 1.0)),
            Operation::Sum if dtype.is_integer() => random.array(dtype, length, -100.0, 100.0),
            Operation::Sum => random.coarse(dtype, length, -1.0, 1.0, 0.5),
            Operation::Prod if dtype == DType::Complex64 => {
                let units = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
                Array::new(
                    dtype,
                    (0..length).map(|_| units[random.below(4) as usize]).map(|(r, i)| Scalar::Complex(r, i)),
                )
            }
            Operation::Prod if dtype.is_integer() => {
                let factors = if dtype.is_signed() { [1, 3, -1, -3] } else { [1, 3, 5, 7] };
                Array::ints(dtype, (0..length).map(|_| factors[random.below(4) as usize]).collect::<Vec<_>>())
            }
            Operation::Prod => {
                let factors = [2.0, 0.5, -1.0, -2.0, -0.5];
                let factor = |random: &mut Random| {
                    if random.below(32) == 0 { factors[random.below(5) as usize] } else { 1.0 }
                };
                Array::floats(dtype, (0..length).map(|_| factor(random)).collect::<Vec<_>>())
            }
            Operation::Min | Operation::Max => {
                let mut values = random.array(dtype, length, -1000.0, 1000.0);
                if dtype.is_float() {
                    values.values[length / 2] = Scalar::Float(f64::NAN);
                }
                values
            }
        }
    }
}

/// Where the numbers of one result are.
struct Plan {
    function: String,
    operation: Operation,
    dtype: DType,
    input: Array,
}

impl Plan {
    fn new(name: String, length: usize) -> Option<Plan> {
        let (operation, dtype) = Operation::parse(&name)?;
        let input = operation.values(&mut Random::new(&name), dtype, length);
        Some(Plan { function: name, operation, dtype, input })
    }

    /// The case in which result `i` is the reduction of the elements at `groups[i]`.
    fn case(&self, grid: Grid, groups: &[Vec<usize>]) -> Case {
        let result = self.operation.result(self.dtype);
        let reduce =
            |group: &Vec<usize>| self.operation.reduce(result, group.iter().map(|at| self.input.values[*at]));
        let expected: Vec<Scalar> = groups.iter().map(reduce).collect();
        Case::new(&self.function, grid).input(&self.input).bind(Argument::output(
            result,
            expected,
            Tolerance::EXACT,
        ))
    }
}

/// Of a whole array: three parts, of which the last is shorter.
pub(crate) fn all() -> impl Iterator<Item = Case> {
    harness::names("all_reduce_").into_iter().filter_map(|name| {
        let (length, part) = (1999, 700);
        let plan = Plan::new(name, length)?;
        let groups: Vec<Vec<usize>> =
            (0..3).map(|index| (index * part..((index + 1) * part).min(length)).collect()).collect();
        let case = plan.case(Grid::Threadgroups([1, 3, 1], [96, 1, 1]), &groups);
        Some(case.bind(Argument::long(length as i64)).bind(Argument::long(part as i64)))
    })
}

/// What an output begins with.
pub(crate) fn initial() -> impl Iterator<Item = Case> {
    harness::names("init_reduce_").into_iter().filter_map(|name| {
        let (operation, dtype) = Operation::parse(&name)?;
        let case = Case::new(&name, Grid::Threads([13, 5, 1], [8, 2, 1]));
        Some(case.bind(Argument::output(dtype, vec![operation.initial(dtype); 65], Tolerance::EXACT)))
    })
}

/// Of the rows of a matrix, four at a time.
pub(crate) fn simple_rows() -> impl Iterator<Item = Case> {
    harness::names("row_reduce_simple_").into_iter().filter_map(|name| {
        let (rows, row) = (6, 301);
        let plan = Plan::new(name, rows * row)?;
        let groups: Vec<Vec<usize>> = (0..rows).map(|index| (index * row..(index + 1) * row).collect()).collect();
        let case = plan.case(Grid::Threadgroups([1, 2, 1], [64, 1, 1]), &groups);
        Some(case.bind(Argument::long(row as i64)).bind(Argument::long(rows as i64)))
    })
}

/// The axes of a reduction: what remains, and what is reduced besides the last axis.
struct Axes {
    shape: Vec<i32>,
    strides: Vec<i64>,
    reduced_shape: Vec<i32>,
    reduced_strides: Vec<i64>,
}

impl Axes {
    /// Of an array of `outer` reduced axes, then `kept` ones, then `inner` reduced ones, each before `last` elements.
    fn new(outer: &[i32], kept: &[i32], inner: &[i32], last: usize) -> Axes {
        let all: Vec<i32> = [outer, kept, inner].concat();
        let mut strides = vec![0; all.len()];
        let mut next = last as i64;
        for (stride, extent) in strides.iter_mut().zip(&all).rev() {
            *stride = next;
            next *= i64::from(*extent);
        }
        let end = outer.len() + kept.len();
        Axes {
            shape: kept.to_vec(),
            strides: strides[outer.len()..end].to_vec(),
            reduced_shape: [outer, inner].concat(),
            reduced_strides: [&strides[..outer.len()], &strides[end..]].concat(),
        }
    }

    fn kept(&self) -> Vec<usize> {
        strided_locations(&self.shape, &self.strides)
    }

    fn reduced(&self) -> Vec<usize> {
        strided_locations(&self.reduced_shape, &self.reduced_strides)
    }

    fn bind(&self, case: Case) -> Case {
        case.bind(Argument::ints(&self.shape))
            .bind(Argument::longs(&self.strides))
            .bind(Argument::int(self.shape.len() as i32))
            .bind(Argument::ints(&self.reduced_shape))
            .bind(Argument::longs(&self.reduced_strides))
            .bind(Argument::int(self.reduced_shape.len() as i32))
    }
}

/// The number that the name has in its `position`th part from the left: dimensions, rows and columns of a tile.
fn number(name: &str, position: usize) -> Option<i32> {
    name.split('_').filter_map(|part| part.parse().ok()).nth(position)
}

/// Of rows and other axes before them, short rows: by a thread each, or by a simdgroup.
pub(crate) fn small_rows() -> impl Iterator<Item = Case> {
    harness::names("row_reduce_small_").into_iter().filter_map(|name| {
        let (outer, row): (&[i32], usize) = match number(&name, 0)? {
            1 => (&[3], 7),
            2 => (&[5, 9], 6),
            _ => (&[2, 1, 3], 7),
        };
        let axes = Axes::new(outer, &[4, 5], &[], row);
        let reductions = outer.iter().product::<i32>();
        let grid = match reductions > 8 {
            true => Grid::Threadgroups([1, 20, 1], [32, 1, 1]),
            false => Grid::Threads([20, 1, 1], [16, 1, 1]),
        };
        row_case(name, &axes, row, grid)
    })
}

/// Of rows and other axes before them, by a threadgroup each.
pub(crate) fn looped_rows() -> impl Iterator<Item = Case> {
    harness::names("row_reduce_looped_").into_iter().filter_map(|name| {
        let outer: &[i32] = match number(&name, 0)? {
            1 => &[3],
            2 => &[2, 3],
            _ => &[2, 2, 1],
        };
        let axes = Axes::new(outer, &[2, 3], &[], 301);
        row_case(name, &axes, 301, Grid::Threadgroups([1, 6, 1], [64, 1, 1]))
    })
}

fn row_case(name: String, axes: &Axes, row: usize, grid: Grid) -> Option<Case> {
    let (kept, reduced) = (axes.kept(), axes.reduced());
    let plan = Plan::new(name, kept.len() * reduced.len() * row)?;
    let group = |start: &usize| reduced.iter().flat_map(|offset| start + offset..start + offset + row).collect();
    let case = plan.case(grid, &kept.iter().map(group).collect::<Vec<_>>());
    let case = case.bind(Argument::long(row as i64)).bind(Argument::long(reduced.len() as i64));
    Some(axes.bind(case))
}

/// Of columns, in which every kept index has `columns` results; rows go to the part of the output that `part` says.
struct Columns {
    outer: &'static [i32],
    rows: i32,
    columns: usize,
    parts: usize,
}

impl Columns {
    fn case(&self, name: String, grid: Grid, part: impl Fn(usize) -> usize) -> Option<Case> {
        let axes = Axes::new(self.outer, &[3], &[self.rows], self.columns);
        let (kept, reduced) = (axes.kept(), axes.reduced());
        let plan = Plan::new(name, kept.len() * reduced.len() * self.columns)?;
        let mut groups = Vec::new();
        for index in 0..self.parts {
            let rows: Vec<usize> =
                reduced.iter().enumerate().filter(|(row, _)| part(*row) == index).map(|(_, at)| *at).collect();
            for start in &kept {
                for column in 0..self.columns {
                    groups.push(rows.iter().map(|row| start + row + column).collect::<Vec<_>>());
                }
            }
        }
        let others: i32 = self.outer.iter().product();
        let case = plan.case(grid, &groups);
        let case = case.bind(Argument::long(i64::from(self.rows))).bind(Argument::long(self.columns as i64));
        Some(axes.bind(case).bind(Argument::long(i64::from(others))))
    }
}

/// The reduced axes before the kept one, by the number of dimensions in the name.
fn outer_axes(name: &str) -> Option<&'static [i32]> {
    Some(match number(name, 0)? {
        1 => &[],
        2 => &[2],
        _ => &[2, 1, 2],
    })
}

/// Few rows.
pub(crate) fn small_columns() -> impl Iterator<Item = Case> {
    harness::names("col_reduce_small_").into_iter().filter_map(|name| {
        let columns = Columns { outer: outer_axes(&name)?, rows: 5, columns: 37, parts: 1 };
        columns.case(name, Grid::Threadgroups([2, 3, 1], [8, 4, 1]), |_| 0)
    })
}

/// Few columns of many rows, which two threadgroups share.
pub(crate) fn long_columns() -> impl Iterator<Item = Case> {
    harness::names("col_reduce_longcolumn_").into_iter().filter_map(|name| {
        let columns = Columns { outer: outer_axes(&name)?, rows: 61, columns: 5, parts: 2 };
        let case = columns.case(name, Grid::Threadgroups([3, 1, 2], [5, 16, 1]), |row| row / 16 % 2)?;
        Some(case.bind(Argument::long(3 * 5)))
    })
}

/// Tiles of rows and columns.
pub(crate) fn looped_columns() -> impl Iterator<Item = Case> {
    harness::names("col_reduce_looped_").into_iter().filter_map(|name| {
        let tile = number(&name, 2)? as usize;
        let columns = Columns { outer: outer_axes(&name)?, rows: 67, columns: 45, parts: 1 };
        let case = columns.case(name, Grid::Threadgroups([45usize.div_ceil(tile), 3, 1], [256, 1, 1]), |_| 0)?;
        Some(case.bind(Argument::long(0)))
    })
}

/// The first of two passes: 32 threadgroups share the rows, 32 at a time.
pub(crate) fn two_pass_columns() -> impl Iterator<Item = Case> {
    harness::names("col_reduce_2pass_").into_iter().filter_map(|name| {
        let columns = Columns { outer: outer_axes(&name)?, rows: 67, columns: 45, parts: 32 };
        let case = columns.case(name, Grid::Threadgroups([2, 3 * 32, 1], [256, 1, 1]), |row| row / 32 % 32)?;
        Some(case.bind(Argument::long(0)).bind(Argument::long(3)))
    })
}
