//! Variants of a case's inputs.
//!
//! The other tests use numbers for which a correct kernel does not round. Here rounding is the point: floating-point
//! inputs get all their digits. Elementwise kernels, reductions, scans and sorts run once more with special values.

use crate::array::{Array, DType, Scalar};
use crate::harness::{Argument, Case};
use crate::random::Random;

/// A case to run, and a word for its inputs.
pub(crate) struct Variant {
    pub(crate) label: &'static str,
    pub(crate) case: Case,
}

/// Families that run with special values. None of them has indices among its inputs.
const WITH_SPECIALS: [&str; 8] = ["unary", "binary", "select", "copy", "reduce", "scan", "sort_rows", "search"];

/// Operations on integers that leave some operands undefined: a division by zero, a shift by too much.
const PARTIAL: [&str; 5] = ["Divide", "DivMod", "Power", "Remainder", "Shift"];

pub(crate) fn variants(family: &str, case: &Case) -> Vec<Variant> {
    let mut random = Random::new(&format!("agreement {}", case.function));
    let fine = map_inputs(case, |array| fine(&mut random, array));
    let mut variants = vec![Variant { label: "fine", case: fine }];
    let is_partial = PARTIAL.iter().any(|operation| case.function.contains(operation));
    let has_floats = case
        .arguments
        .iter()
        .any(|(_, argument)| matches!(argument, Argument::Input(array) if !array.dtype.is_integer()));
    if WITH_SPECIALS.iter().any(|name| family.starts_with(name)) && (has_floats || !is_partial) {
        let special = map_inputs(case, |array| special(&mut random, array));
        variants.push(Variant { label: "special", case: special });
    }
    variants
}

/// The case with other inputs.
fn map_inputs(case: &Case, mut change: impl FnMut(&Array) -> Array) -> Case {
    let mut changed = Case::new(&case.function, case.grid);
    changed.constants = case.constants.clone();
    changed.removed_constants = case.removed_constants.clone();
    for (index, argument) in &case.arguments {
        let argument = match argument {
            Argument::Input(array) => Argument::Input(change(array)),
            Argument::Bytes(bytes) => Argument::Bytes(bytes.clone()),
            Argument::Output(output) => Argument::sparse(output.dtype, output.expected.clone(), output.tolerance),
        };
        changed = changed.bind_at(*index, argument);
    }
    changed
}

/// The numbers with all their digits, near what they were.
fn fine(random: &mut Random, array: &Array) -> Array {
    let mut near = |value: f64| value * (1.0 + random.float(-0.02, 0.02));
    let value = |value: &Scalar| match *value {
        Scalar::Float(value) => Scalar::Float(near(value)),
        Scalar::Complex(real, imaginary) => Scalar::Complex(near(real), near(imaginary)),
        value => value,
    };
    Array::new(array.dtype, array.values.iter().map(value).collect::<Vec<_>>())
}

/// A third of the numbers special, and the others of any size.
fn special(random: &mut Random, array: &Array) -> Array {
    let dtype = array.dtype;
    let value = |value: &Scalar| {
        let is_special = random.below(3) == 0;
        match *value {
            Scalar::Int(_) if dtype == DType::Bool => *value,
            Scalar::Int(_) => Scalar::Int(any_integer(random, dtype, is_special)),
            Scalar::Float(value) if is_special => Scalar::Float(special_float(random, dtype, value)),
            Scalar::Float(value) => Scalar::Float(value),
            Scalar::Complex(real, imaginary) if is_special => Scalar::Complex(
                special_float(random, dtype, real),
                if random.below(2) == 0 { imaginary } else { special_float(random, dtype, imaginary) },
            ),
            value => value,
        }
    };
    Array::new(dtype, array.values.iter().map(value).collect::<Vec<_>>())
}

fn any_integer(random: &mut Random, dtype: DType, is_special: bool) -> i128 {
    let (least, greatest) = dtype.range();
    let special = [least, least + 1, greatest, greatest - 1, 0, 1, 2];
    if is_special { special[random.below(7) as usize] } else { random.int(least, greatest) }
}

/// Zeros, infinities, NaN, halves, denormal, huge and tiny numbers.
fn special_float(random: &mut Random, dtype: DType, value: f64) -> f64 {
    let least = dtype.least_normal();
    let huge = if dtype == DType::Float16 { 6e4 } else { 3e38 };
    let special = [
        0.0,
        f64::INFINITY,
        f64::NAN,
        1.0,
        0.5,
        2.5,
        1.0 + dtype.epsilon(),
        least,
        least / 2.0,
        least * dtype.epsilon(),
        least * 3.0,
        huge,
        huge / 3.0,
        huge.sqrt(),
        least.sqrt(),
        value * 1000.0,
        value / 1000.0,
        100.0,
        255.5,
        40000.7,
        2.2e9,
        1e19,
    ];
    let picked = special[random.below(special.len() as u64) as usize];
    if random.below(2) == 0 { picked } else { -picked }
}
