//! Q4_K, Q5_K and Q6_K: blocks of 256 numbers in groups, with quantized scales.

use super::definition::Narrow::Half;
use super::definition::{Definition, in_order};
use super::rounding::{extreme, half, inverse, put_half, range, step};
use crate::weights::TensorType;

pub(super) const Q4_K: Definition = Definition {
    name: "q4_K",
    tensor_type: TensorType::Q4_K,
    file_type: 14,
    narrow: &[(0, Half(1.0 / 400.0)), (2, Half(1.0 / 50.0))],
    tile_offset: in_order,
    rounding: 2.0 / 15.0,
    quantize: with_minima::<4>,
    dequantize: |block| groups_of_32(block, &block[16..], None),
};

pub(super) const Q5_K: Definition = Definition {
    name: "q5_K",
    tensor_type: TensorType::Q5_K,
    file_type: 16,
    narrow: &[(0, Half(1.0 / 800.0)), (2, Half(1.0 / 50.0))],
    // Twenty bytes for each four columns of all groups: see `q5_K` in `include/quantize.metal`.
    tile_offset: |offset| match offset {
        0..16 => offset,
        16..48 => 16 + 5 * (offset - 16),
        _ => 20 + 5 * ((offset - 48) % 32) + (offset - 48) / 32 * 4,
    },
    rounding: 2.0 / 31.0,
    quantize: with_minima::<5>,
    dequantize: |block| groups_of_32(block, &block[48..], Some(&block[16..48])),
};

pub(super) const Q6_K: Definition = Definition {
    name: "q6_K",
    tensor_type: TensorType::Q6_K,
    file_type: 18,
    narrow: &[(208, Half(1.0 / 2048.0))],
    tile_offset: q6_k_tile_offset,
    rounding: 1.5 / 32.0,
    quantize: quantize_q6_k,
    dequantize: dequantize_q6_k,
};

/// Largest scale and minimum of a group: 6 bits.
const MAX: f32 = 63.0;

/// Q4_K and Q5_K: eight groups of 32, each with a scale and a minimum that is 0 or below.
fn with_minima<const BITS: u32>(numbers: &[f32], out: &mut Vec<u8>) {
    let max = (1u8 << BITS) - 1;
    let (mut scales, mut minima) = ([0f32; 8], [0f32; 8]);
    for (group, numbers) in numbers.chunks_exact(32).enumerate() {
        let (low, high) = range(numbers);
        minima[group] = -low.min(0.0);
        scales[group] = (high + minima[group]).max(0.0) / f32::from(max);
    }
    let scale = put_half(extreme(&scales) / MAX, out);
    let minimum = put_half(extreme(&minima) / MAX, out);
    let (scale_steps, minimum_steps) = (to_steps(scales, scale), to_steps(minima, minimum));
    out.extend(packed(scale_steps, minimum_steps));

    let mut steps = [0u8; 256];
    for (group, (to, numbers)) in steps.chunks_exact_mut(32).zip(numbers.chunks_exact(32)).enumerate() {
        let inverse = inverse(scale * f32::from(scale_steps[group]));
        let low = minimum * f32::from(minimum_steps[group]);
        for (to, number) in to.iter_mut().zip(numbers) {
            *to = step((number + low) * inverse, max);
        }
    }
    if BITS == 5 {
        out.extend((0..32).map(|i| (0..8).fold(0, |bits, group| bits | steps[group * 32 + i] >> 4 << group)));
    }
    for pair in steps.chunks_exact(64) {
        out.extend((0..32).map(|i| pair[i] & 15 | pair[i + 32] << 4));
    }
}

fn to_steps(values: [f32; 8], scale: f32) -> [u8; 8] {
    values.map(|value| step(value * inverse(scale), 63))
}

/// Packs eight pairs of 6 bits into 12 bytes: the first four pairs are whole, with the high bits of the last four above
/// them.
fn packed(scales: [u8; 8], minima: [u8; 8]) -> [u8; 12] {
    let mut packed = [0; 12];
    for group in 0..4 {
        packed[group] = scales[group] | scales[group + 4] >> 4 << 6;
        packed[group + 4] = minima[group] | minima[group + 4] >> 4 << 6;
        packed[group + 8] = scales[group + 4] & 15 | (minima[group + 4] & 15) << 4;
    }
    packed
}

/// 16 groups of 16, steps around 0.
fn quantize_q6_k(numbers: &[f32], out: &mut Vec<u8>) {
    let mut scales = [0f32; 16];
    for (scale, numbers) in scales.iter_mut().zip(numbers.chunks_exact(16)) {
        *scale = -extreme(numbers) / 32.0;
    }
    let mut head = Vec::with_capacity(2);
    let scale = put_half(extreme(&scales) / -128.0, &mut head);
    let scale_steps = scales.map(|value| (value * inverse(scale)).round().clamp(-128.0, 127.0) as i8);

    let mut steps = [0u8; 256];
    for (group, (to, numbers)) in steps.chunks_exact_mut(16).zip(numbers.chunks_exact(16)).enumerate() {
        let inverse = inverse(scale * f32::from(scale_steps[group]));
        for (to, number) in to.iter_mut().zip(numbers) {
            *to = step(number * inverse + 32.0, 63);
        }
    }
    for half in steps.chunks_exact(128) {
        out.extend((0..64).map(|i| half[i] & 15 | half[i + 64] << 4));
    }
    for half in steps.chunks_exact(128) {
        out.extend(
            (0..32).map(|i| (0..4).fold(0, |bits, quarter| bits | half[quarter * 32 + i] >> 4 << (2 * quarter))),
        );
    }
    out.extend(scale_steps.map(|step| step as u8));
    out.extend(head);
}

/// Q4_K and Q5_K: a scale and a minimum for each of eight groups of 32.
fn groups_of_32(block: &[u8], low: &[u8], high: Option<&[u8]>) -> Vec<f64> {
    let packed = &block[4..16];
    let mut numbers = Vec::new();
    for group in 0..8 {
        let (scale, minimum) = match group {
            0..4 => (packed[group] & 63, packed[group + 4] & 63),
            _ => (
                packed[group + 4] & 15 | packed[group - 4] >> 6 << 4,
                packed[group + 4] >> 4 | packed[group] >> 6 << 4,
            ),
        };
        for i in 0..32 {
            let byte = low[group / 2 * 32 + i];
            let low = if group % 2 == 0 { byte & 15 } else { byte >> 4 };
            let high = high.map_or(0, |high| high[i] >> group & 1);
            let q = f64::from(low | high << 4);
            numbers.push(half(block, 0) * f64::from(scale) * q - half(block, 2) * f64::from(minimum));
        }
    }
    numbers
}

fn dequantize_q6_k(block: &[u8]) -> Vec<f64> {
    let (low, high, scales) = (&block[..128], &block[128..192], &block[192..208]);
    let mut numbers = Vec::new();
    for half_block in 0..2 {
        let (low, high) = (&low[half_block * 64..], &high[half_block * 32..]);
        for quarter in 0..4 {
            for i in 0..32 {
                let byte = low[quarter % 2 * 32 + i];
                let nibble = if quarter < 2 { byte & 15 } else { byte >> 4 };
                let q = i32::from(nibble | (high[i] >> (2 * quarter) & 3) << 4) - 32;
                let scale = scales[half_block * 8 + quarter * 2 + i / 16] as i8;
                numbers.push(half(block, 208) * f64::from(scale) * f64::from(q));
            }
        }
    }
    numbers
}

/// Scales first, then twelve bytes for each four columns of all quarters of a half: see `q6_K` in
/// `include/quantize.metal`.
fn q6_k_tile_offset(offset: usize) -> usize {
    let columns = |half: usize, column: usize| 18 + 12 * (8 * half + column / 4);
    match offset {
        0..128 => columns(offset / 64, offset % 32) + offset % 64 / 32 * 4,
        128..192 => columns((offset - 128) / 32, offset % 32) + 8,
        192..208 => 2 + (offset - 192),
        _ => 0,
    }
}
