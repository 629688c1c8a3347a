//! Q2_K and Q3_K: blocks of 256 numbers in 16 groups of 16, with quantized scales.

use super::definition::Definition;
use super::definition::Narrow::Half;
use super::rounding::{extreme, half, inverse, put_half, range, step};
use crate::weights::TensorType;

pub(super) const Q2_K: Definition = Definition {
    name: "q2_K",
    tensor_type: TensorType::Q2_K,
    file_type: 10,
    narrow: &[(80, Half(1.0 / 24.0)), (82, Half(1.0 / 12.0))],
    // The block's scales come first: they are read first.
    tile_offset: |offset| if offset < 80 { offset + 4 } else { offset - 80 },
    rounding: 1.5 / 3.0,
    quantize: quantize_q2_k,
    dequantize: |block| {
        let scale = |group: usize| half(block, 80) * f64::from(block[group] & 15);
        let minimum = |group: usize| half(block, 82) * f64::from(block[group] >> 4);
        (0..256).map(|k| scale(k / 16) * f64::from(two_bits(&block[16..], k)) - minimum(k / 16)).collect()
    },
};

pub(super) const Q3_K: Definition = Definition {
    name: "q3_K",
    tensor_type: TensorType::Q3_K,
    file_type: 11,
    narrow: &[(108, Half(1.0 / 64.0))],
    // Likewise: the block's scale, those of the groups, then twelve bytes for each four columns of all quarters.
    tile_offset: |offset| match offset {
        0..32 => 14 + 3 * offset,
        32..96 => 18 + 3 * (offset % 32) + offset / 64 * 4,
        96..108 => offset - 94,
        _ => 0,
    },
    rounding: 1.5 / 4.0,
    quantize: quantize_q3_k,
    dequantize: |block| {
        let number = |k: usize| {
            let high = block[k % 32] >> (k / 32) & 1;
            let q = i32::from(two_bits(&block[32..], k) | high << 2) - 4;
            half(block, 108) * f64::from(q3_k_scale(block, k / 16)) * f64::from(q)
        };
        (0..256).map(number).collect()
    },
};

/// Two bits of number `k`: of every 128 numbers, a byte has one of each 32.
fn two_bits(bytes: &[u8], k: usize) -> u8 {
    bytes[k / 128 * 32 + k % 32] >> (k % 128 / 32 * 2) & 3
}

/// Appends two bits of each number.
fn put_two_bits(steps: &[u8; 256], out: &mut Vec<u8>) {
    for half in steps.chunks_exact(128) {
        out.extend(
            (0..32).map(|i| (0..4).fold(0, |bits, quarter| bits | (half[quarter * 32 + i] & 3) << (2 * quarter))),
        );
    }
}

/// Scale of a group of Q3_K: four low bits in a nibble, two high bits in the last four bytes.
fn q3_k_scale(block: &[u8], group: usize) -> i32 {
    let packed = &block[96..108];
    let low = packed[group % 8] >> (group / 8 * 4) & 15;
    let high = packed[8 + group % 4] >> (group / 4 * 2) & 3;
    i32::from(low | high << 4) - 32
}

/// Scales and minima of 4 bits; minima are 0 or below.
fn quantize_q2_k(numbers: &[f32], out: &mut Vec<u8>) {
    let (mut scales, mut minima) = ([0f32; 16], [0f32; 16]);
    for (group, numbers) in numbers.chunks_exact(16).enumerate() {
        let (low, high) = range(numbers);
        minima[group] = -low.min(0.0);
        scales[group] = (high + minima[group]).max(0.0) / 3.0;
    }
    let mut tail = Vec::with_capacity(4);
    let scale = put_half(extreme(&scales) / 15.0, &mut tail);
    let minimum = put_half(extreme(&minima) / 15.0, &mut tail);
    let mut steps = [0u8; 256];
    for (group, (to, numbers)) in steps.chunks_exact_mut(16).zip(numbers.chunks_exact(16)).enumerate() {
        let scale_step = step(scales[group] * inverse(scale), 15);
        let minimum_step = step(minima[group] * inverse(minimum), 15);
        out.push(scale_step | minimum_step << 4);
        let inverse = inverse(scale * f32::from(scale_step));
        let low = minimum * f32::from(minimum_step);
        for (to, number) in to.iter_mut().zip(numbers) {
            *to = step((number + low) * inverse, 3);
        }
    }
    put_two_bits(&steps, out);
    out.extend(tail);
}

/// Steps around 0; scales of 6 bits.
fn quantize_q3_k(numbers: &[f32], out: &mut Vec<u8>) {
    let mut scales = [0f32; 16];
    for (scale, numbers) in scales.iter_mut().zip(numbers.chunks_exact(16)) {
        *scale = -extreme(numbers) / 4.0;
    }
    let mut tail = Vec::with_capacity(2);
    let scale = put_half(extreme(&scales) / -32.0, &mut tail);
    let mut packed = [0u8; 12];
    let mut steps = [0u8; 256];
    for (group, (to, numbers)) in steps.chunks_exact_mut(16).zip(numbers.chunks_exact(16)).enumerate() {
        let scale_step = (scales[group] * inverse(scale)).round().clamp(-32.0, 31.0);
        let stored = (scale_step + 32.0) as u8;
        packed[group % 8] |= (stored & 15) << (group / 8 * 4);
        packed[8 + group % 4] |= stored >> 4 << (group / 4 * 2);
        let inverse = inverse(scale * scale_step);
        for (to, number) in to.iter_mut().zip(numbers) {
            *to = step(number * inverse + 4.0, 7);
        }
    }
    out.extend((0..32).map(|i| (0..8).fold(0, |bits, part| bits | steps[part * 32 + i] >> 2 << part)));
    put_two_bits(&steps, out);
    out.extend(packed);
    out.extend(tail);
}
