//! `gemv_float.metal`, `gemv_q8.metal`, `gemv_q4.metal`, `gemv_q5.metal`, `gemv_kquants.metal`

use crate::compare::{assert_close, repeated};
use crate::device::{rejected, run};
use crate::matrix::{Stored, bound, product};
use crate::random::Random;
use crate::tensor::{Tensor, Type};
use metalworks_inference::formats::{Activation, Format};
use metalworks_inference::metal::layout::Layout;
use metalworks_inference::metal::library::BufferSlice;
use metalworks_inference::metal::operations::*;

const LAYOUTS: [Layout; 2] = [Layout::Tiles, Layout::Blocks];

/// Rows, pieces of columns (blocks, or 32 numbers), vectors, batch, split, chunk: partial tiles and batches, partial
/// chunks, more simdgroups than chunks.
const SHAPES: [(usize, usize, usize, usize, usize, usize); 10] = [
    (1, 1, 1, 1, 1, 128),
    (32, 2, 1, 1, 1, 1024),
    (33, 9, 1, 1, 2, 128),
    (70, 3, 2, 2, 1, 128),
    (31, 2, 3, 4, 4, 64),
    (64, 9, 5, 8, 1, 128),
    (40, 1, 8, 8, 4, 32),
    (5, 3, 9, 8, 1, 96),
    (96, 10, 7, 2, 8, 64),
    (45, 5, 1, 1, 16, 32),
];

struct Case {
    what: String,
    format: Format,
    layout: Layout,
    activation: Activation,
    rows: usize,
    columns: usize,
    m: usize,
    variant: GemvVariant,
}

/// Every format in both layouts, cycling through the shapes.
fn cases(name: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for (number, format) in Format::ALL.into_iter().enumerate() {
        for (i, &(rows, pieces, m, batch, split, chunk)) in SHAPES.iter().enumerate() {
            let layout = LAYOUTS[(i + number) % 2];
            let activation = Activation::ALL[(i / 2 + number) % 2];
            let columns = pieces * format.block_len().max(32);
            let what = format!(
                "{name} {format} {layout:?} {activation} {rows}×{columns}, {m} by {batch}, split {split}, {chunk}"
            );
            let variant = GemvVariant { batch, split, chunk, pairs: false };
            cases.push(Case { what, format, layout, activation, rows, columns, m, variant });
        }
    }
    cases
}

#[test]
fn products_with_every_format() {
    for case in cases("gemv") {
        let Case { format, layout, activation, rows, columns, m, .. } = case;
        let mut random = Random::new((rows * columns) as u64);
        let w = Stored::random(format, layout, rows, columns, &mut random);
        let x = Tensor::new(activation, &random.normals(m * columns));
        let bias = (rows % 2 == 0).then(|| Tensor::new(Type::F32, &random.normals(rows)));
        let residual = (m > 1).then(|| Tensor::new(activation, &random.normals(m * rows)));
        let y = repeated(&case.what, Tensor::contents, || {
            let y = Tensor::poisoned(activation, m * rows);
            let op = Gemv {
                w: w.matrix(),
                x: x.slice(),
                y: y.slice(),
                bias: bias.as_ref().map(Tensor::slice),
                residual: residual.as_ref().map(Tensor::slice),
                m,
                activation,
                packed_x: false,
            };
            run(|encoding| gemv_with(encoding, op, case.variant));
            y
        });
        let mut expected = product(&w, &x.numbers());
        let bias = bias.map_or(vec![0.0; rows], |bias| bias.numbers());
        let residual = residual.map_or(vec![0.0; m * rows], |residual| residual.numbers());
        for (i, (expected, residual)) in expected.iter_mut().zip(residual).enumerate() {
            *expected += bias[i % rows] + residual;
        }
        assert_close(&case.what, &y.numbers(), &expected, bound(activation));
    }
}

#[test]
fn rows_of_plain_numbers_of_any_length() {
    for (format, activation) in
        [Format::F32, Format::F16, Format::BF16].into_iter().flat_map(|f| Activation::ALL.map(|a| (f, a)))
    {
        for (rows, columns, m) in [(1, 1, 1), (9, 31, 1), (8, 33, 2), (7, 77, 3), (33, 1000, 9)] {
            let what = format!("gemv rows {format} {activation} {rows}×{columns}, {m}");
            let mut random = Random::new(columns as u64);
            let w = Stored::random(format, Layout::preferred(format, columns), rows, columns, &mut random);
            assert_eq!(w.matrix().layout, Layout::Blocks);
            let x = Tensor::new(activation, &random.normals(m * columns));
            let y = repeated(&what, Tensor::contents, || {
                let y = Tensor::poisoned(activation, m * rows);
                let (x, y_slice) = (x.slice(), y.slice());
                let op = Gemv {
                    w: w.matrix(),
                    x,
                    y: y_slice,
                    bias: None,
                    residual: None,
                    m,
                    activation,
                    packed_x: false,
                };
                run(|encoding| gemv(encoding, op));
                y
            });
            assert_close(&what, &y.numbers(), &product(&w, &x.numbers()), bound(activation));
        }
    }
}

#[test]
fn residual_may_be_the_output() {
    let mut random = Random::new(5);
    let w = Stored::random(Format::Q4_1, Layout::Tiles, 45, 64, &mut random);
    let x = Tensor::new(Activation::F32, &random.normals(64));
    let before = random.normals(45);
    let y = Tensor::new(Activation::F32, &before);
    let (slice, activation) = (y.slice(), Activation::F32);
    let op = Gemv {
        w: w.matrix(),
        x: x.slice(),
        y: slice,
        bias: None,
        residual: Some(slice),
        m: 1,
        activation,
        packed_x: false,
    };
    run(|encoding| gemv(encoding, op));
    let expected: Vec<f64> = product(&w, &x.numbers()).iter().zip(before).map(|(a, b)| a + b).collect();
    assert_close("y += W x", &y.numbers(), &expected, bound(activation));
}

#[test]
fn gated_products_with_every_format() {
    for case in cases("gemv_gated") {
        let Case { format, layout, activation, rows, columns, m, .. } = case;
        let mut random = Random::new((rows + columns) as u64);
        let gate = Stored::random(format, layout, rows, columns, &mut random);
        let up = Stored::random(format, layout, rows, columns, &mut random);
        // Small, so that gates are neither closed nor fully open.
        let small: Vec<f64> = random.normals(m * columns).iter().map(|x| x / (columns as f64).sqrt()).collect();
        let x = Tensor::new(activation, &small);
        let y = repeated(&case.what, Tensor::contents, || {
            let y = Tensor::poisoned(activation, m * rows);
            let (gate, up) = (gate.matrix(), up.matrix());
            let op = GemvGated {
                gate,
                up,
                x: x.slice(),
                y: y.slice(),
                function: GateFunction::Silu,
                m,
                activation,
                packed_x: false,
                packed_y: false,
            };
            run(|encoding| gemv_gated_with(encoding, op, case.variant));
            y
        });
        let (gates, ups) = (product(&gate, &x.numbers()), product(&up, &x.numbers()));
        let expected: Vec<f64> = gates.iter().zip(ups).map(|(g, u)| g / (1.0 + (-g).exp()) * u).collect();
        assert_close(&case.what, &y.numbers(), &expected, bound(activation));
    }
}

#[test]
fn queries_keys_and_values_with_every_format() {
    for case in cases("gemv_qkv") {
        let Case { format, layout, activation, rows, columns, m, .. } = case;
        // Three query heads per KV head.
        let (q_rows, kv_rows) = (3 * rows, rows);
        let mut random = Random::new((rows * 7 + columns) as u64);
        let w = [q_rows, kv_rows, kv_rows].map(|n| Stored::random(format, layout, n, columns, &mut random));
        let x = Tensor::new(activation, &random.normals(m * columns));
        let biases =
            (rows % 2 == 1).then(|| [q_rows, kv_rows, kv_rows].map(|n| Tensor::new(Type::F32, &random.normals(n))));
        let all = |results: &[Tensor; 3]| results.iter().flat_map(Tensor::contents).collect();
        let results = repeated(&case.what, all, || {
            let [q, k, v] = [q_rows, kv_rows, kv_rows].map(|n| Tensor::poisoned(activation, m * n));
            let op = GemvQkv {
                wq: w[0].matrix(),
                wk: w[1].matrix(),
                wv: w[2].matrix(),
                x: x.slice(),
                q: q.slice(),
                k: k.slice(),
                v: v.slice(),
                biases: biases.as_ref().map(|biases| [&biases[0], &biases[1], &biases[2]].map(Tensor::slice)),
                m,
                activation,
                packed_x: false,
            };
            run(|encoding| gemv_qkv_with(encoding, op, case.variant));
            [q, k, v]
        });
        for (i, (result, w)) in results.iter().zip(&w).enumerate() {
            let mut expected = product(w, &x.numbers());
            if let Some(biases) = &biases {
                let bias = biases[i].numbers();
                expected
                    .chunks_mut(bias.len())
                    .for_each(|row| row.iter_mut().zip(&bias).for_each(|(y, b)| *y += b));
            }
            assert_close(&format!("{}, result {i}", case.what), &result.numbers(), &expected, bound(activation));
        }
    }
}

#[test]
fn rejects_buffers_and_sizes_that_do_not_fit() {
    let mut random = Random::new(1);
    let w = Stored::random(Format::Q4_0, Layout::Tiles, 32, 64, &mut random);
    let x = Tensor::new(Type::F32, &[0.0; 64]);
    let y = Tensor::poisoned(Type::F32, 32);
    let activation = Activation::F32;
    let op = Gemv {
        w: w.matrix(),
        x: x.slice(),
        y: y.slice(),
        bias: None,
        residual: None,
        m: 1,
        activation,
        packed_x: false,
    };
    run(|encoding| gemv(encoding, Gemv { m: 0, ..op }));
    assert!(y.numbers().iter().all(|value| value.is_nan()), "nothing was to be written");
    let message = rejected(|encoding| gemv(encoding, Gemv { m: 2, ..op }));
    assert_eq!(message, "gemv: x has 256 bytes, but 2 × 64 elements of 4 bytes are needed");
    let mut short = op;
    short.w.rows = 33;
    let message = rejected(|encoding| gemv(encoding, short));
    assert_eq!(message, "gemv: w has 1152 bytes, but 33 × 64 of q4_0 are 2304");
    short.w.columns = 48;
    let message = rejected(|encoding| gemv(encoding, short));
    assert_eq!(message, "gemv: w: 48 columns are not whole blocks of q4_0, which have 32 numbers each");
    let message =
        rejected(|encoding| gemv_with(encoding, op, GemvVariant { batch: 8, split: 3, chunk: 64, pairs: false }));
    assert_eq!(message, "gemv: a batch of 8 split in 3 by chunks of 64 is not possible");
    let mut odd = op;
    odd.w.data = BufferSlice::new(op.w.data.buffer(), op.w.data.offset() + 2, op.w.data.len());
    let message = rejected(|encoding| gemv(encoding, odd));
    assert_eq!(message, "gemv: w begins at an address that is no multiple of 4");
    let other = Stored::random(Format::Q4_1, Layout::Tiles, 32, 64, &mut random);
    let (gate, up) = (w.matrix(), other.matrix());
    let gated = GemvGated {
        gate,
        up,
        x: x.slice(),
        y: y.slice(),
        function: GateFunction::Silu,
        m: 1,
        activation,
        packed_x: false,
        packed_y: false,
    };
    let message = rejected(|encoding| gemv_gated(encoding, gated));
    assert_eq!(message, "gemv_gated: up is 32 × 64 of q4_1 in Tiles, but must be 32 × 64 of q4_0 in Tiles");
}
