//! Quantization of blocks as llama.cpp does it, to the same bytes.
//!
//! ```text
//! numbers ── blocks_of_32: rounded ──────────────────────────────────────────────┐
//!         ── scales: search for scale and minimum of each group ── k_quants ─────┼── bytes
//!         └─ curve: search for the scale of steps that are not equal ────────────┘
//! ```
//!
//! [`crate::formats::quantize`] rounds to the nearest step of the full range, which is fast and has a bound. These take the
//! scale with the least square error among some, with more weight for large numbers: 10 to 100 times as much work for a
//! smaller error. The order of all operations in f32 is llama.cpp's, so that files are the same.

mod blocks_of_32;
mod curve;
mod k_quants;
mod scales;

use crate::formats::{self, Format};
use half::f16;

/// Quantizes whole blocks and appends them. Numbers must be finite.
pub(super) fn encode(format: Format, numbers: &[f32], out: &mut Vec<u8>) {
    let block: fn(&[f32], &mut Vec<u8>) = match format {
        Format::Q8_0 => blocks_of_32::q8_0,
        Format::Q4_0 => blocks_of_32::symmetric::<4>,
        Format::Q4_1 => blocks_of_32::with_minimum::<4>,
        Format::Q5_0 => blocks_of_32::symmetric::<5>,
        Format::Q5_1 => blocks_of_32::with_minimum::<5>,
        Format::IQ4_NL => curve::iq4_nl,
        Format::IQ4_XS => curve::iq4_xs,
        Format::Q2_K => k_quants::q2_k,
        Format::Q3_K => k_quants::q3_k,
        Format::Q4_K => k_quants::with_minima::<4>,
        Format::Q5_K => k_quants::with_minima::<5>,
        Format::Q6_K => k_quants::q6_k,
        // Already llama.cpp's, or MLX's.
        Format::AFFINE8 | Format::MXFP4 | Format::F32 | Format::F16 | Format::BF16 => {
            return out.extend(formats::quantize(format, numbers).unwrap_or_default());
        }
    };
    numbers.chunks_exact(format.block_len()).for_each(|numbers| block(numbers, out));
}

/// Rounds to an integer, ties to even, by the sum with a number whose unit is 1: fast on any CPU. For numbers up to 2^22.
fn nearest(number: f32) -> i32 {
    ((number + 12_582_912.0).to_bits() & 0x007f_ffff) as i32 - 0x0040_0000
}

/// The number farthest from 0, and its distance.
fn extreme(numbers: &[f32]) -> (f32, f32) {
    numbers.iter().fold(
        (0.0, 0.0),
        |(extreme, most), &number| {
            if number.abs() > most { (number, number.abs()) } else { (extreme, most) }
        },
    )
}

/// 1 / scale, or 0 if all numbers are 0.
fn inverse(scale: f32) -> f32 {
    if scale == 0.0 { 0.0 } else { 1.0 / scale }
}

/// Appends a half; returns its value after rounding.
fn put_half(value: f32, out: &mut Vec<u8>) -> f32 {
    let half = f16::from_f32(value);
    out.extend(half.to_le_bytes());
    half.to_f32()
}

/// Appends the low nibbles of the first half of the steps, with those of the second half above them.
fn put_nibbles(steps: &[u8], out: &mut Vec<u8>) {
    let (low, high) = steps.split_at(steps.len() / 2);
    out.extend(low.iter().zip(high).map(|(low, high)| low & 15 | high << 4));
}
