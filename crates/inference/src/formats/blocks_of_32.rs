//! Q8_0, Q4_0, Q4_1, Q5_0 and Q5_1: blocks of 32 numbers with one scale, and a minimum if the name ends in 1. AFFINE8 has
//! one, too.
//!
//! Each block is rounded on its own, to the nearest of equal steps between its extremes.

use super::definition::Narrow::Half;
use super::definition::{Definition, in_order};
use super::rounding::{extreme, half, inverse, put_half, range, step};
use crate::weights::TensorType;

pub(super) const Q8_0: Definition = Definition {
    name: "q8_0",
    tensor_type: TensorType::Q8_0,
    file_type: 7,
    narrow: &[(0, Half(1.0 / 128.0))],
    tile_offset: in_order,
    rounding: 0.6 / 127.0,
    quantize: |numbers, out| {
        let scale = put_half(extreme(numbers).abs() / 127.0, out);
        let inverse = inverse(scale);
        out.extend(numbers.iter().map(|number| (number * inverse).round().clamp(-127.0, 127.0) as i8 as u8));
    },
    dequantize: |block| block[2..].iter().map(|&q| half(block, 0) * f64::from(q as i8)).collect(),
};

pub(super) const AFFINE8: Definition = Definition {
    name: "affine8",
    tensor_type: TensorType::AFFINE8,
    // GGUF files do not have it: mostly Q8_0 is nearest.
    file_type: 7,
    narrow: &[(0, Half(1.0 / 128.0)), (2, Half(-1.0))],
    tile_offset: in_order,
    rounding: 1.5 / 255.0,
    quantize: |numbers, out| {
        let (low, high) = range(numbers);
        let scale = put_half((high - low) / 255.0, out);
        let low = put_half(low, out);
        let inverse = inverse(scale);
        out.extend(numbers.iter().map(|number| step((number - low) * inverse, 255)));
    },
    dequantize: |block| block[4..].iter().map(|&q| half(block, 0) * f64::from(q) + half(block, 2)).collect(),
};

pub(super) const Q4_0: Definition = Definition {
    name: "q4_0",
    tensor_type: TensorType::Q4_0,
    file_type: 2,
    narrow: &[(0, Half(1.0 / 8.0))],
    tile_offset: in_order,
    rounding: 1.1 / 8.0,
    quantize: symmetric::<4>,
    dequantize: |block| nibbles(&block[2..]).map(|q| half(block, 0) * (q - 8.0)).collect(),
};

pub(super) const Q4_1: Definition = Definition {
    name: "q4_1",
    tensor_type: TensorType::Q4_1,
    file_type: 3,
    narrow: &[(0, Half(1.0 / 8.0)), (2, Half(-1.0))],
    tile_offset: in_order,
    rounding: 1.1 / 15.0,
    quantize: with_minimum::<4>,
    dequantize: |block| nibbles(&block[4..]).map(|q| half(block, 0) * q + half(block, 2)).collect(),
};

pub(super) const Q5_0: Definition = Definition {
    name: "q5_0",
    tensor_type: TensorType::Q5_0,
    file_type: 8,
    narrow: &[(0, Half(1.0 / 16.0))],
    tile_offset: in_order,
    rounding: 1.1 / 16.0,
    quantize: symmetric::<5>,
    dequantize: |block| {
        let high = fifth_bits(&block[2..6]);
        nibbles(&block[6..]).zip(high).map(|(q, high)| half(block, 0) * (q + high - 16.0)).collect()
    },
};

pub(super) const Q5_1: Definition = Definition {
    name: "q5_1",
    tensor_type: TensorType::Q5_1,
    file_type: 9,
    narrow: &[(0, Half(1.0 / 16.0)), (2, Half(-1.0))],
    tile_offset: in_order,
    rounding: 1.1 / 31.0,
    quantize: with_minimum::<5>,
    dequantize: |block| {
        let high = fifth_bits(&block[4..8]);
        nibbles(&block[8..]).zip(high).map(|(q, high)| half(block, 0) * (q + high) + half(block, 2)).collect()
    },
};

/// Steps around 0. The number farthest from 0 is exact: it gets the side that has one more step.
fn symmetric<const BITS: u32>(numbers: &[f32], out: &mut Vec<u8>) {
    let middle = 1u8 << (BITS - 1);
    let scale = put_half(-extreme(numbers) / f32::from(middle), out);
    let inverse = inverse(scale);
    put_steps::<BITS>(numbers, |number| step(number * inverse + f32::from(middle), 2 * middle - 1), out);
}

/// Steps upwards from the smallest number.
fn with_minimum<const BITS: u32>(numbers: &[f32], out: &mut Vec<u8>) {
    let max = (1u8 << BITS) - 1;
    let (low, high) = range(numbers);
    let scale = put_half((high - low) / f32::from(max), out);
    let low = put_half(low, out);
    let inverse = inverse(scale);
    put_steps::<BITS>(numbers, |number| step((number - low) * inverse, max), out);
}

/// Appends 32 steps: their fifth bits, if they have one, then the first 16 in the low nibbles and the last 16 in the
/// high ones.
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

/// Nibbles of 16 bytes: all low ones, then all high ones.
fn nibbles(bytes: &[u8]) -> impl Iterator<Item = f64> {
    let low = bytes.iter().map(|byte| f64::from(byte & 15));
    low.chain(bytes.iter().map(|byte| f64::from(byte >> 4)))
}

/// Fifth bit of each number, as 0 or 16; the lowest bit of the first byte comes first.
fn fifth_bits(bytes: &[u8]) -> impl Iterator<Item = f64> {
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| f64::from(byte >> bit & 1) * 16.0))
}
