//! Kernels with one input: `v_Expfloat32float32` and its relatives.

use crate::array::{Array, DType, Scalar};
use crate::compare::Tolerance;
use crate::complex;
use crate::fp8;
use crate::harness::{self, Argument, Case};
use crate::layout::Layout;
use crate::random::Random;

const OPERATIONS: [&str; 37] = [
    "Abs",
    "ArcCos",
    "ArcCosh",
    "ArcSin",
    "ArcSinh",
    "ArcTan",
    "ArcTanh",
    "BitwiseInvert",
    "Ceil",
    "Conjugate",
    "Cos",
    "Cosh",
    "Erf",
    "ErfInv",
    "Exp",
    "Expm1",
    "Floor",
    "FromFP8",
    "Imag",
    "Log",
    "Log10",
    "Log2",
    "Log1p",
    "LogicalNot",
    "Negative",
    "Real",
    "Round",
    "Rsqrt",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Sqrt",
    "Square",
    "Tan",
    "Tanh",
    "ToFP8",
];

/// All functions that begin with `prefix` and are an operation of one input.
pub(crate) fn cases(prefix: &'static str) -> impl Iterator<Item = Case> {
    harness::names(&format!("{prefix}_")).into_iter().filter_map(move |name| {
        let (rest, output) = DType::suffix(&name[prefix.len() + 1..])?;
        let (operation, input) = DType::suffix(rest)?;
        let operation = OPERATIONS.iter().find(|known| **known == operation)?;
        case(&name, prefix, operation, input, output)
    })
}

fn case(name: &str, prefix: &str, operation: &str, input: DType, output: DType) -> Option<Case> {
    let layout = Layout::new(prefix, 1, input)?;
    let values = values(name, operation, input, layout.input_length(0));
    let expected: Vec<Scalar> =
        layout.locations[0].iter().map(|location| reference(operation, input, values.values[*location])).collect();
    let mut case = Case::new(name, layout.grid).input(&values).bind(Argument::output(
        output,
        expected,
        tolerance(operation, input),
    ));
    for extra in layout.extras {
        case = case.bind(extra);
    }
    Some(case)
}

/// Numbers that the operation is defined for, and a few that are special.
fn values(name: &str, operation: &str, dtype: DType, length: usize) -> Array {
    let (low, high) = match operation {
        "ArcCos" | "ArcSin" | "ArcTanh" | "ErfInv" if dtype != DType::Complex64 => (-0.98, 0.98),
        "ArcCosh" => (1.0, 9.0),
        "Log" | "Log10" | "Log2" | "Rsqrt" | "Sqrt" if dtype != DType::Complex64 => (0.01, 90.0),
        "Log1p" => (-0.9, 9.0),
        "Tan" => (-1.5, 1.5),
        "FromFP8" => (0.0, 255.0),
        "ToFP8" => (-500.0, 500.0),
        // Near the axes, MLX's formulas for these lose all digits of the smaller part.
        "ArcCos" | "ArcSin" | "Sqrt" | "Rsqrt" if dtype == DType::Complex64 => (0.3, 2.0),
        _ if dtype == DType::Complex64 => (-2.0, 2.0),
        _ => (-6.0, 6.0),
    };
    let mut values = Random::new(name).array(dtype, length, low, high);
    let special: &[f64] = match operation {
        _ if !dtype.is_float() => &[],
        "Abs" | "Negative" => &[0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e9, -1e-9],
        "Ceil" | "Floor" | "Round" => &[0.0, 0.5, 1.5, 2.5, -0.5, -1.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN],
        "Sqrt" => &[0.0, 1.0, 4.0, f64::INFINITY, -1.0],
        "Exp" => &[0.0, f64::NEG_INFINITY, f64::INFINITY, f64::NAN, -200.0, 200.0],
        "Erf" | "Tanh" => &[0.0, 20.0, -20.0],
        "Sin" | "Cos" => &[0.0, 100.0, -1000.0],
        "Log" | "Log2" | "Log10" => &[1.0, 0.0, f64::INFINITY, -1.0],
        "Sign" => &[0.0, -0.0, f64::INFINITY],
        "ToFP8" => &[0.0, -0.0, 448.0, 1e-3, 2e-3, -1e-4, 0.0175, 17.0, 19.0],
        _ => &[],
    };
    for (value, special) in values.values.iter_mut().zip(special) {
        *value = dtype.hold(Scalar::Float(*special));
    }
    values
}

fn reference(operation: &str, dtype: DType, value: Scalar) -> Scalar {
    match value {
        Scalar::Int(value) if operation == "FromFP8" => Scalar::Float(fp8::decode(value as u8)),
        Scalar::Int(value) => Scalar::Int(integer(operation, dtype, value)),
        Scalar::Float(value) if operation == "ToFP8" => Scalar::Int(i128::from(fp8::encode(value))),
        Scalar::Float(value) => Scalar::Float(float(operation, value)),
        Scalar::Complex(real, imaginary) => match operation {
            "Real" => Scalar::Float(real),
            "Imag" => Scalar::Float(imaginary),
            _ => {
                let (real, imaginary) = complex(operation, (real, imaginary));
                Scalar::Complex(real, imaginary)
            }
        },
    }
}

fn integer(operation: &str, dtype: DType, value: i128) -> i128 {
    match operation {
        "Abs" => value.abs(),
        "BitwiseInvert" => !value,
        "Ceil" | "Floor" => value,
        "LogicalNot" => i128::from(value == 0),
        // A bool is promoted: −true is −1, and that is true.
        "Negative" if dtype == DType::Bool => value,
        "Negative" => -value,
        "Sign" => value.signum(),
        "Square" => value * value,
        _ => panic!("{operation} of an integer"),
    }
}

fn float(operation: &str, x: f64) -> f64 {
    match operation {
        "Abs" => x.abs(),
        "ArcCos" => x.acos(),
        "ArcCosh" => x.acosh(),
        "ArcSin" => x.asin(),
        "ArcSinh" => x.asinh(),
        "ArcTan" => x.atan(),
        "ArcTanh" => x.atanh(),
        "Ceil" => x.ceil(),
        "Cos" => x.cos(),
        "Cosh" => x.cosh(),
        "Erf" => erf(x),
        "ErfInv" => inverse_erf(x),
        "Exp" => x.exp(),
        "Expm1" => x.exp_m1(),
        "Floor" => x.floor(),
        "Log" => x.ln(),
        "Log10" => x.log10(),
        "Log2" => x.log2(),
        "Log1p" => x.ln_1p(),
        "Negative" => -x,
        "Round" => x.round_ties_even(),
        "Rsqrt" => 1.0 / x.sqrt(),
        "Sigmoid" => 1.0 / (1.0 + (-x).exp()),
        "Sign" => f64::from(i8::from(x > 0.0) - i8::from(x < 0.0)),
        "Sin" => x.sin(),
        "Sinh" => x.sinh(),
        "Sqrt" => x.sqrt(),
        "Square" => x * x,
        "Tan" => x.tan(),
        "Tanh" => x.tanh(),
        _ => panic!("{operation} of a float"),
    }
}

fn complex(operation: &str, z: complex::Complex) -> complex::Complex {
    let scaled = |z: complex::Complex, factor: f64| (z.0 * factor, z.1 * factor);
    match operation {
        "Abs" => (z.0.hypot(z.1), 0.0),
        "ArcCos" => complex::acos(z),
        "ArcSin" => complex::asin(z),
        "ArcTan" => complex::atan(z),
        "Conjugate" => (z.0, -z.1),
        "Cos" => complex::cos(z),
        "Cosh" => complex::cosh(z),
        "Exp" => complex::exp(z),
        "Log" => complex::ln(z),
        "Log10" => scaled(complex::ln(z), std::f64::consts::LOG10_E),
        "Log2" => scaled(complex::ln(z), std::f64::consts::LOG2_E),
        "Log1p" => complex::ln((1.0 + z.0, z.1)),
        "Negative" => (-z.0, -z.1),
        "Round" => (z.0.round_ties_even(), z.1.round_ties_even()),
        "Rsqrt" => complex::divide((1.0, 0.0), complex::sqrt(z)),
        "Sign" => scaled(z, 1.0 / z.0.hypot(z.1)),
        "Sin" => complex::sin(z),
        "Sinh" => complex::sinh(z),
        "Sqrt" => complex::sqrt(z),
        "Square" => complex::multiply(z, z),
        "Tan" => complex::divide(complex::sin(z), complex::cos(z)),
        "Tanh" => complex::divide(complex::sinh(z), complex::cosh(z)),
        _ => panic!("{operation} of a complex number"),
    }
}

/// erf x = 2/√π · e^(−x²) · Σ 2ⁿ x^(2n+1) / (2n+1)!!, whose terms have one sign.
fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut sum) = (x, 0.0);
    for n in 0..200 {
        sum += term;
        term *= 2.0 * x * x / f64::from(2 * n + 3);
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

/// By Newton's method.
fn inverse_erf(y: f64) -> f64 {
    let mut x = 0.0;
    for _ in 0..60 {
        x -= (erf(x) - y) / (std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp());
    }
    x
}

/// Tolerances of the Metal Shading Language Specification (chapter "Numerical Compliance"), with a margin for formulas
/// of several steps in the type itself.
fn tolerance(operation: &str, dtype: DType) -> Tolerance {
    match operation {
        "Abs" | "Ceil" | "Conjugate" | "Floor" | "FromFP8" | "Imag" | "Negative" | "Real" | "Round" | "Square"
        | "ToFP8"
            if dtype != DType::Complex64 || !matches!(operation, "Abs" | "Square") =>
        {
            Tolerance::EXACT
        }
        _ if dtype.is_integer() => Tolerance::EXACT,
        // MLX's own formulas for complex numbers cancel digits.
        _ if dtype == DType::Complex64 => Tolerance::ulps(16.0).and_absolute(2e-6),
        "Sigmoid" => Tolerance::ulps(4.0).and_absolute(2.0 * dtype.epsilon()),
        // MLX subtracts multiples of a rounded ln 2.
        "Expm1" if dtype == DType::Float32 => Tolerance::ulps(128.0),
        "Erf" | "ErfInv" | "Log1p" if dtype == DType::Float32 => Tolerance::ulps(32.0).and_absolute(1e-7),
        "Log1p" => Tolerance::ulps(2.0).and_absolute(1e-3),
        "Sin" | "Cos" if dtype == DType::Float32 => Tolerance::ulps(4.0).and_absolute(1e-6),
        _ if dtype == DType::Float32 => Tolerance::ulps(8.0),
        _ => Tolerance::ulps(1.0),
    }
}
