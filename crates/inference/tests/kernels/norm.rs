//! `norm.metal`

use crate::compare::{ErrorBound, assert_close, repeated};
use crate::device::{rejected, run, run_rows};
use crate::random::Random;
use crate::tensor::{Tensor, Type};
use metalworks_inference::formats::Activation;
use metalworks_inference::metal::operations::{
    AddRmsNorm, HeadRmsNorm, LayerNorm, RmsNorm, add_rms_norm, head_rms_norm, layer_norm, rms_norm,
};

/// Rows, their length (shorter than a simdgroup, odd, and as in models), and the simdgroups that share a row.
const SHAPES: [(usize, usize, usize); 8] =
    [(1, 1, 1), (3, 31, 2), (2, 32, 1), (9, 33, 3), (2, 576, 1), (1, 1000, 1), (2, 1000, 8), (1, 4100, 32)];

const EPSILON: f32 = 1e-5;

fn reference_rms_norm(x: &[f64], w: &[f64]) -> Vec<f64> {
    let rows = x.chunks(w.len()).map(|row| {
        let mean = row.iter().map(|value| value * value).sum::<f64>() / row.len() as f64;
        let factor = 1.0 / (mean + f64::from(EPSILON)).sqrt();
        row.iter().zip(w).map(move |(value, w)| value * factor * w)
    });
    rows.flatten().collect()
}

#[test]
fn rms_norms() {
    for activation in Activation::ALL {
        for (rows, dim, simdgroups) in SHAPES {
            let what = format!("rms_norm {activation} {rows}×{dim} by {simdgroups}");
            let mut random = Random::new(dim as u64);
            let x = Tensor::new(activation, &random.normals(rows * dim));
            let w = Tensor::new(Type::F32, &random.normals(dim));
            let y = repeated(&what, Tensor::contents, || {
                let y = Tensor::poisoned(activation, rows * dim);
                let op = RmsNorm {
                    x: x.slice(),
                    w: w.slice(),
                    y: y.slice(),
                    rows,
                    dim,
                    epsilon: EPSILON,
                    activation,
                    packed_y: false,
                };
                run_rows(simdgroups, |encoding| rms_norm(encoding, op));
                y
            });
            let expected = reference_rms_norm(&x.numbers(), &w.numbers());
            assert_close(&what, &y.numbers(), &expected, ErrorBound::of(activation));
        }
    }
}

#[test]
fn rms_norm_of_tiny_and_large_numbers_in_place() {
    for size in [1e-6, 1.0, 1e4] {
        let mut random = Random::new(7);
        let values: Vec<f64> = random.normals(100).into_iter().map(|value| value * size).collect();
        let x = Tensor::new(Type::F32, &values);
        let w = Tensor::new(Type::F32, &random.normals(50));
        let expected = reference_rms_norm(&x.numbers(), &w.numbers());
        let op = RmsNorm {
            x: x.slice(),
            w: w.slice(),
            y: x.slice(),
            rows: 2,
            dim: 50,
            epsilon: EPSILON,
            activation: Activation::F32,
            packed_y: false,
        };
        run(|encoding| rms_norm(encoding, op));
        assert_close(
            &format!("rms_norm of numbers like {size}"),
            &x.numbers(),
            &expected,
            ErrorBound::of(Activation::F32),
        );
    }
}

#[test]
fn layer_norms() {
    for activation in Activation::ALL {
        for (rows, dim, simdgroups) in SHAPES {
            let what = format!("layer_norm {activation} {rows}×{dim} by {simdgroups}");
            let mut random = Random::new(dim as u64);
            // The mean is large compared with the differences.
            let values: Vec<f64> = random.normals(rows * dim).into_iter().map(|value| value + 10.0).collect();
            let x = Tensor::new(activation, &values);
            let w = Tensor::new(Type::F32, &random.normals(dim));
            let b = Tensor::new(Type::F32, &random.normals(dim));
            let y = repeated(&what, Tensor::contents, || {
                let y = Tensor::poisoned(activation, rows * dim);
                let op = LayerNorm {
                    x: x.slice(),
                    w: w.slice(),
                    b: Some(b.slice()),
                    y: y.slice(),
                    rows,
                    dim,
                    epsilon: EPSILON,
                    activation,
                };
                run_rows(simdgroups, |encoding| layer_norm(encoding, op));
                y
            });
            let (x, w, b) = (x.numbers(), w.numbers(), b.numbers());
            let expected: Vec<f64> = x
                .chunks(dim)
                .flat_map(|row| {
                    let mean = row.iter().sum::<f64>() / dim as f64;
                    let variance = row.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / dim as f64;
                    let factor = 1.0 / (variance + f64::from(EPSILON)).sqrt();
                    let row = row.iter().zip(&w).zip(&b);
                    row.map(move |((value, w), b)| (value - mean) * factor * w + b)
                })
                .collect();
            assert_close(&what, &y.numbers(), &expected, ErrorBound::of(activation));
        }
    }
}

#[test]
fn adds_the_residual_and_normalizes() {
    for activation in Activation::ALL {
        for (rows, dim, simdgroups) in SHAPES {
            let what = format!("add_rms_norm {activation} {rows}×{dim} by {simdgroups}");
            let mut random = Random::new(dim as u64);
            let residual = random.normals(rows * dim);
            let x = Tensor::new(activation, &random.normals(rows * dim));
            let w = Tensor::new(Type::F32, &random.normals(dim));
            let before = Tensor::new(activation, &residual).numbers();
            let both = |(h, y): &(Tensor, Tensor)| [h.contents(), y.contents()].concat();
            let (h, y) = repeated(&what, both, || {
                let h = Tensor::new(activation, &residual);
                let y = Tensor::poisoned(activation, rows * dim);
                let op = AddRmsNorm {
                    h: h.slice(),
                    x: x.slice(),
                    w: w.slice(),
                    y: y.slice(),
                    rows,
                    dim,
                    epsilon: EPSILON,
                    activation,
                };
                run_rows(simdgroups, |encoding| add_rms_norm(encoding, op));
                (h, y)
            });
            let sums: Vec<f64> = before.iter().zip(x.numbers()).map(|(h, x)| h + x).collect();
            assert_close(&format!("{what}: h"), &h.numbers(), &sums, ErrorBound::of(activation));
            // The norm is that of the stored sum.
            let expected = reference_rms_norm(&h.numbers(), &w.numbers());
            assert_close(&what, &y.numbers(), &expected, ErrorBound::of(activation));
        }
    }
}

#[test]
fn norms_of_heads_leave_the_rest_of_a_row_alone() {
    // Rows, heads, numbers in a head, numbers after the heads.
    for (rows, heads, dim, rest) in [(1, 1, 64, 0), (3, 9, 64, 128), (2, 3, 80, 7), (7, 2, 33, 1)] {
        for activation in Activation::ALL {
            let what = format!("head_rms_norm {activation} {rows}×{heads}×{dim}+{rest}");
            let stride = heads * dim + rest;
            let mut random = Random::new(dim as u64);
            let values = random.normals(rows * stride);
            let w = Tensor::new(Type::F32, &random.normals(dim));
            let before = Tensor::new(activation, &values).numbers();
            let x = repeated(&what, Tensor::contents, || {
                let x = Tensor::new(activation, &values);
                let op = HeadRmsNorm {
                    x: x.slice(),
                    w: w.slice(),
                    rows,
                    heads,
                    head_dim: dim,
                    stride,
                    epsilon: EPSILON,
                    activation,
                };
                run(|encoding| head_rms_norm(encoding, op));
                x
            });
            let expected: Vec<f64> = before
                .chunks(stride)
                .flat_map(|row| {
                    let (heads, rest) = row.split_at(heads * dim);
                    [reference_rms_norm(heads, &w.numbers()), rest.to_vec()].concat()
                })
                .collect();
            assert_close(&what, &x.numbers(), &expected, ErrorBound::of(activation));
        }
    }
}

#[test]
fn no_rows_encode_nothing_and_short_buffers_are_rejected() {
    let x = Tensor::new(Type::F32, &[1.0; 12]);
    let y = Tensor::poisoned(Type::F32, 12);
    let op = |rows, dim| RmsNorm {
        x: x.slice(),
        w: x.slice(),
        y: y.slice(),
        rows,
        dim,
        epsilon: EPSILON,
        activation: Activation::F32,
        packed_y: false,
    };
    run(|encoding| rms_norm(encoding, op(0, 12)));
    assert!(y.numbers().iter().all(|value| value.is_nan()), "nothing was to be written");
    let message = rejected(|encoding| rms_norm(encoding, op(2, 7)));
    assert_eq!(message, "rms_norm: x has 48 bytes, but 2 × 7 elements of 4 bytes are needed");
    let message = rejected(|encoding| rms_norm(encoding, op(1, 0)));
    assert_eq!(message, "rms_norm: dim is 0: it must be between 1 and 2147483647");
    let message = rejected(|encoding| rms_norm(encoding, op(usize::MAX, 2)));
    assert!(message.contains("elements of 4 bytes are needed"), "{message}");
}
