//! Search for the scale of a group: each candidate scale gives steps, and the steps the scale that suits them best, by
//! weighted least squares.

use super::{extreme, nearest};

/// Groups below this are all 0.
const NOTHING: f32 = 1e-15;

/// Candidates for [`with_minimum`]: the first, their distance and number, as differences from the largest step.
pub(super) struct Candidates {
    pub(super) first: f32,
    pub(super) distance: f32,
    pub(super) last: u32,
    /// Errors are absolute, not square.
    pub(super) absolute: bool,
}

/// Scale and minimum (0 or below, returned with the other sign) for steps from 0 to `most`. Stores the steps.
pub(super) fn with_minimum(
    numbers: &[f32],
    weights: &[f32],
    most: u8,
    candidates: &Candidates,
    steps: &mut [u8],
) -> (f32, f32) {
    let (mut low, mut high) = (numbers[0], numbers[0]);
    let mut weight_sum = weights[0];
    let mut number_sum = weight_sum * numbers[0];
    for (&number, &weight) in numbers.iter().zip(weights).skip(1) {
        low = if number < low { number } else { low };
        high = if number > high { number } else { high };
        weight_sum += weight;
        number_sum += weight * number;
    }
    low = if low > 0.0 { 0.0 } else { low };
    if high == low {
        steps.fill(0);
        return (0.0, -low);
    }
    let (mut inverse, mut minimum) = (f32::from(most) / (high - low), low);
    let mut scale = 1.0 / inverse;
    let to_step = |number: f32, inverse: f32, minimum: f32| {
        nearest(inverse * (number - minimum)).clamp(0, i32::from(most)) as u8
    };
    let error = |scale: f32, minimum: f32, steps: &[u8]| {
        numbers.iter().zip(weights).zip(steps).fold(0.0, |sum, ((&number, &weight), &step)| {
            let difference = scale * f32::from(step) + minimum - number;
            sum + weight * if candidates.absolute { difference.abs() } else { difference * difference }
        })
    };
    for (step, &number) in steps.iter_mut().zip(numbers) {
        *step = to_step(number, inverse, minimum);
    }
    let mut least = error(scale, minimum, steps);
    let mut found = [0u8; 32];
    let found = &mut found[..numbers.len()];
    for candidate in 0..=candidates.last {
        let from_first = candidates.first + candidates.distance * candidate as f32;
        inverse = (from_first + f32::from(most)) / (high - minimum);
        let (mut steps_sum, mut squares, mut products) = (0.0f32, 0.0f32, 0.0f32);
        for ((to, &number), &weight) in found.iter_mut().zip(numbers).zip(weights) {
            *to = to_step(number, inverse, minimum);
            let step = f32::from(*to);
            steps_sum += weight * step;
            squares += weight * step * step;
            products += weight * step * number;
        }
        let determinant = weight_sum * squares - steps_sum * steps_sum;
        if determinant > 0.0 {
            let mut its_scale = (weight_sum * products - number_sum * steps_sum) / determinant;
            let mut its_minimum = (squares * number_sum - steps_sum * products) / determinant;
            if its_minimum > 0.0 {
                its_minimum = 0.0;
                its_scale = products / squares;
            }
            let its_error = error(its_scale, its_minimum, found);
            if its_error < least {
                steps.copy_from_slice(found);
                (least, scale, minimum) = (its_error, its_scale, its_minimum);
            }
        }
    }
    (scale, -minimum)
}

/// Scale for steps from -`middle` to `middle` - 1, with weights that are squares of the numbers. Stores the steps, plus
/// `middle`.
pub(super) fn symmetric(numbers: &[f32], middle: i32, steps: &mut [u8]) -> f32 {
    let (most, distance) = extreme(numbers);
    if distance < NOTHING {
        steps.fill(0);
        return 0.0;
    }
    let to_step = |number: f32, inverse: f32| nearest(inverse * number).clamp(-middle, middle - 1);
    let sums = |inverse: f32| {
        numbers.iter().fold((0.0f32, 0.0f32), |(products, squares), &number| {
            let (step, weight) = (to_step(number, inverse) as f32, number * number);
            (products + weight * number * step, squares + weight * step * step)
        })
    };
    let store = |inverse: f32, steps: &mut [u8]| {
        for (to, &number) in steps.iter_mut().zip(numbers) {
            *to = (to_step(number, inverse) + middle) as u8;
        }
    };
    let inverse = -(middle as f32) / most;
    let (products, squares) = sums(inverse);
    store(inverse, steps);
    let mut scale = if squares == 0.0 { 0.0 } else { products / squares };
    let mut best = scale * products;
    for candidate in (-9..=9).filter(|&candidate| candidate != 0) {
        let inverse = -(middle as f32 + 0.1 * candidate as f32) / most;
        let (products, squares) = sums(inverse);
        if squares > 0.0 && products * products > best * squares {
            store(inverse, steps);
            scale = products / squares;
            best = scale * products;
        }
    }
    scale
}

/// [`symmetric`] by another search: one step at a time is changed, as long as the error gets smaller.
pub(super) fn symmetric_by_steps(numbers: &[f32], middle: i32, steps: &mut [u8]) -> f32 {
    let (most, distance) = extreme(numbers);
    if distance < NOTHING {
        steps.fill(0);
        return 0.0;
    }
    let inverse = -(middle as f32) / most;
    let mut own = [0i32; 16];
    let (mut products, mut squares) = (0.0f32, 0.0f32);
    for (step, &number) in own.iter_mut().zip(numbers) {
        *step = nearest(inverse * number).clamp(-middle, middle - 1);
        let weight = number * number;
        products += weight * number * *step as f32;
        squares += weight * *step as f32 * *step as f32;
    }
    for _ in 0..5 {
        let mut is_changed = false;
        for (step, &number) in own.iter_mut().zip(numbers) {
            let weight = number * number;
            let mut other_products = products - weight * number * *step as f32;
            if other_products > 0.0 {
                let mut other_squares = squares - weight * *step as f32 * *step as f32;
                let other = nearest(number * other_squares / other_products).clamp(-middle, middle - 1);
                if other != *step {
                    other_products += weight * number * other as f32;
                    other_squares += weight * other as f32 * other as f32;
                    let is_better = other_products * other_products * squares > products * products * other_squares;
                    if other_squares > 0.0 && is_better {
                        (*step, products, squares) = (other, other_products, other_squares);
                        is_changed = true;
                    }
                }
            }
        }
        if !is_changed {
            break;
        }
    }
    for (to, step) in steps.iter_mut().zip(own) {
        *to = (step + middle) as u8;
    }
    if squares > 0.0 { products / squares } else { 0.0 }
}
