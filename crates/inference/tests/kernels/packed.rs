//! Packed activations, `pack.metal`, and the kernels that write and read them.

use crate::attention::filled;
use crate::compare::{assert_close, repeated};
use crate::device::{rejected, run, run_rows};
use crate::matrix::{Stored, bound, product};
use crate::random::Random;
use crate::tensor::{Tensor, Type};
use metalworks_inference::formats::{Activation, Format};
use metalworks_inference::metal::Tuning;
use metalworks_inference::metal::layout::Layout;
use metalworks_inference::metal::operations::*;

/// Packed vectors in a buffer, and their numbers.
struct Packed {
    tensor: Tensor,
    numbers: Vec<f64>,
}

fn packed(values: &[f64]) -> Packed {
    let values: Vec<f32> = values.iter().map(|value| *value as f32).collect();
    let blocks = PackedBlock::pack(&values);
    let numbers = blocks.iter().flat_map(PackedBlock::numbers).collect();
    Packed { tensor: Tensor::bytes(bytemuck::cast_slice(&blocks)), numbers }
}

/// Room for packed rows.
fn poisoned_rows(rows: usize, numbers: usize) -> Tensor {
    Tensor::poisoned(Type::Bytes, packed_bytes(rows, numbers).expect("it fits"))
}

fn blocks(tensor: &Tensor) -> Vec<PackedBlock> {
    tensor.contents().chunks_exact(PACKED_BYTES).map(bytemuck::pod_read_unaligned).collect()
}

/// Checks blocks by the numbers that they stand for. Rounding to eight bits is off by half a step of 1/127 of the largest
/// number at most; arithmetic in f32 may move a number from one side of a tie to the other.
#[track_caller]
fn assert_packed(what: &str, blocks: &[PackedBlock], expected: &[f64]) {
    assert_eq!(blocks.len() * PACKED_NUMBERS, expected.len(), "{what}");
    for (i, (block, expected)) in blocks.iter().zip(expected.chunks(PACKED_NUMBERS)).enumerate() {
        let largest = expected.iter().fold(0.0, |largest: f64, number| largest.max(number.abs()));
        let step = largest / 127.0;
        assert!(
            (f64::from(block.scale) - step).abs() <= 1e-5 * step,
            "{what}: block {i} has the scale {}",
            block.scale
        );
        for (k, (number, expected)) in block.numbers().into_iter().zip(expected).enumerate() {
            let allowed = step * 0.501;
            assert!(
                (number - expected).abs() <= allowed,
                "{what}: number {k} of block {i} is {number}, not {expected}"
            );
        }
        let sums = [0, 1].map(|half| block.q[16 * half..][..16].iter().map(|q| i32::from(*q)).sum::<i32>());
        assert_eq!(block.sums, sums, "{what}: block {i}");
        let sum = block.scale * (sums[0] + sums[1]) as f32;
        assert!((block.scaled_sum - sum).abs() <= 1e-6 * sum.abs(), "{what}: block {i}");
    }
}

#[test]
fn numbers_are_rounded_to_eight_bits() {
    for activation in Activation::ALL {
        for (count, size) in [(1, 1.0), (2, 1e-3), (9, 100.0), (70, 1.0)] {
            let what = format!("pack {activation}, {count} blocks of numbers like {size}");
            let mut values = Random::new(count as u64).normals(32 * count);
            values.iter_mut().for_each(|value| *value *= size);
            // A block of zeros, and one with a single number.
            if count > 8 {
                values[32..64].fill(0.0);
                values[65..96].fill(0.0);
            }
            let x = Tensor::new(activation, &values);
            let y = repeated(&what, Tensor::contents, || {
                let y = poisoned_rows(1, 32 * count);
                let op = Pack { x: x.slice(), y: y.slice(), n: 32 * count, activation };
                run(|encoding| pack(encoding, op));
                y
            });
            assert_packed(&what, &blocks(&y), &x.numbers());
        }
    }
}

#[test]
fn infinities_and_nan_spoil_their_block_alone() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 3e38] {
        let mut values = Random::new(3).normals(96);
        values[40] = bad;
        let x = Tensor::new(Type::F32, &values);
        let y = poisoned_rows(1, 96);
        let op = Pack { x: x.slice(), y: y.slice(), n: 96, activation: Activation::F32 };
        run(|encoding| pack(encoding, op));
        let blocks = blocks(&y);
        assert_packed("before", &blocks[..1], &x.numbers()[..32]);
        assert_packed("after", &blocks[2..], &x.numbers()[64..]);
        assert!(blocks[1].scale.is_nan() && blocks[1].q == [0; 32], "{bad}: {:?}", blocks[1]);
        // Products with it are NaN, as those of numbers with a NaN.
        for format in Format::QUANTIZED.into_iter().filter(|format| format.block_len() == 32) {
            let w = Stored::random(format, Layout::Tiles, 33, 96, &mut Random::new(4));
            let result = Tensor::poisoned(Type::F32, 33);
            let activation = Activation::F32;
            let (x, y) = (y.slice(), result.slice());
            let op = Gemv { w: w.matrix(), x, y, bias: None, residual: None, m: 1, activation, packed_x: true };
            run(|encoding| gemv(encoding, op));
            assert!(result.numbers().iter().all(|number| number.is_nan()), "{format}");
        }
    }
}

#[test]
fn tiny_and_huge_numbers_are_packed() {
    let tiny = Tensor::new(Type::F32, &[1e-38; 32]);
    let huge = Tensor::new(Type::F32, &[9e35; 32]);
    let y = poisoned_rows(1, 32);
    for (x, expected) in [(tiny, 0.0), (huge, 9e35)] {
        run(|encoding| pack(encoding, Pack { x: x.slice(), y: y.slice(), n: 32, activation: Activation::F32 }));
        for number in blocks(&y)[0].numbers() {
            assert!((number - expected).abs() <= 1e-6 * expected + 1e-37, "{number}");
        }
    }
}

#[test]
fn norms_are_packed() {
    for activation in Activation::ALL {
        for (rows, dim, simdgroups) in [(1, 32, 1), (3, 96, 1), (2, 576, 1), (2, 544, 4), (1, 64, 32)] {
            let what = format!("rms_norm packed {activation} {rows}×{dim} by {simdgroups}");
            let mut random = Random::new(dim as u64);
            let x = Tensor::new(activation, &random.normals(rows * dim));
            let w = Tensor::new(Type::F32, &random.normals(dim));
            let y = repeated(&what, Tensor::contents, || {
                let y = poisoned_rows(rows, dim);
                let (x, w, y_slice, epsilon) = (x.slice(), w.slice(), y.slice(), 1e-5);
                let op = RmsNorm { x, w, y: y_slice, rows, dim, epsilon, activation, packed_y: true };
                run_rows(simdgroups, |encoding| rms_norm(encoding, op));
                y
            });
            let (x, w) = (x.numbers(), w.numbers());
            let normalized = x.chunks(dim).flat_map(|row| {
                let mean = row.iter().map(|x| x * x).sum::<f64>() / dim as f64;
                row.iter().zip(&w).map(move |(x, w)| x / (mean + 1e-5).sqrt() * w)
            });
            assert_packed(&what, &blocks(&y), &normalized.collect::<Vec<f64>>());
        }
    }
}

#[test]
fn attention_is_packed() {
    let activation = Activation::F32;
    for (kv_heads, group, dim, length, parts, wide) in [
        (2, 2, 64, 45, 3, None),
        (1, 3, 64, 300, 40, Some(2)),
        (2, 4, 128, 700, 20, Some(4)),
        (1, 1, 96, 1, 1, None),
    ] {
        let heads = kv_heads * group;
        let mut random = Random::new((dim + length) as u64);
        let cache = filled(kv_heads, dim, length, Activation::F16, &mut random);
        let q = Tensor::new(activation, &random.normals(heads * dim));
        let shape = AttentionShape { heads, scale: 0.1, soft_cap: None, window: None };
        let decode = |y: Tensor, packed_y: bool| {
            let scratch = Tensor::poisoned(Type::Bytes, AttentionSplit::scratch_bytes(heads, dim, parts));
            let split = Some(AttentionSplit { count: parts, scratch: scratch.slice(), wide });
            let (q, cache, result) = (q.slice(), cache.cache(), y.slice());
            let op =
                AttentionDecode { q, cache, y: result, length, shape, sinks: None, split, activation, packed_y };
            run(|encoding| attention_decode(encoding, op));
            scratch.contents();
            y
        };
        let numbers = decode(Tensor::poisoned(activation, heads * dim), false).numbers();
        let what = format!("{heads}/{kv_heads} heads of {dim}, {length} positions in {parts} parts");
        assert_packed(&what, &blocks(&decode(poisoned_rows(heads, dim), true)), &numbers);
    }
}

/// Products with a norm between them, beside the same with a dispatch for the norm.
#[test]
fn norms_are_fused_into_products() {
    let activation = Activation::F32;
    for (format, m, width, hidden) in [
        (Format::Q4_0, 1, 96, 70),
        (Format::Q4_1, 3, 576, 33),
        (Format::Q8_0, 8, 64, 128),
        (Format::Q6_K, 2, 256, 40),
    ] {
        let what = format!("{format}, {m} vectors, {width} wide");
        let mut random = Random::new(width as u64);
        let mut stored = |rows, columns| Stored::random(format, Layout::Tiles, rows, columns, &mut random);
        let (first, gate, up, value) =
            (stored(width, 256), stored(hidden, width), stored(hidden, width), stored(32, width));
        let x = packed(&random.normals(m * 256));
        let residual = Tensor::new(activation, &random.normals(m * width));
        let w = Tensor::new(Type::F32, &random.normals(width));
        let compute = |tuning: Tuning, is_fused: bool| {
            let h = Tensor::poisoned(activation, m * width);
            let (normed, squares) = (poisoned_rows(m, width), Tensor::poisoned(Type::F32, m * width / 32));
            let y = Tensor::poisoned(activation, m * hidden);
            let [q, k, v] = [hidden, 32, 32].map(|rows| Tensor::poisoned(activation, m * rows));
            run(|encoding| {
                encoding.tuning = tuning;
                let (residual, x, h_slice, packed_x) = (Some(residual.slice()), x.tensor.slice(), h.slice(), true);
                let op = Gemv { w: first.matrix(), x, y: h_slice, bias: None, residual, m, activation, packed_x };
                let (x, packed, squares, epsilon) = (normed.slice(), normed.slice(), squares.slice(), 1e-5);
                if is_fused {
                    gemv_normed(encoding, op, NormedOutput { w: w.slice(), packed, squares })?;
                } else {
                    gemv(encoding, op)?;
                    let (rows, dim, w, packed_y) = (m, width, w.slice(), true);
                    rms_norm(encoding, RmsNorm { x: h_slice, w, y: x, rows, dim, epsilon, activation, packed_y })?;
                }
                let (gate_matrix, up, packed_y) = (gate.matrix(), up.matrix(), false);
                let gated = GemvGated {
                    gate: gate_matrix,
                    up,
                    x,
                    y: y.slice(),
                    function: GateFunction::Silu,
                    m,
                    activation,
                    packed_x,
                    packed_y,
                };
                let (q, k, v, biases) = (q.slice(), k.slice(), v.slice(), None);
                let (wq, wk, wv) = (gate.matrix(), value.matrix(), value.matrix());
                let qkv = GemvQkv { wq, wk, wv, x, q, k, v, biases, m, activation, packed_x };
                if is_fused {
                    let norm = NormedInput { squares, epsilon };
                    gemv_gated_normed(encoding, gated, norm)?;
                    gemv_qkv_normed(encoding, qkv, norm)
                } else {
                    gemv_gated(encoding, gated)?;
                    gemv_qkv(encoding, qkv)
                }
            });
            [h, y, q, k, v].map(|tensor| tensor.numbers())
        };
        for tuning in [Tuning::CPU, Tuning::nvidia(132)] {
            let (fused, apart) = (compute(tuning, true), compute(tuning, false));
            for (fused, apart) in fused.iter().zip(&apart) {
                // A number may be rounded to the other side of a tie: a step of 1/127.
                let size = apart.iter().fold(0.0, |size: f64, number| size.max(number.abs()));
                for (fused, apart) in fused.iter().zip(apart) {
                    assert!((fused - apart).abs() <= 2e-3 * size, "{what}: {fused}, not {apart}");
                }
            }
        }
    }
}

/// Rows, pieces of columns (blocks, or 32 numbers), vectors, batch, split, chunk: partial tiles and batches, chunks that
/// are shorter than blocks and longer than the matrix, more simdgroups than chunks.
const SHAPES: [(usize, usize, usize, usize, usize, usize); 9] = [
    (1, 1, 1, 1, 1, 256),
    (33, 9, 1, 1, 1, 2560),
    (70, 3, 2, 2, 1, 128),
    (31, 2, 3, 4, 4, 64),
    (64, 5, 5, 8, 1, 1280),
    (40, 1, 8, 8, 4, 32),
    (5, 3, 19, 16, 1, 768),
    (96, 2, 7, 2, 8, 64),
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

/// Every quantized format in both layouts, cycling through the shapes.
fn cases(name: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    for (number, format) in Format::QUANTIZED.into_iter().enumerate() {
        for (i, &(rows, pieces, m, batch, split, chunk)) in SHAPES.iter().enumerate() {
            let layout = [Layout::Tiles, Layout::Blocks][(i + number) % 2];
            let activation = Activation::ALL[(i / 2 + number) % 2];
            let columns = pieces * format.block_len();
            let what = format!(
                "{name} packed {format} {layout:?} {activation} {rows}×{columns}, {m} by {batch}, split {split}, {chunk}"
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
        let x = packed(&random.normals(m * columns));
        let bias = (rows % 2 == 0).then(|| Tensor::new(Type::F32, &random.normals(rows)));
        let residual = (m > 1).then(|| Tensor::new(activation, &random.normals(m * rows)));
        let y = repeated(&case.what, Tensor::contents, || {
            let y = Tensor::poisoned(activation, m * rows);
            let op = Gemv {
                w: w.matrix(),
                x: x.tensor.slice(),
                y: y.slice(),
                bias: bias.as_ref().map(Tensor::slice),
                residual: residual.as_ref().map(Tensor::slice),
                m,
                activation,
                packed_x: true,
            };
            run(|encoding| gemv_with(encoding, op, case.variant));
            y
        });
        let mut expected = product(&w, &x.numbers);
        let bias = bias.map_or(vec![0.0; rows], |bias| bias.numbers());
        let residual = residual.map_or(vec![0.0; m * rows], |residual| residual.numbers());
        for (i, (expected, residual)) in expected.iter_mut().zip(residual).enumerate() {
            *expected += bias[i % rows] + residual;
        }
        assert_close(&case.what, &y.numbers(), &expected, bound(activation));
    }
}

/// The products of packed numbers beside those of the numbers themselves: each number is off by half a step at most, and
/// so is each product by half a step of each block times the sum of its weights.
#[test]
fn products_are_off_by_the_rounding_of_activations() {
    for format in Format::QUANTIZED {
        let (rows, columns) = (40, 768);
        let mut random = Random::new(9);
        let w = Stored::random(format, Layout::Tiles, rows, columns, &mut random);
        let x = Tensor::new(Type::F32, &random.normals(columns));
        let (between, y) = (poisoned_rows(1, columns), Tensor::poisoned(Type::F32, rows));
        let activation = Activation::F32;
        run(|encoding| {
            pack(encoding, Pack { x: x.slice(), y: between.slice(), n: columns, activation })?;
            let (x, y) = (between.slice(), y.slice());
            gemv(
                encoding,
                Gemv { w: w.matrix(), x, y, bias: None, residual: None, m: 1, activation, packed_x: true },
            )
        });
        let x = x.numbers();
        let exact = product(&w, &x);
        for (row, (found, exact)) in y.numbers().into_iter().zip(exact).enumerate() {
            let weights = &w.numbers[row * columns..][..columns];
            let step = |block: usize| {
                x[32 * block..][..32].iter().fold(0.0, |largest: f64, x| largest.max(x.abs())) / 127.0
            };
            let allowed: f64 = weights.iter().enumerate().map(|(k, w)| w.abs() * step(k / 32) * 0.501).sum();
            assert!((found - exact).abs() <= allowed, "{format}: row {row} is {found}, not {exact} ± {allowed}");
        }
    }
}

#[test]
fn gated_products_with_every_format() {
    for (i, case) in cases("gemv_gated").into_iter().enumerate() {
        let Case { format, layout, activation, rows, columns, m, .. } = case;
        let mut random = Random::new((rows + columns) as u64);
        let gate = Stored::random(format, layout, rows, columns, &mut random);
        let up = Stored::random(format, layout, rows, columns, &mut random);
        // Small, so that gates are neither closed nor fully open.
        let small: Vec<f64> = random.normals(m * columns).iter().map(|x| x / (columns as f64).sqrt()).collect();
        let x = packed(&small);
        let packed_y = i % 3 > 0;
        let y = repeated(&case.what, Tensor::contents, || {
            let y = if packed_y { poisoned_rows(m, rows) } else { Tensor::poisoned(activation, m * rows) };
            let (gate, up, x, y_slice) = (gate.matrix(), up.matrix(), x.tensor.slice(), y.slice());
            let op = GemvGated {
                gate,
                up,
                x,
                y: y_slice,
                function: GateFunction::Silu,
                m,
                activation,
                packed_x: true,
                packed_y,
            };
            run(|encoding| gemv_gated_with(encoding, op, case.variant));
            y
        });
        let (gates, ups) = (product(&gate, &x.numbers), product(&up, &x.numbers));
        let expected: Vec<f64> = gates.iter().zip(ups).map(|(g, u)| g / (1.0 + (-g).exp()) * u).collect();
        if !packed_y {
            // A single number may be a small difference of large ones.
            let mut allowed = bound(activation);
            if expected.len() == 1 {
                allowed.normalized_mean_square *= 100.0;
                allowed.each *= 10.0;
            }
            assert_close(&case.what, &y.numbers(), &expected, allowed);
            continue;
        }
        // Rows past the end are 0.
        let padded: Vec<f64> = expected
            .chunks(rows)
            .flat_map(|row| {
                let padding = rows.next_multiple_of(PACKED_NUMBERS) - rows;
                row.iter().copied().chain(vec![0.0; padding]).collect::<Vec<f64>>()
            })
            .collect();
        let found: Vec<f64> = blocks(&y).iter().flat_map(PackedBlock::numbers).collect();
        for (i, (found, block)) in found.chunks(32).zip(padded.chunks(32)).enumerate() {
            let largest = block.iter().fold(0.0, |largest: f64, number| largest.max(number.abs()));
            for (found, expected) in found.iter().zip(block) {
                let allowed = largest * (0.501 / 127.0 + 1e-4);
                assert!((found - expected).abs() <= allowed, "{}: block {i}: {found}, not {expected}", case.what);
            }
        }
    }
}

#[test]
fn queries_keys_and_values_with_every_format() {
    for case in cases("gemv_qkv") {
        let Case { format, layout, activation, rows, columns, m, .. } = case;
        let (q_rows, kv_rows) = (3 * rows, rows);
        let mut random = Random::new((rows * 7 + columns) as u64);
        let w = [q_rows, kv_rows, kv_rows].map(|n| Stored::random(format, layout, n, columns, &mut random));
        let x = packed(&random.normals(m * columns));
        let all = |results: &[Tensor; 3]| results.iter().flat_map(Tensor::contents).collect();
        let results = repeated(&case.what, all, || {
            let [q, k, v] = [q_rows, kv_rows, kv_rows].map(|n| Tensor::poisoned(activation, m * n));
            let op = GemvQkv {
                wq: w[0].matrix(),
                wk: w[1].matrix(),
                wv: w[2].matrix(),
                x: x.tensor.slice(),
                q: q.slice(),
                k: k.slice(),
                v: v.slice(),
                biases: None,
                m,
                activation,
                packed_x: true,
            };
            run(|encoding| gemv_qkv_with(encoding, op, case.variant));
            [q, k, v]
        });
        for (i, (result, w)) in results.iter().zip(&w).enumerate() {
            let what = format!("{}, result {i}", case.what);
            assert_close(&what, &result.numbers(), &product(w, &x.numbers), bound(activation));
        }
    }
}

#[test]
fn logits_with_every_format() {
    for case in cases("lm_head") {
        let Case { format, layout, activation, rows: n, columns, m, .. } = case;
        let mut random = Random::new((n * m) as u64);
        let w = Stored::random(format, layout, n, columns, &mut random);
        let x = packed(&random.normals(m * columns));
        let logits = repeated(&case.what, Tensor::contents, || {
            let logits = Tensor::poisoned(Type::F32, m * n);
            let result = LmHeadResult::Logits(logits.slice());
            let op = LmHead { w: w.matrix(), x: x.tensor.slice(), result, m, activation, packed_x: true };
            run(|encoding| lm_head_with(encoding, op, case.variant));
            logits
        });
        assert_close(&case.what, &logits.numbers(), &product(&w, &x.numbers), bound(Activation::F32));
    }
}

#[test]
fn rejects_buffers_and_formats_that_do_not_fit() {
    let activation = Activation::F32;
    let x = Tensor::new(Type::F32, &[0.0; 64]);
    let (y, blocks) = (Tensor::poisoned(Type::F32, 32), poisoned_rows(1, 64));
    let message = rejected(|encoding| pack(encoding, Pack { x: x.slice(), y: blocks.slice(), n: 33, activation }));
    assert_eq!(message, "pack: 33 numbers are not whole blocks of 32");
    let message = rejected(|encoding| pack(encoding, Pack { x: x.slice(), y: y.slice(), n: 96, activation }));
    assert_eq!(message, "pack: x has 256 bytes, but 96 elements of 4 bytes are needed");
    let f16 = Stored::random(Format::F16, Layout::Tiles, 32, 64, &mut Random::new(1));
    let (w, x, y) = (f16.matrix(), blocks.slice(), y.slice());
    let op = Gemv { w, x, y, bias: None, residual: None, m: 1, activation, packed_x: true };
    let message = rejected(|encoding| gemv(encoding, op));
    assert_eq!(message, "gemv: f16 has no products with packed vectors");
    let message = rejected(|encoding| gemm(encoding, op, GemmTile::Medium));
    assert_eq!(message, "gemm: there are no products with packed vectors");
    let q4 = Stored::random(Format::Q4_0, Layout::Tiles, 32, 64, &mut Random::new(1));
    let message = rejected(|encoding| gemv(encoding, Gemv { w: q4.matrix(), m: 2, ..op }));
    assert_eq!(message, "gemv: packed_x has 96 bytes, but 2 × 2 elements of 48 bytes are needed");
    let variant = GemvVariant { batch: 16, split: 3, chunk: 256, pairs: false };
    let message = rejected(|encoding| gemv_with(encoding, Gemv { w: q4.matrix(), ..op }, variant));
    assert_eq!(message, "gemv: a batch of 16 split in 3 by chunks of 256 is not possible");
}
