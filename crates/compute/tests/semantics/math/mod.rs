//! The floating-point functions of `<metal_math>`, in the variants `precise` and `fast` and for `half`, within the
//! error bounds of the specification (tables 8.1 to 8.3).

mod bounds;
mod exact;
mod shapes;

use crate::numbers::Random;

pub(super) const THREADS: usize = 200;

/// Numbers from a range, evenly spread or by their exponents.
pub(super) fn range(seed: u64, low: f64, high: f64) -> Vec<f32> {
    let mut random = Random::new(seed);
    let mut unit = move || random.next() as f64 / u64::MAX as f64;
    (0..THREADS).map(|_| (low + (high - low) * unit()) as f32).collect()
}

/// Positive numbers of all magnitudes between two.
pub(super) fn magnitudes(seed: u64, low: f64, high: f64) -> Vec<f32> {
    range(seed, low.log2(), high.log2()).iter().map(|x| f64::from(*x).exp2() as f32).collect()
}

pub(super) fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|x| f64::from(*x)).collect()
}

/// A number as a fraction in [0.5, 1) and an exponent.
pub(super) fn split(x: f32) -> (f32, i32) {
    let exponent = (x.to_bits() >> 23 & 255) as i32 - 126;
    ((f64::from(x) / 2f64.powi(exponent)) as f32, exponent)
}
