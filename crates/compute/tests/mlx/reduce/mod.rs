//! Reductions: of everything, along rows, along columns. The cases cover each kernel's paths, with rows that do not
//! fill a threadgroup and columns that do not fill a tile.

pub(crate) mod columns;
pub(crate) mod rows;

use crate::array::{Array, DType, Scalar};
use crate::compare::Tolerance;
use crate::complex;
use crate::harness::{self, Argument, Case, CaseGrid};
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

    /// The result of an empty reduction.
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

    /// Numbers whose reduction is exact and meaningful: products stay in range and do not become 0, most inputs of an
    /// all-reduction are true, and one NaN is among the inputs of maxima.
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

/// Locations of the inputs of one result.
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
    fn case(&self, grid: CaseGrid, groups: &[Vec<usize>]) -> Case {
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
        let case = plan.case(CaseGrid::Threadgroups([1, 3, 1], [96, 1, 1]), &groups);
        Some(case.bind(Argument::long(length as i64)).bind(Argument::long(part as i64)))
    })
}

/// Cases of the kernels that initialize outputs.
pub(crate) fn initial() -> impl Iterator<Item = Case> {
    harness::names("init_reduce_").into_iter().filter_map(|name| {
        let (operation, dtype) = Operation::parse(&name)?;
        let case = Case::new(&name, CaseGrid::Threads([13, 5, 1], [8, 2, 1]));
        Some(case.bind(Argument::output(dtype, vec![operation.initial(dtype); 65], Tolerance::EXACT)))
    })
}

/// The axes of a reduction: those that remain, and those reduced besides the last one.
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
