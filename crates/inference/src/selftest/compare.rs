//! Comparison of outputs with the expected numbers.

use super::expected::{Expected, mix};
use crate::cases::{Number, Output};
use std::fmt;

/// Largest allowed error of an output.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// Σ(actual − expected)² / Σ expected²: the total error.
    pub normalized_mean_square: f64,
    /// |actual − expected| of each number, relative to its magnitude plus the root mean square of all numbers.
    pub each: f64,
    /// Smaller numbers count as 0: they are denormal, or nearly.
    pub nothing: f64,
}

impl Tolerance {
    /// The tolerance for a type. Rounding to f16 is off by at most 2⁻¹¹, sums in f32 and fast functions of a GPU by
    /// about 10⁻⁶. The CPU's worst results are 7·10⁻¹³ and 2·10⁻⁶ for f32, 9·10⁻⁸ and 9·10⁻⁴ for f16. Tokens must be
    /// exact.
    pub fn of(number: Number) -> Tolerance {
        match number {
            Number::F32 => Tolerance { normalized_mean_square: 1e-10, each: 3e-5, nothing: 1e-37 },
            Number::F16 => Tolerance { normalized_mean_square: 1e-6, each: 3e-3, nothing: 1e-7 },
            // A step is 1/127 or 1/8 of the largest of 32 numbers.
            Number::Q8_0 => Tolerance { normalized_mean_square: 1e-4, each: 1.5e-2, nothing: 1e-7 },
            Number::Q4_0 => Tolerance { normalized_mean_square: 3e-2, each: 0.3, nothing: 1e-7 },
            Number::U32 => Tolerance { normalized_mean_square: 0.0, each: 0.0, nothing: 0.0 },
        }
    }
}

/// Difference between an output and its reference.
#[derive(Clone, PartialEq, Debug)]
pub enum Difference {
    /// The outputs are not the recorded ones: the record belongs to another version of the library.
    Shape(String),
    /// The inputs are not the recorded ones.
    Inputs {
        /// Digest of the inputs.
        found: u32,
        /// The recorded digest.
        expected: u32,
    },
    /// Numbers differ.
    Numbers {
        /// Name of the output.
        output: String,
        /// Number of differing numbers, among those that were compared.
        wrong: usize,
        /// Number of compared numbers.
        compared: usize,
        /// First differing numbers: index, actual, expected.
        first: Vec<(usize, f64, f64)>,
        /// Total error.
        error: f64,
        /// Largest allowed error.
        bound: f64,
    },
    /// Numbers differ outside of the compared samples.
    Mix {
        /// Name of the output.
        output: String,
        /// Sum of the numbers with pseudo-random signs.
        found: f64,
        /// The recorded sum.
        expected: f64,
        /// Largest allowed difference.
        allowed: f64,
    },
    /// Something was written after the end of an output.
    Overrun(String),
}

/// Number of differences to print per output.
const FIRST: usize = 5;

/// Result of comparing one output.
pub(super) struct Compared {
    /// Σ(actual − expected)² / Σ expected².
    pub(super) error: f64,
    pub(super) difference: Option<Difference>,
}

/// Compares all numbers of an output.
pub(super) fn compare(output: &Output, expected: &[f64]) -> Compared {
    if output.count != expected.len() {
        let problem = format!("{} has {} numbers, but {} are expected", output.name, output.count, expected.len());
        return Compared { error: f64::NAN, difference: Some(Difference::Shape(problem)) };
    }
    if output.is_overrun() {
        return Compared { error: f64::NAN, difference: Some(Difference::Overrun(output.name.into())) };
    }
    let found = output.numbers();
    numbers(output.name, output.number, (0..found.len()).zip(found).zip(expected).map(triple))
}

/// Compares an output with its recorded samples.
pub(super) fn compare_recorded(output: &Output, expected: &Expected) -> Compared {
    let Expected { number, count, .. } = *expected;
    if (output.name, output.number, output.count) != (&expected.name, number, count) {
        let found = format!("{} {} {}", output.name, output.number, output.count);
        let problem = format!("the result is '{found}', not '{} {number} {count}'", expected.name);
        return Compared { error: f64::NAN, difference: Some(Difference::Shape(problem)) };
    }
    if output.is_overrun() {
        return Compared { error: f64::NAN, difference: Some(Difference::Overrun(output.name.into())) };
    }
    samples(&output.bits(), expected)
}

fn triple(((index, found), wanted): ((usize, f64), &f64)) -> (usize, f64, f64) {
    (index, found, *wanted)
}

/// Compares numbers one by one and in total: index, actual, expected.
fn numbers(name: &str, number: Number, numbers: impl Iterator<Item = (usize, f64, f64)>) -> Compared {
    let (tolerance, numbers) = (Tolerance::of(number), numbers.collect::<Vec<_>>());
    let power = power(numbers.iter().map(|number| number.2));
    let typical = (power / numbers.len().max(1) as f64).sqrt();
    let (mut squares, mut wrong) = (0.0, Vec::new());
    for &(index, found, wanted) in &numbers {
        // An expected NaN is poison that the operation must not overwrite.
        if found.to_bits() == wanted.to_bits() || (found.is_nan() && wanted.is_nan()) {
            continue;
        }
        let error = (found - wanted).abs();
        let is_near = error <= tolerance.each * (wanted.abs() + typical) + tolerance.nothing;
        if !is_near {
            wrong.push((index, found, wanted));
        }
        squares += (error - tolerance.nothing).max(0.0).powi(2);
        if error.is_nan() {
            squares = f64::NAN;
        }
    }
    let error = if squares == 0.0 { 0.0 } else { squares / power };
    let is_near = wrong.is_empty() && error <= tolerance.normalized_mean_square;
    let difference = (!is_near).then(|| Difference::Numbers {
        output: name.into(),
        wrong: wrong.len(),
        compared: numbers.len(),
        first: wrong.into_iter().take(FIRST).collect(),
        error,
        bound: tolerance.normalized_mean_square,
    });
    Compared { error, difference }
}

/// Compares the samples, and then all numbers by their mix.
fn samples(bits: &[u32], expected: &Expected) -> Compared {
    let (number, tolerance) = (expected.number, Tolerance::of(expected.number));
    let wanted: Vec<f64> = expected.samples.iter().map(|bits| number.value(*bits)).collect();
    let found = expected.sample_indices().map(|index| (index, number.value(bits[index])));
    let compared = numbers(&expected.name, number, found.zip(&wanted).map(triple));
    if compared.difference.is_some() {
        return compared;
    }
    let found = mix(number, bits);
    let typical = (power(wanted.iter().copied()) / wanted.len().max(1) as f64).sqrt();
    // Errors of random sign grow with the square root of their number.
    let spread = typical * (expected.count as f64).sqrt();
    let allowed = 8.0 * tolerance.normalized_mean_square.sqrt() * spread + tolerance.nothing;
    let is_near = (found - expected.mix).abs() <= allowed;
    let mixed = || Difference::Mix { output: expected.name.clone(), found, expected: expected.mix, allowed };
    Compared { error: compared.error, difference: (!is_near).then(mixed) }
}

/// Sum of squares of the finite numbers.
fn power(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.filter(|number| number.is_finite()).map(|number| number * number).sum()
}

/// The number with its significant digits: those of an f32, or of a token.
fn shown(value: f64) -> String {
    match value as f32 {
        _ if value.fract() == 0.0 && value.abs() < 1e16 => format!("{value}"),
        single if f64::from(single) == value => format!("{single:?}"),
        _ => format!("{value:?}"),
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Shape(problem) => f.write_str(problem),
            Difference::Inputs { found, expected } => write!(
                f,
                "the numbers that it was given are not those of the recorded results ({found:08x}, not {expected:08x}): \
                 they are of another version"
            ),
            Difference::Numbers { output, wrong, compared, first, error, bound } => {
                write!(
                    f,
                    "{output}: {wrong} of {compared} numbers are off; the normalized mean square error is {error:.2e}, and \
                     may be {bound:.0e}"
                )?;
                first.iter().try_for_each(|(index, found, expected)| {
                    write!(f, "\n  {output}[{index}] is {}, not {}", shown(*found), shown(*expected))
                })
            }
            Difference::Mix { output, found, expected, allowed } => write!(
                f,
                "{output}: numbers are off that were not compared one by one: their sum with signs is {found:?}, not \
                 {expected:?} ± {allowed:.1e}"
            ),
            Difference::Overrun(output) => write!(f, "{output}: something was written behind its end"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(values: &[f32], samples: usize) -> Expected {
        let bits: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
        let mut expected = Expected {
            name: "y".into(),
            number: Number::F32,
            count: bits.len(),
            samples: vec![0; samples],
            mix: 0.0,
        };
        expected.samples = expected.sample_indices().map(|index| bits[index]).collect();
        expected.mix = mix(Number::F32, &bits);
        expected
    }

    fn compared(values: &[f32], expected: &Expected) -> Option<Difference> {
        let bits: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
        samples(&bits, expected).difference
    }

    #[test]
    fn roundings_are_allowed_and_mistakes_are_not() {
        let values: Vec<f32> = (0..300).map(|i| (i * 37 % 101) as f32 / 50.0 - 1.0).collect();
        let (all, some) = (expected(&values, 300), expected(&values, 20));
        let rounded: Vec<f32> = values.iter().map(|value| value * 1.000_001 + 1e-7).collect();
        assert_eq!((compared(&rounded, &all), compared(&rounded, &some)), (None, None));
        for index in 0..300 {
            let mut wrong = values.clone();
            wrong[index] += 0.01;
            let told = format!("{}", compared(&wrong, &all).expect("it is off"));
            assert!(
                told.contains("1 of 300 numbers are off") && told.contains(&format!("y[{index}] is ")),
                "{told}"
            );
            assert!(compared(&wrong, &some).is_some(), "a sum has it, at {index}");
        }
        let off: Vec<f32> = values.iter().map(|value| value * 1.000_02).collect();
        assert!(matches!(compared(&off, &all), Some(Difference::Numbers { wrong: 0, .. })));
    }

    #[test]
    fn numbers_print_with_their_significant_digits() {
        let all = [f64::from(0.1f32), 4_294_967_295.0, f64::NAN, f64::from(1e-30f32), -2.0, 0.1];
        assert_eq!(all.map(shown).join(" "), "0.1 4294967295 NaN 1e-30 -2 0.1");
    }

    #[test]
    fn nan_is_wrong_unless_expected() {
        let values = [1.0, f32::NAN, 3.0];
        let expected = expected(&values, 3);
        assert_eq!(compared(&values, &expected), None);
        for wrong in [[1.0, 2.0, 3.0], [f32::NAN, f32::NAN, 3.0], [1.0, f32::NAN, f32::INFINITY]] {
            let told = compared(&wrong, &expected).expect("it is off").to_string();
            assert!(told.starts_with("y: 1 of 3 numbers are off"), "{told}");
        }
    }
}
