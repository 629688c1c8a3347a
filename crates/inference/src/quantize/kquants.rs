//! Q4_K, Q5_K and Q6_K: blocks of 256 in groups, whose scales are quantized, too.

use super::{extreme, inverse, put_half, range, step};

/// The largest scale and minimum of a group: 6 bits.
const MAX: f32 = 63.0;

/// Q4_K and Q5_K: eight groups of 32, each with a scale and a minimum that is 0 or below.
pub(super) fn with_minima<const BITS: u32>(numbers: &[f32], out: &mut Vec<u8>) {
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

/// Eight pairs of 6 bits in 12 bytes: the first four of each whole, with the high bits of the last four above them.
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
pub(super) fn q6_k(numbers: &[f32], out: &mut Vec<u8>) {
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
