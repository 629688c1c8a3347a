//! Rounding to steps and scales, shared by the block formats.

use half::f16;

/// The half at byte `at` of a block.
pub(super) fn half(block: &[u8], at: usize) -> f64 {
    f64::from(f16::from_le_bytes([block[at], block[at + 1]]))
}

/// Appends a half; returns its value after rounding.
pub(super) fn put_half(value: f32, out: &mut Vec<u8>) -> f32 {
    let half = f16::from_f32(value);
    out.extend(half.to_le_bytes());
    half.to_f32()
}

/// 1 / scale, or 0 if all numbers are 0.
pub(super) fn inverse(scale: f32) -> f32 {
    if scale == 0.0 { 0.0 } else { 1.0 / scale }
}

/// Rounds a number to a step from 0 to `max`.
pub(super) fn step(value: f32, max: u8) -> u8 {
    value.round().clamp(0.0, max.into()) as u8
}

/// The number that is farthest from 0.
pub(super) fn extreme(numbers: &[f32]) -> f32 {
    numbers.iter().fold(0.0, |extreme: f32, &number| if number.abs() > extreme.abs() { number } else { extreme })
}

/// The smallest and the largest number.
pub(super) fn range(numbers: &[f32]) -> (f32, f32) {
    numbers
        .iter()
        .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &number| (low.min(number), high.max(number)))
}
