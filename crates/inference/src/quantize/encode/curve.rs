//! IQ4_NL and IQ4_XS: steps on a curve, with a searched scale.

use super::{extreme, inverse, nearest, put_half, put_nibbles};

const CURVE: [f32; 16] =
    [-127.0, -104.0, -83.0, -65.0, -49.0, -35.0, -22.0, -10.0, 1.0, 13.0, 25.0, 38.0, 53.0, 69.0, 89.0, 113.0];

/// Candidates to both sides of the scale that makes the number farthest from 0 exact.
const CANDIDATES: i32 = 7;

/// The step nearest to a number; of two, the higher.
fn nearest_step(number: f32) -> u8 {
    if number <= CURVE[0] {
        return 0;
    }
    let above = CURVE.iter().position(|&value| number < value).unwrap_or(15);
    if number - CURVE[above - 1] < CURVE[above] - number { above as u8 - 1 } else { above as u8 }
}

/// The scale for 32 numbers, with weights that are their squares.
fn search(numbers: &[f32]) -> f32 {
    let (most, distance) = extreme(numbers);
    if distance < 1e-15 {
        return 0.0;
    }
    let sums = |inverse: f32| {
        numbers.iter().fold((0.0f32, 0.0f32), |(products, squares), &number| {
            let (value, weight) = (CURVE[usize::from(nearest_step(inverse * number))], number * number);
            (products + weight * value * number, squares + weight * value * value)
        })
    };
    let (products, squares) = sums(1.0 / (-most / CURVE[0]));
    let mut scale = if squares > 0.0 { products / squares } else { 0.0 };
    let mut best = scale * products;
    for candidate in -CANDIDATES..=CANDIDATES {
        let (products, squares) = sums((candidate as f32 + CURVE[0]) / most);
        if squares > 0.0 && products * products > best * squares {
            scale = products / squares;
            best = scale * products;
        }
    }
    scale
}

fn put_steps(numbers: &[f32], inverse: f32, out: &mut Vec<u8>) {
    let mut steps = [0u8; 32];
    steps.iter_mut().zip(numbers).for_each(|(step, number)| *step = nearest_step(inverse * number));
    put_nibbles(&steps, out);
}

pub(super) fn iq4_nl(numbers: &[f32], out: &mut Vec<u8>) {
    let scale = search(numbers);
    put_half(scale, out);
    put_steps(numbers, inverse(scale), out);
}

/// Scales of the groups are in units of the largest, with 6 bits.
pub(super) fn iq4_xs(numbers: &[f32], out: &mut Vec<u8>) {
    let mut scales = [0f32; 8];
    scales.iter_mut().zip(numbers.chunks_exact(32)).for_each(|(scale, numbers)| *scale = search(numbers));
    let unit = -extreme(&scales).0 / 32.0;
    put_half(unit, out);
    let steps = scales.map(|scale| nearest(inverse(unit) * scale).clamp(-32, 31));
    let stored = steps.map(|step| (step + 32) as u8);
    let high = stored.iter().rev().fold(0u16, |bits, step| bits << 2 | u16::from(step >> 4));
    out.extend(high.to_le_bytes());
    out.extend(stored.chunks_exact(2).map(|pair| pair[0] & 15 | pair[1] << 4));
    for (&step, numbers) in steps.iter().zip(numbers.chunks_exact(32)) {
        put_steps(numbers, inverse(unit * step as f32), out);
    }
}
