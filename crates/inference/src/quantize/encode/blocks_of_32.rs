//! Q8_0, Q4_0, Q4_1, Q5_0, Q5_1: the scale follows from the extremes, and is rounded after the numbers.

use super::{extreme, inverse, put_half, put_nibbles};

pub(super) fn q8_0(numbers: &[f32], out: &mut Vec<u8>) {
    let scale = extreme(numbers).1 / 127.0;
    put_half(scale, out);
    let inverse = inverse(scale);
    out.extend(numbers.iter().map(|number| (number * inverse).round() as i8 as u8));
}

/// Q4_0, Q5_0: the number farthest from 0 gets the side that has one more step.
pub(super) fn symmetric<const BITS: u32>(numbers: &[f32], out: &mut Vec<u8>) {
    let middle = (1u32 << (BITS - 1)) as f32;
    let scale = extreme(numbers).0 / -middle;
    put_half(scale, out);
    let inverse = inverse(scale);
    put_steps::<BITS>(numbers, |number| number * inverse + (middle + 0.5), out);
}

/// Q4_1, Q5_1: steps upwards from the smallest number.
pub(super) fn with_minimum<const BITS: u32>(numbers: &[f32], out: &mut Vec<u8>) {
    let low = numbers.iter().fold(f32::MAX, |low, &number| if number < low { number } else { low });
    let high = numbers.iter().fold(f32::MIN, |high, &number| if number > high { number } else { high });
    let scale = (high - low) / ((1u32 << BITS) - 1) as f32;
    put_half(scale, out);
    put_half(low, out);
    let inverse = inverse(scale);
    put_steps::<BITS>(numbers, |number| (number - low) * inverse + 0.5, out);
}

/// Appends 32 steps: their fifth bits, if they have one, then their nibbles.
fn put_steps<const BITS: u32>(numbers: &[f32], step: impl Fn(f32) -> f32, out: &mut Vec<u8>) {
    let mut steps = [0u8; 32];
    for (to, &number) in steps.iter_mut().zip(numbers) {
        *to = (step(number) as u8).min((1 << BITS) - 1);
    }
    if BITS == 5 {
        let fifth = steps.iter().enumerate().fold(0u32, |bits, (i, step)| bits | u32::from(step >> 4) << i);
        out.extend(fifth.to_le_bytes());
    }
    put_nibbles(&steps, out);
}
