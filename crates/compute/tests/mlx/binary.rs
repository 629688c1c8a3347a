//! Kernels with two inputs: `vv_Addfloat32` and its relatives, in all layouts.

use crate::array::{Array, DType, Scalar};
use crate::compare::Tolerance;
use crate::complex;
use crate::harness::{self, Argument, Case};
use crate::layout::Layout;
use crate::random::Random;

const OPERATIONS: [&str; 26] = [
    "Add",
    "ArcTan2",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "DivMod",
    "Divide",
    "Equal",
    "FloorDivide",
    "Greater",
    "GreaterEqual",
    "LeftShift",
    "Less",
    "LessEqual",
    "LogAddExp",
    "LogicalAnd",
    "LogicalOr",
    "Maximum",
    "Minimum",
    "Multiply",
    "NaNEqual",
    "NotEqual",
    "Power",
    "Remainder",
    "RightShift",
    "Subtract",
];

/// All functions that begin with `prefix` and are an operation of two inputs.
pub(crate) fn cases(prefix: &'static str) -> impl Iterator<Item = Case> {
    harness::names(&format!("{prefix}_")).into_iter().filter_map(move |name| {
        let (operation, dtype) = DType::suffix(&name[prefix.len() + 1..])?;
        let operation = OPERATIONS.iter().find(|known| **known == operation)?;
        case(&name, prefix, operation, dtype)
    })
}

fn case(name: &str, prefix: &str, operation: &str, dtype: DType) -> Option<Case> {
    // MLX defines neither for complex numbers: "not supported, simply make compiler happy".
    if dtype == DType::Complex64 && matches!(operation, "FloorDivide" | "DivMod" | "Remainder") {
        return None;
    }
    let layout = Layout::new(prefix, 2, dtype)?;
    let (a, b) = operands(name, operation, dtype, [layout.input_length(0), layout.input_length(1)]);
    let pairs = layout.locations[0].iter().zip(&layout.locations[1]);
    let pairs: Vec<_> = pairs.map(|(first, second)| (a.values[*first], b.values[*second])).collect();
    let results: &[&str] = if operation == "DivMod" { &["FloorDivide", "Remainder"] } else { &[operation] };
    let mut case = Case::new(name, layout.grid).input(&a).input(&b);
    for operation in results {
        let output = if is_comparison(operation) { DType::Bool } else { dtype };
        let expected: Vec<Scalar> = pairs.iter().map(|(a, b)| reference(operation, dtype, *a, *b)).collect();
        case = case.bind(Argument::output(output, expected, tolerance(operation, dtype)));
    }
    for extra in layout.extras {
        case = case.bind(extra);
    }
    Some(case)
}

fn is_comparison(operation: &str) -> bool {
    matches!(operation, "Equal" | "Greater" | "GreaterEqual" | "Less" | "LessEqual" | "NaNEqual" | "NotEqual")
}

/// Operands for which the operation is defined, equal ones among them, and NaN where that means something.
fn operands(name: &str, operation: &str, dtype: DType, lengths: [usize; 2]) -> (Array, Array) {
    let mut random = Random::new(name);
    let first = match operation {
        "Power" if dtype.is_float() => random.array(dtype, lengths[0], 0.1, 4.0),
        "Power" if dtype.is_integer() => random.array(dtype, lengths[0], -5.0, 5.0),
        _ if dtype == DType::Complex64 => random.coarse(dtype, lengths[0], -2.0, 2.0, 0.25),
        _ if dtype.is_float() => random.array(dtype, lengths[0], -8.0, 8.0),
        _ => random.array(dtype, lengths[0], -100.0, 100.0),
    };
    let mut second = match operation {
        "LeftShift" | "RightShift" => random.array(dtype, lengths[1], 0.0, f64::from(dtype.bits() - 1).min(100.0)),
        "Power" if dtype.is_float() => random.array(dtype, lengths[1], -3.0, 3.0),
        "Power" if dtype.is_integer() => random.array(dtype, lengths[1], 0.0, 9.0),
        _ if dtype == DType::Complex64 => random.coarse(dtype, lengths[1], -2.0, 2.0, 0.25),
        _ if dtype.is_float() => random.array(dtype, lengths[1], -8.0, 8.0),
        _ => random.array(dtype, lengths[1], -100.0, 100.0),
    };
    let divides = matches!(operation, "Divide" | "FloorDivide" | "Remainder" | "DivMod");
    for (index, value) in second.values.iter_mut().enumerate() {
        if divides && !value.truth() {
            *value = dtype.hold(if dtype.is_integer() { Scalar::Int(3) } else { Scalar::Float(3.0) });
        }
        let comparable = is_comparison(operation) || matches!(operation, "Maximum" | "Minimum");
        if comparable && index % 5 == 0 && index < first.values.len() {
            *value = first.values[index];
        }
        if matches!(operation, "NaNEqual" | "NotEqual" | "Less") && index % 7 == 3 && dtype.is_float() {
            *value = Scalar::Float(f64::NAN);
        }
    }
    (first, second)
}

fn reference(operation: &str, dtype: DType, a: Scalar, b: Scalar) -> Scalar {
    match (a, b) {
        (Scalar::Int(a), Scalar::Int(b)) => Scalar::Int(integer(operation, dtype, a, b)),
        (Scalar::Float(a), Scalar::Float(b)) => {
            match compare(operation, a.partial_cmp(&b), a.is_nan() && b.is_nan()) {
                Some(truth) => Scalar::Int(i128::from(truth)),
                None => Scalar::Float(float(operation, dtype, a, b)),
            }
        }
        (a, b) => {
            let (a, b) = (a.complex(), b.complex());
            let order = if complex::less(a, b) {
                std::cmp::Ordering::Less
            } else if a == b {
                std::cmp::Ordering::Equal
            } else {
                std::cmp::Ordering::Greater
            };
            match compare(operation, Some(order), false) {
                Some(truth) => Scalar::Int(i128::from(truth)),
                None => {
                    let (real, imaginary) = complex(operation, a, b);
                    Scalar::Complex(real, imaginary)
                }
            }
        }
    }
}

/// The result of a comparison; `None` for other operations.
fn compare(operation: &str, order: Option<std::cmp::Ordering>, both_nan: bool) -> Option<bool> {
    Some(match operation {
        "Equal" => order.is_some_and(|order| order.is_eq()),
        "Greater" => order.is_some_and(|order| order.is_gt()),
        "GreaterEqual" => order.is_some_and(|order| order.is_ge()),
        "Less" => order.is_some_and(|order| order.is_lt()),
        "LessEqual" => order.is_some_and(|order| order.is_le()),
        "NaNEqual" => both_nan || order.is_some_and(|order| order.is_eq()),
        "NotEqual" => !order.is_some_and(|order| order.is_eq()),
        _ => return None,
    })
}

fn integer(operation: &str, dtype: DType, a: i128, b: i128) -> i128 {
    if let Some(truth) = compare(operation, Some(a.cmp(&b)), false) {
        return i128::from(truth);
    }
    match operation {
        "Add" => a + b,
        "Subtract" => a - b,
        "Multiply" => a * b,
        "Divide" => a / b,
        // Towards minus infinity, and the remainder has the sign of the divisor.
        "FloorDivide" => a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0),
        "Remainder" => a - b * (a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0)),
        "BitwiseAnd" => a & b,
        "BitwiseOr" => a | b,
        "BitwiseXor" => a ^ b,
        "LogicalAnd" => i128::from(a != 0 && b != 0),
        "LogicalOr" => i128::from(a != 0 || b != 0),
        "LeftShift" => a << b,
        "RightShift" => a >> b,
        "Maximum" => a.max(b),
        "Minimum" => a.min(b),
        "Power" => (0..b).fold(1, |power, _| match dtype.hold(Scalar::Int(power * a)) {
            Scalar::Int(power) => power,
            other => other.int(),
        }),
        _ => panic!("{operation} of integers"),
    }
}

fn float(operation: &str, dtype: DType, a: f64, b: f64) -> f64 {
    match operation {
        "Add" => a + b,
        "ArcTan2" => a.atan2(b),
        "Divide" => a / b,
        // Of the quotient as the type holds it: 71.99 may have become 72.
        "FloorDivide" => dtype.round(a / b).floor(),
        "LogAddExp" => a.max(b) + (-(a - b).abs()).exp().ln_1p(),
        "Maximum" => a.max(b),
        "Minimum" => a.min(b),
        "Multiply" => a * b,
        "Power" => a.powf(b),
        "Remainder" => {
            let remainder = a % b;
            if remainder != 0.0 && (remainder < 0.0) != (b < 0.0) { remainder + b } else { remainder }
        }
        "Subtract" => a - b,
        _ => panic!("{operation} of floats"),
    }
}

fn complex(operation: &str, a: complex::Complex, b: complex::Complex) -> complex::Complex {
    match operation {
        "Add" => complex::add(a, b),
        "Subtract" => complex::subtract(a, b),
        "Multiply" => complex::multiply(a, b),
        "Divide" => complex::divide(a, b),
        "Maximum" => {
            if complex::less(a, b) {
                b
            } else {
                a
            }
        }
        "Minimum" => {
            if complex::less(b, a) {
                b
            } else {
                a
            }
        }
        "LogAddExp" => {
            let (greater, less) = if complex::less(a, b) { (b, a) } else { (a, b) };
            complex::add(
                greater,
                complex::ln(complex::add((1.0, 0.0), complex::exp(complex::subtract(less, greater)))),
            )
        }
        "Power" if a == (0.0, 0.0) => (0.0, 0.0),
        "Power" => complex::exp(complex::multiply(b, complex::ln(a))),
        _ => panic!("{operation} of complex numbers"),
    }
}

fn tolerance(operation: &str, dtype: DType) -> Tolerance {
    match operation {
        _ if is_comparison(operation) || dtype.is_integer() => Tolerance::EXACT,
        "Maximum" | "Minimum" => Tolerance::EXACT,
        "Add" | "Subtract" | "Multiply" | "Divide" if dtype == DType::Float32 => Tolerance::EXACT,
        "Add" | "Subtract" | "Multiply" if dtype == DType::Complex64 => Tolerance::EXACT,
        // By way of f32, rounded twice.
        "Add" | "Subtract" | "Multiply" | "Divide" if dtype.is_float() => Tolerance::ulps(0.51),
        _ if dtype == DType::Complex64 => Tolerance::ulps(32.0).and_absolute(4e-6),
        "Remainder" => Tolerance::ulps(1.0).and_absolute(8.0 * dtype.epsilon()),
        "FloorDivide" => Tolerance::EXACT,
        "LogAddExp" => Tolerance::ulps(8.0).and_absolute(2.0 * dtype.epsilon()),
        "Power" if dtype == DType::Float32 => Tolerance::ulps(16.0),
        _ if dtype == DType::Float32 => Tolerance::ulps(8.0),
        _ => Tolerance::ulps(1.0),
    }
}
