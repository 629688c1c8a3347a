//! Formats of 4 bits whose steps are not equal.
//!
//! - MXFP4: floats (E2M1) in blocks of 32, with a scale that is a power of two (E8M0);
//! - IQ4_NL: 16 values on a curve, in blocks of 32; IQ4_XS: the same in blocks of 256, with quantized scales.

use super::definition::Narrow::{Bits, Exponent, Half};
use super::definition::{Definition, in_order};
use super::rounding::{extreme, half, inverse, put_half};
use crate::weights::TensorType;

pub(super) const MXFP4: Definition = Definition {
    name: "mxfp4",
    tensor_type: TensorType::MXFP4,
    file_type: 38,
    narrow: &[(0, Exponent(1.0 / 16.0))],
    tile_offset: in_order,
    rounding: 1.0 / 4.0,
    quantize: quantize_mxfp4,
    dequantize: |block| {
        let scale = f64::from(block[0]) - 128.0;
        nibbles(&block[1..]).map(|q| VALUES[q] * scale.exp2()).collect()
    },
};

/// The numbers of E2M1, doubled: then they are integers.
const VALUES: [f64; 16] = [0., 1., 2., 3., 4., 6., 8., 12., 0., -1., -2., -3., -4., -6., -8., -12.];

/// The number farthest from 0 gets the exponent of the largest number of E2M1; others are rounded to the nearest number,
/// as the specification of OCP has it.
fn quantize_mxfp4(numbers: &[f32], out: &mut Vec<u8>) {
    let largest = extreme(numbers).abs();
    // In f32, as llama.cpp does: just below a power of two, the logarithm is rounded up to it.
    let exponent = if largest > 0.0 { (f64::from(largest).log2() as f32).floor() - 2.0 + 127.0 } else { 0.0 } as u8;
    out.push(exponent);
    let scale = ((f64::from(exponent) - 128.0).exp2()) as f32;
    let nearest = |number: f32| {
        let error = |q: usize| (VALUES[q] as f32 * scale - number).abs();
        (1..16).fold(0, |best, q| if error(q) < error(best) { q } else { best }) as u8
    };
    put_nibbles(numbers, nearest, out);
}

pub(super) const IQ4_NL: Definition = Definition {
    name: "iq4_nl",
    tensor_type: TensorType::IQ4_NL,
    file_type: 25,
    narrow: &[(0, Half(1.0 / 128.0))],
    tile_offset: in_order,
    rounding: 16.0 / 127.0,
    quantize: |numbers, out| {
        let inverse = inverse(put_half(-extreme(numbers) / 127.0, out));
        put_nibbles(numbers, |number| nearest(number * inverse), out);
    },
    dequantize: |block| nibbles(&block[2..]).map(|q| half(block, 0) * CURVE[q]).collect(),
};

pub(super) const IQ4_XS: Definition = Definition {
    name: "iq4_xs",
    tensor_type: TensorType::IQ4_XS,
    file_type: 30,
    narrow: &[(0, Half(1.0 / 4096.0)), (2, Bits)],
    tile_offset: in_order,
    rounding: 22.0 / 127.0,
    quantize: quantize_iq4_xs,
    dequantize: |block| {
        let group = |g: usize| {
            let low = block[4 + g / 2] >> (g % 2 * 4) & 15;
            let high = u16::from_le_bytes([block[2], block[3]]) >> (2 * g) & 3;
            let scale = half(block, 0) * (f64::from(low) + 16.0 * f64::from(high) - 32.0);
            nibbles(&block[8 + 16 * g..][..16]).map(move |q| scale * CURVE[q])
        };
        (0..8).flat_map(group).collect()
    },
};

/// Steps of IQ4_NL and IQ4_XS, denser around 0, where most weights are.
const CURVE: [f64; 16] = [-127., -104., -83., -65., -49., -35., -22., -10., 1., 13., 25., 38., 53., 69., 89., 113.];

/// The step nearest to a number; NaN gives the first one.
fn nearest(number: f32) -> u8 {
    let distance = |q: u8| (CURVE[usize::from(q)] as f32 - number).abs();
    (1..16).fold(0, |best, q| if distance(q) < distance(best) { q } else { best })
}

/// Eight groups of 32 with scales of 6 bits.
fn quantize_iq4_xs(numbers: &[f32], out: &mut Vec<u8>) {
    let mut scales = [0f32; 8];
    for (scale, numbers) in scales.iter_mut().zip(numbers.chunks_exact(32)) {
        *scale = -extreme(numbers) / 127.0;
    }
    let scale = put_half(extreme(&scales) / -32.0, out);
    let steps = scales.map(|value| (value * inverse(scale)).round().clamp(-32.0, 31.0));
    let stored = steps.map(|step| (step + 32.0) as u8);
    let high = stored.iter().rev().fold(0u16, |bits, step| bits << 2 | u16::from(step >> 4));
    out.extend(high.to_le_bytes());
    out.extend(stored.chunks_exact(2).map(|pair| pair[0] & 15 | pair[1] << 4));
    for (step, numbers) in steps.iter().zip(numbers.chunks_exact(32)) {
        let inverse = inverse(scale * step);
        put_nibbles(numbers, |number| nearest(number * inverse), out);
    }
}

/// Appends 32 nibbles: the first 16 are the low ones.
fn put_nibbles(numbers: &[f32], nibble: impl Fn(f32) -> u8, out: &mut Vec<u8>) {
    out.extend((0..16).map(|i| nibble(numbers[i]) | nibble(numbers[i + 16]) << 4));
}

/// Nibbles of 16 bytes: all low ones, then all high ones.
fn nibbles(bytes: &[u8]) -> impl Iterator<Item = usize> {
    bytes.iter().map(|byte| usize::from(byte & 15)).chain(bytes.iter().map(|byte| usize::from(byte >> 4)))
}
