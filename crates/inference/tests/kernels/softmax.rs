//! `softmax.metal`

use crate::compare::{ErrorBound, assert_close, repeated};
use crate::device::{rejected, run, run_rows};
use crate::random::Random;
use crate::tensor::{Tensor, Type};
use metalworks_inference::formats::Activation;
use metalworks_inference::metal::operations::{Softmax, softmax};

fn reference(x: &[f64], n: usize, scale: f64) -> Vec<f64> {
    let rows = x.chunks(n).map(|row| {
        let largest = row.iter().fold(f64::NEG_INFINITY, |largest, value| largest.max(value * scale));
        let weights: Vec<f64> = row.iter().map(|value| (value * scale - largest).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(move |weight| weight / sum)
    });
    rows.flatten().collect()
}

fn check(simdgroups: usize, what: &str, values: &[f64], rows: usize, n: usize, scale: f32, activation: Activation) {
    let what = format!("softmax {activation} {rows}×{n} {what} by {simdgroups}");
    let x = Tensor::new(activation, values);
    let y = repeated(&what, Tensor::contents, || {
        let y = Tensor::poisoned(activation, rows * n);
        let op = Softmax { x: x.slice(), y: y.slice(), rows, n, scale, activation };
        run_rows(simdgroups, |encoding| softmax(encoding, op));
        y
    });
    let expected = reference(&x.numbers(), n, f64::from(scale));
    assert_close(&what, &y.numbers(), &expected, ErrorBound::of(activation));
}

#[test]
fn rows_of_all_lengths() {
    for activation in Activation::ALL {
        for (rows, n, simdgroups) in
            [(1, 1, 1), (3, 2, 2), (2, 31, 1), (5, 32, 3), (2, 33, 1), (2, 1000, 1), (2, 1000, 8), (1, 4097, 1)]
        {
            let values = Random::new(n as u64).normals(rows * n);
            check(simdgroups, "random", &values, rows, n, 1.7, activation);
        }
    }
}

#[test]
fn ascending_descending_and_extreme_rows() {
    let n = 300;
    let rising: Vec<f64> = (0..n).map(|i| i as f64 / 10.0).collect();
    let falling: Vec<f64> = rising.iter().rev().copied().collect();
    let far: Vec<f64> = (0..n).map(|i| if i % 7 == 3 { 30000.0 } else { -30000.0 }).collect();
    for activation in Activation::ALL {
        check(1, "rising", &rising, 1, n, 1.0, activation);
        check(1, "falling", &falling, 1, n, 1.0, activation);
        check(1, "far apart", &far, 1, n, 1.0, activation);
        check(1, "negative scale", &rising, 1, n, -0.5, activation);
    }
}

#[test]
fn masked_numbers_are_zero() {
    for activation in Activation::ALL {
        let mut values = Random::new(5).normals(100);
        values[..40].fill(f64::NEG_INFINITY);
        values[99] = f64::NEG_INFINITY;
        check(1, "masked", &values, 1, 100, 0.3, activation);
        check(4, "masked", &values, 1, 100, 0.3, activation);
        let x = Tensor::new(activation, &[f64::NEG_INFINITY; 33]);
        let op = Softmax { x: x.slice(), y: x.slice(), rows: 1, n: 33, scale: 1.0, activation };
        run(|encoding| softmax(encoding, op));
        assert_eq!(x.numbers(), [0.0; 33], "all masked, in place");
    }
}

#[test]
fn no_elements_encode_nothing_and_short_buffers_are_rejected() {
    let x = Tensor::new(Type::F32, &[1.0; 6]);
    let op = |rows, n| Softmax { x: x.slice(), y: x.slice(), rows, n, scale: 1.0, activation: Activation::F32 };
    run(|encoding| softmax(encoding, op(0, 3)));
    assert_eq!(x.numbers(), [1.0; 6]);
    let message = rejected(|encoding| softmax(encoding, op(2, 4)));
    assert_eq!(message, "softmax: x has 24 bytes, but 2 × 4 elements of 4 bytes are needed");
    assert!(rejected(|encoding| softmax(encoding, op(2, 0))).contains("n is 0"));
}
