//! Numbers to blocks of every format that runs, and back: plain Rust, for tests and for models that are made up.
//!
//! Each block is rounded by itself to the nearest steps between its extremes. `include/quantize.metal` describes the
//! formats.

mod dequantize;
mod kquants;

use half::{bf16, f16};

use crate::metal::format::Format;

pub use dequantize::dequantize;

/// Stores numbers in a format; none where they are not whole blocks.
pub fn quantize(format: Format, numbers: &[f32]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(format.row_size(numbers.len())?);
    let block = match format {
        Format::F32 => |numbers: &[f32], out: &mut Vec<u8>| out.extend(numbers[0].to_le_bytes()),
        Format::F16 => |numbers: &[f32], out: &mut Vec<u8>| out.extend(f16::from_f32(numbers[0]).to_le_bytes()),
        Format::BF16 => |numbers: &[f32], out: &mut Vec<u8>| out.extend(bf16::from_f32(numbers[0]).to_le_bytes()),
        Format::Q8_0 => q8_0,
        Format::Q4_0 => |numbers: &[f32], out: &mut Vec<u8>| symmetric::<4>(numbers, out),
        Format::Q5_0 => |numbers: &[f32], out: &mut Vec<u8>| symmetric::<5>(numbers, out),
        Format::Q4_1 => |numbers: &[f32], out: &mut Vec<u8>| with_minimum::<4>(numbers, out),
        Format::Q5_1 => |numbers: &[f32], out: &mut Vec<u8>| with_minimum::<5>(numbers, out),
        Format::Q4_K => |numbers: &[f32], out: &mut Vec<u8>| kquants::with_minima::<4>(numbers, out),
        Format::Q5_K => |numbers: &[f32], out: &mut Vec<u8>| kquants::with_minima::<5>(numbers, out),
        Format::Q6_K => kquants::q6_k,
    };
    for numbers in numbers.chunks_exact(format.block_len()) {
        block(numbers, &mut bytes);
    }
    Some(bytes)
}

/// Adds a half, and gives what it is worth.
fn put_half(value: f32, out: &mut Vec<u8>) -> f32 {
    let half = f16::from_f32(value);
    out.extend(half.to_le_bytes());
    half.to_f32()
}

/// 1 over a scale, or 0 where all numbers are 0.
fn inverse(scale: f32) -> f32 {
    if scale == 0.0 { 0.0 } else { 1.0 / scale }
}

/// The step of a number: from 0 up to `max`.
fn step(value: f32, max: u8) -> u8 {
    value.round().clamp(0.0, max.into()) as u8
}

/// The number that is farthest from 0.
fn extreme(numbers: &[f32]) -> f32 {
    numbers.iter().fold(0.0, |extreme: f32, &number| if number.abs() > extreme.abs() { number } else { extreme })
}

fn range(numbers: &[f32]) -> (f32, f32) {
    numbers
        .iter()
        .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &number| (low.min(number), high.max(number)))
}

fn q8_0(numbers: &[f32], out: &mut Vec<u8>) {
    let scale = put_half(extreme(numbers).abs() / 127.0, out);
    let inverse = inverse(scale);
    out.extend(numbers.iter().map(|number| (number * inverse).round().clamp(-127.0, 127.0) as i8 as u8));
}

/// Q4_0 and Q5_0: steps around 0. The extreme is exact, so that it has the one step that its opposite lacks.
fn symmetric<const BITS: u32>(numbers: &[f32], out: &mut Vec<u8>) {
    let middle = 1u8 << (BITS - 1);
    let scale = put_half(-extreme(numbers) / f32::from(middle), out);
    let inverse = inverse(scale);
    put_steps::<BITS>(numbers, |number| step(number * inverse + f32::from(middle), 2 * middle - 1), out);
}

/// Q4_1 and Q5_1: steps from the smallest number up.
fn with_minimum<const BITS: u32>(numbers: &[f32], out: &mut Vec<u8>) {
    let max = (1u8 << BITS) - 1;
    let (low, high) = range(numbers);
    let scale = put_half((high - low) / f32::from(max), out);
    let low = put_half(low, out);
    let inverse = inverse(scale);
    put_steps::<BITS>(numbers, |number| step((number - low) * inverse, max), out);
}

/// 32 steps: their fifth bits, if they have, then the low half of them below the high one.
fn put_steps<const BITS: u32>(numbers: &[f32], step: impl Fn(f32) -> u8, out: &mut Vec<u8>) {
    let mut steps = [0; 32];
    for (to, &number) in steps.iter_mut().zip(numbers) {
        *to = step(number);
    }
    if BITS == 5 {
        let fifth = steps.iter().enumerate().fold(0u32, |bits, (i, step)| bits | u32::from(step >> 4) << i);
        out.extend(fifth.to_le_bytes());
    }
    out.extend((0..16).map(|i| steps[i] & 15 | steps[i + 16] << 4));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far a number may be from its step, as a part of the largest of its block: half a step, and the rounding of
    /// scales to halves or, of K-quants, to 6 bits.
    fn tolerance(format: Format) -> f64 {
        match format {
            Format::F32 => 0.0,
            Format::F16 => 1.0 / 2048.0,
            Format::BF16 => 1.0 / 256.0,
            Format::Q8_0 => 0.6 / 127.0,
            Format::Q4_0 => 1.1 / 8.0,
            Format::Q4_1 => 1.1 / 15.0,
            Format::Q5_0 => 1.1 / 16.0,
            Format::Q5_1 => 1.1 / 31.0,
            Format::Q4_K => 2.0 / 15.0,
            Format::Q5_K => 2.0 / 31.0,
            Format::Q6_K => 1.5 / 32.0,
        }
    }

    fn check(format: Format, numbers: &[f32]) {
        let bytes = quantize(format, numbers).expect("whole blocks");
        assert_eq!(Some(bytes.len()), format.row_size(numbers.len()));
        let blocks = dequantize(format, &bytes);
        for (numbers, blocks) in numbers.chunks(format.block_len()).zip(blocks.chunks(format.block_len())) {
            let largest = f64::from(extreme(numbers)).abs();
            for (&number, &block) in numbers.iter().zip(blocks) {
                let error = (f64::from(number) - block).abs();
                assert!(
                    error <= tolerance(format) * largest + 1e-7,
                    "{format}: {number} became {block} of {largest}"
                );
            }
        }
    }

    #[test]
    fn numbers_come_back_as_near_as_the_format_allows() {
        let waves: Vec<f32> = (0..1024).map(|i| (i as f32 * 0.7).sin() * (1.0 + (i as f32 * 0.01).cos())).collect();
        let positive: Vec<f32> = waves.iter().map(|number| number.abs() + 0.01).collect();
        let negative: Vec<f32> = positive.iter().map(|number| -number * 100.0).collect();
        for format in Format::ALL {
            for numbers in [&waves, &positive, &negative] {
                check(format, numbers);
            }
        }
    }

    #[test]
    fn nothing_stays_nothing() {
        for format in Format::ALL {
            let bytes = quantize(format, &[0.0; 256]).expect("whole blocks");
            assert!(dequantize(format, &bytes).iter().all(|&number| number == 0.0), "{format}");
            assert_eq!(quantize(format, &[]), Some(vec![]));
        }
    }

    #[test]
    fn what_is_quantized_twice_is_the_same() {
        let numbers: Vec<f32> = (0..512).map(|i| ((i * 37 % 101) as f32 - 50.0) / 30.0).collect();
        for format in [Format::F16, Format::BF16, Format::Q8_0, Format::Q4_0, Format::Q5_0] {
            let once = quantize(format, &numbers).expect("whole blocks");
            let again: Vec<f32> = dequantize(format, &once).iter().map(|&number| number as f32).collect();
            assert_eq!(
                dequantize(format, &quantize(format, &again).expect("whole blocks")),
                dequantize(format, &once)
            );
        }
    }

    #[test]
    fn a_part_of_a_block_is_none() {
        assert_eq!(quantize(Format::Q8_0, &[1.0; 33]), None);
        assert_eq!(quantize(Format::Q4_K, &[1.0; 32]), None);
    }

    #[test]
    fn numbers_that_are_none_do_not_crash() {
        for format in Format::ALL {
            for number in [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN_POSITIVE] {
                let mut numbers = [0.5; 256];
                numbers[7] = number;
                assert!(quantize(format, &numbers).is_some());
            }
        }
    }
}
