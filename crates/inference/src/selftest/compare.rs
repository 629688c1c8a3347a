//! What was computed beside what should have been.

use super::expected::{Expected, mix};
use crate::operations::{Number, Output};
use std::fmt;

/// How far a result may be from the reference, which is rounded itself.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound {
    /// Σ(actual − expected)² / Σ expected²: the error of the whole.
    pub normalized_mean_square: f64,
    /// |actual − expected| of each number, relative to its size plus the root mean square of all.
    pub each: f64,
    /// Numbers below this count as nothing: they are denormal, or nearly.
    pub nothing: f64,
}

impl Bound {
    /// For results of this type. A rounding to f16 is off by 2⁻¹¹ at most, and sums of f32 that are taken in another order, or
    /// with the fast functions of a GPU, by some 10⁻⁶. Tokens are right or wrong.
    pub fn of(number: Number) -> Bound {
        match number {
            Number::F32 => Bound { normalized_mean_square: 1e-9, each: 1e-4, nothing: 1e-37 },
            Number::F16 => Bound { normalized_mean_square: 2e-6, each: 4e-3, nothing: 1e-7 },
            Number::U32 => Bound { normalized_mean_square: 0.0, each: 0.0, nothing: 0.0 },
        }
    }
}

/// What is wrong with one result of an operation.
#[derive(Clone, PartialEq, Debug)]
pub enum Difference {
    /// There are other results than expected: the recorded ones are of another version of the library.
    Shape(String),
    /// The numbers that the operation was given are others than those that were recorded.
    Inputs {
        /// Their digest.
        found: u32,
        /// What was recorded.
        expected: u32,
    },
    /// Numbers are off.
    Numbers {
        /// Which result.
        output: String,
        /// How many are off, of those that were compared.
        wrong: usize,
        /// How many were compared.
        compared: usize,
        /// The first that are off: where, what is there, what should be.
        first: Vec<(usize, f64, f64)>,
        /// The error of the whole.
        error: f64,
        /// What it may be.
        bound: f64,
    },
    /// Numbers are off that are not among those that were compared one by one.
    Mix {
        /// Which result.
        output: String,
        /// Their sum with signs.
        found: f64,
        /// What it should be.
        expected: f64,
        /// How far off it may be.
        allowed: f64,
    },
    /// Something was written behind the end of a result.
    Overrun(String),
}

/// Differences that are told of each result.
const FIRST: usize = 5;

/// How far a result is off.
pub(super) struct Compared {
    /// Σ(actual − expected)² / Σ expected².
    pub(super) error: f64,
    pub(super) difference: Option<Difference>,
}

/// Compares a result.
pub(super) fn compare(output: &Output, expected: &Expected) -> Compared {
    let Expected { number, count, .. } = *expected;
    if (output.name, output.number, output.count) != (&expected.name, number, count) {
        let found = format!("{} {} {}", output.name, output.number, output.count);
        let problem = format!("the result is '{found}', not '{} {number} {count}'", expected.name);
        return Compared { error: f64::NAN, difference: Some(Difference::Shape(problem)) };
    }
    if output.is_overrun() {
        return Compared { error: f64::NAN, difference: Some(Difference::Overrun(output.name.into())) };
    }
    numbers(&output.bits(), expected)
}

fn numbers(bits: &[u32], expected: &Expected) -> Compared {
    let (number, bound) = (expected.number, Bound::of(expected.number));
    let pairs: Vec<(usize, f64, f64)> = (expected.places().zip(&expected.samples))
        .map(|(place, sample)| (place, number.value(bits[place]), number.value(*sample)))
        .collect();
    let power: f64 =
        pairs.iter().map(|pair| pair.2).filter(|value| value.is_finite()).map(|value| value * value).sum();
    let typical = (power / pairs.len().max(1) as f64).sqrt();
    let (mut squares, mut wrong) = (0.0, Vec::new());
    for &(place, found, wanted) in &pairs {
        // What is NaN, or nobody's, stays so.
        if found.to_bits() == wanted.to_bits() || (found.is_nan() && wanted.is_nan()) {
            continue;
        }
        let error = (found - wanted).abs();
        let is_near = error <= bound.each * (wanted.abs() + typical) + bound.nothing;
        if !is_near {
            wrong.push((place, found, wanted));
        }
        squares += (error - bound.nothing).max(0.0).powi(2);
        if error.is_nan() {
            squares = f64::NAN;
        }
    }
    let error = if squares == 0.0 { 0.0 } else { squares / power };
    let output = || expected.name.clone();
    if !wrong.is_empty() || error.is_nan() || error > bound.normalized_mean_square {
        let (compared, bound) = (pairs.len(), bound.normalized_mean_square);
        let (wrong, first) = (wrong.len(), wrong.into_iter().take(FIRST).collect());
        let difference = Difference::Numbers { output: output(), wrong, compared, first, error, bound };
        return Compared { error, difference: Some(difference) };
    }
    let found = mix(number, bits);
    // Errors of random sign grow with the root of their number.
    let spread = typical * (expected.count as f64).sqrt();
    let allowed = 8.0 * bound.normalized_mean_square.sqrt() * spread + bound.nothing;
    let is_near = (found - expected.mix).abs() <= allowed;
    let mixed = || Difference::Mix { output: output(), found, expected: expected.mix, allowed };
    Compared { error, difference: (!is_near).then(mixed) }
}

/// With the digits that it has: of an f32, or of a token.
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
                first.iter().try_for_each(|(place, found, expected)| {
                    write!(f, "\n  {output}[{place}] is {}, not {}", shown(*found), shown(*expected))
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
        expected.samples = expected.places().map(|place| bits[place]).collect();
        expected.mix = mix(Number::F32, &bits);
        expected
    }

    fn compared(values: &[f32], expected: &Expected) -> Option<Difference> {
        let bits: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
        numbers(&bits, expected).difference
    }

    #[test]
    fn roundings_are_allowed_and_mistakes_are_not() {
        let values: Vec<f32> = (0..300).map(|i| (i * 37 % 101) as f32 / 50.0 - 1.0).collect();
        let (all, some) = (expected(&values, 300), expected(&values, 20));
        let rounded: Vec<f32> = values.iter().map(|value| value * 1.000_001 + 1e-7).collect();
        assert_eq!((compared(&rounded, &all), compared(&rounded, &some)), (None, None));
        for place in 0..300 {
            let mut wrong = values.clone();
            wrong[place] += 0.01;
            let told = format!("{}", compared(&wrong, &all).expect("it is off"));
            assert!(
                told.contains("1 of 300 numbers are off") && told.contains(&format!("y[{place}] is ")),
                "{told}"
            );
            assert!(compared(&wrong, &some).is_some(), "a sum has it, at {place}");
        }
        let off: Vec<f32> = values.iter().map(|value| value * 1.000_05).collect();
        assert!(matches!(compared(&off, &all), Some(Difference::Numbers { wrong: 0, .. })));
    }

    #[test]
    fn numbers_have_their_own_digits() {
        let all = [f64::from(0.1f32), 4_294_967_295.0, f64::NAN, f64::from(1e-30f32), -2.0, 0.1];
        assert_eq!(all.map(shown).join(" "), "0.1 4294967295 NaN 1e-30 -2 0.1");
    }

    #[test]
    fn what_is_not_a_number_is_wrong_unless_it_should_be() {
        let values = [1.0, f32::NAN, 3.0];
        let expected = expected(&values, 3);
        assert_eq!(compared(&values, &expected), None);
        for wrong in [[1.0, 2.0, 3.0], [f32::NAN, f32::NAN, 3.0], [1.0, f32::NAN, f32::INFINITY]] {
            let told = compared(&wrong, &expected).expect("it is off").to_string();
            assert!(told.starts_with("y: 1 of 3 numbers are off"), "{told}");
        }
    }
}
