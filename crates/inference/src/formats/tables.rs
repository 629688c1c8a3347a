//! MXFP4: blocks of 32 floats of 4 bits (E2M1) with a scale that is a power of two (E8M0).

use super::definition::Narrow::Exponent;
use super::definition::{Definition, in_order};
use super::rounding::extreme;
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
        let low = block[1..].iter().map(|byte| byte & 15);
        low.chain(block[1..].iter().map(|byte| byte >> 4)).map(|q| VALUES[usize::from(q)] * scale.exp2()).collect()
    },
};

/// The numbers of E2M1, doubled: then they are integers.
const VALUES: [f64; 16] = [0., 1., 2., 3., 4., 6., 8., 12., -0., -1., -2., -3., -4., -6., -8., -12.];

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
    out.extend((0..16).map(|i| nearest(numbers[i]) | nearest(numbers[i + 16]) << 4));
}
