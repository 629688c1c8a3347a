//! Q2_K to Q6_K: a searched scale for each group, then scales in units of the largest, then steps by those.

use super::scales::{Candidates, symmetric, symmetric_by_steps, with_minimum};
use super::{nearest, put_half, put_nibbles};
use half::f16;

/// Scales in units of the largest: steps of the groups up to `most`, and the unit.
fn in_units<const GROUPS: usize>(values: &[f32; GROUPS], most: f32) -> ([u8; GROUPS], f32) {
    let largest = values.iter().fold(0.0f32, |largest, &value| if value > largest { value } else { largest });
    let inverse = if largest > 0.0 { most / largest } else { 0.0 };
    (values.map(|value| (nearest(inverse * value) as u8).min(most as u8)), largest / most)
}

/// Q4_K, Q5_K.
pub(super) fn with_minima<const BITS: u32>(numbers: &[f32], out: &mut Vec<u8>) {
    let most = (1u8 << BITS) - 1;
    let candidates = match BITS {
        4 => Candidates { first: -1.0, distance: 0.1, last: 20, absolute: false },
        _ => Candidates { first: -0.5, distance: 0.1, last: 15, absolute: false },
    };
    let mut steps = [0u8; 256];
    let (mut scales, mut minima) = ([0f32; 8], [0f32; 8]);
    for (group, (steps, numbers)) in steps.chunks_exact_mut(32).zip(numbers.chunks_exact(32)).enumerate() {
        let mean = (numbers.iter().fold(0.0f32, |sum, number| sum + number * number) / 32.0).sqrt();
        let mut weights = [0f32; 32];
        weights.iter_mut().zip(numbers).for_each(|(weight, number)| *weight = mean + number.abs());
        (scales[group], minima[group]) = with_minimum(numbers, &weights, most, &candidates, steps);
    }
    let (scale_steps, scale) = in_units(&scales, 63.0);
    let (minimum_steps, minimum) = in_units(&minima, 63.0);
    let (scale, minimum) = (put_half(scale, out), put_half(minimum, out));
    let mut packed = [0u8; 12];
    for group in 0..4 {
        packed[group] = scale_steps[group] | scale_steps[group + 4] >> 4 << 6;
        packed[group + 4] = minimum_steps[group] | minimum_steps[group + 4] >> 4 << 6;
        packed[group + 8] = scale_steps[group + 4] & 15 | (minimum_steps[group + 4] & 15) << 4;
    }
    out.extend(packed);
    for (group, (steps, numbers)) in steps.chunks_exact_mut(32).zip(numbers.chunks_exact(32)).enumerate() {
        let scale = scale * f32::from(scale_steps[group]);
        let minimum = minimum * f32::from(minimum_steps[group]);
        round(numbers, scale, minimum, 0..=i32::from(most), steps);
    }
    if BITS == 5 {
        out.extend((0..32).map(|i| (0..8).fold(0, |bits, group| bits | steps[group * 32 + i] >> 4 << group)));
    }
    steps.chunks_exact(64).for_each(|pair| put_nibbles(pair, out));
}

pub(super) fn q2_k(numbers: &[f32], out: &mut Vec<u8>) {
    let candidates = Candidates { first: -0.5, distance: 0.1, last: 15, absolute: true };
    let mut steps = [0u8; 256];
    let (mut scales, mut minima) = ([0f32; 16], [0f32; 16]);
    for (group, (steps, numbers)) in steps.chunks_exact_mut(16).zip(numbers.chunks_exact(16)).enumerate() {
        let mut weights = [0f32; 16];
        weights.iter_mut().zip(numbers).for_each(|(weight, number)| *weight = number.abs());
        (scales[group], minima[group]) = with_minimum(numbers, &weights, 3, &candidates, steps);
    }
    let (scale_steps, scale) = in_units(&scales, 15.0);
    let (minimum_steps, minimum) = in_units(&minima, 15.0);
    out.extend((0..16).map(|group| scale_steps[group] | minimum_steps[group] << 4));
    let mut tail = Vec::with_capacity(4);
    let (scale, minimum) = (put_half(scale, &mut tail), put_half(minimum, &mut tail));
    for (group, (steps, numbers)) in steps.chunks_exact_mut(16).zip(numbers.chunks_exact(16)).enumerate() {
        let scale = scale * f32::from(scale_steps[group]);
        round(numbers, scale, minimum * f32::from(minimum_steps[group]), 0..=3, steps);
    }
    put_two_bits(&steps, out);
    out.extend(tail);
}

pub(super) fn q3_k(numbers: &[f32], out: &mut Vec<u8>) {
    let mut steps = [0u8; 256];
    let mut scales = [0f32; 16];
    for (group, (steps, numbers)) in steps.chunks_exact_mut(16).zip(numbers.chunks_exact(16)).enumerate() {
        scales[group] = symmetric_by_steps(numbers, 4, steps);
    }
    let (largest, _) = super::extreme(&scales);
    let inverse = if largest == 0.0 { 0.0 } else { -32.0 / largest };
    let scale = f16::from_f32(if largest == 0.0 { 0.0 } else { 1.0 / inverse });
    let mut packed = [0u8; 12];
    for (group, (steps, numbers)) in steps.chunks_exact_mut(16).zip(numbers.chunks_exact(16)).enumerate() {
        // Without a scale, nothing is stored for the groups either.
        let scale_step = if largest == 0.0 { -32 } else { nearest(inverse * scales[group]).clamp(-32, 31) };
        let stored = (scale_step + 32) as u8;
        packed[group % 8] |= (stored & 15) << (group / 8 * 4);
        packed[8 + group % 4] |= stored >> 4 << (group / 4 * 2);
        round(numbers, scale.to_f32() * scale_step as f32, 0.0, -4..=3, steps);
    }
    out.extend((0..32).map(|i| (0..8).fold(0, |bits, part| bits | steps[part * 32 + i] >> 2 << part)));
    put_two_bits(&steps, out);
    out.extend(packed);
    out.extend(scale.to_le_bytes());
}

pub(super) fn q6_k(numbers: &[f32], out: &mut Vec<u8>) {
    let mut steps = [0u8; 256];
    let mut scales = [0f32; 16];
    for (group, (steps, numbers)) in steps.chunks_exact_mut(16).zip(numbers.chunks_exact(16)).enumerate() {
        scales[group] = symmetric(numbers, 32, steps);
    }
    let (largest, distance) = super::extreme(&scales);
    if distance < 1e-15 {
        return out.extend([0; 210]);
    }
    let inverse = -128.0 / largest;
    let scale = f16::from_f32(1.0 / inverse);
    let scale_steps = scales.map(|value| nearest(inverse * value).min(127) as i8);
    for (group, (steps, numbers)) in steps.chunks_exact_mut(16).zip(numbers.chunks_exact(16)).enumerate() {
        round(numbers, scale.to_f32() * f32::from(scale_steps[group]), 0.0, -32..=31, steps);
    }
    for half in steps.chunks_exact(128) {
        put_nibbles(half, out);
    }
    for half in steps.chunks_exact(128) {
        out.extend(
            (0..32).map(|i| (0..4).fold(0, |bits, quarter| bits | half[quarter * 32 + i] >> 4 << (2 * quarter))),
        );
    }
    out.extend(scale_steps.map(|step| step as u8));
    out.extend(scale.to_le_bytes());
}

/// Rounds numbers to steps in a range, stored from 0 on. With a scale of 0, the searched steps stay.
fn round(numbers: &[f32], scale: f32, minimum: f32, range: std::ops::RangeInclusive<i32>, steps: &mut [u8]) {
    if scale == 0.0 {
        return;
    }
    for (step, number) in steps.iter_mut().zip(numbers) {
        *step = (nearest((number + minimum) / scale).clamp(*range.start(), *range.end()) - range.start()) as u8;
    }
}

/// Appends the lower two bits of each step: of every 128, a byte has one of each 32.
fn put_two_bits(steps: &[u8; 256], out: &mut Vec<u8>) {
    for half in steps.chunks_exact(128) {
        out.extend(
            (0..32).map(|i| (0..4).fold(0, |bits, quarter| bits | (half[quarter * 32 + i] & 3) << (2 * quarter))),
        );
    }
}
