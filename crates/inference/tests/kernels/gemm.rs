//! `gemm.metal`

use crate::compare::{ErrorBound, assert_close, repeated};
use crate::device::{device, rejected, run};
use crate::matrix::{Stored, bound, product};
use crate::random::Random;
use crate::tensor::{Tensor, Type};
use metalworks_inference::formats::{Activation, Format};
use metalworks_inference::metal::GemmTuning;
use metalworks_inference::metal::layout::Layout;
use metalworks_inference::metal::operations::Gemv;
use metalworks_inference::metal::operations::{GemmTile, gemm, gemm_rounded};
use metalworks_inference::metal::operations::{RoundNumbers, round_numbers};

/// The kernels round weights to the type of the activations before multiplying.
fn bound_with_rounded_weights(activation: Activation) -> ErrorBound {
    match activation {
        Activation::F32 => bound(activation),
        Activation::F16 => ErrorBound { normalized_mean_square: 2e-5, each: 5e-3, ..ErrorBound::of(activation) },
    }
}

#[test]
fn products_with_every_format() {
    // Rows, pieces of columns (a block, or 32 numbers), vectors.
    let shapes = [(1, 1, 7), (32, 2, 16), (33, 3, 17), (170, 1, 9), (64, 2, 100), (31, 9, 133)];
    for (number, format) in Format::ALL.into_iter().enumerate() {
        // Compilation takes longest: four of the shapes for each format.
        let chosen = shapes.into_iter().enumerate().filter(|(i, _)| (i + number) % 3 != 0);
        for (i, (rows, pieces, m)) in chosen {
            let layout = [Layout::Tiles, Layout::Blocks][(i + number) % 2];
            let activation = Activation::ALL[(i / 2 + number) % 2];
            let tile = GemmTile::ALL[(i + number / 2) % 2];
            let rounds = (i + number / 3) % 3 == 0;
            let columns = pieces * format.block_len().max(32);
            let what =
                format!("gemm {format} {layout:?} {activation} {rows}×{columns}, {m}, {tile:?}, rounds: {rounds}");
            let mut random = Random::new((rows * columns + m) as u64);
            let w = Stored::random(format, layout, rows, columns, &mut random);
            let x = Tensor::new(activation, &random.normals(m * columns));
            let bias = Tensor::new(Type::F32, &random.normals(rows));
            let residual = Tensor::new(activation, &random.normals(m * rows));
            let has_residual = i % 2 == 0;
            let y = repeated(&what, Tensor::contents, || {
                let y = Tensor::poisoned(activation, m * rows);
                let op = Gemv {
                    w: w.matrix(),
                    x: x.slice(),
                    y: y.slice(),
                    bias: Some(bias.slice()),
                    residual: has_residual.then(|| residual.slice()),
                    m,
                    activation,
                    packed_x: false,
                };
                run(|encoding| {
                    encoding.rounds = rounds;
                    gemm(encoding, op, tile)
                });
                y
            });
            let (bias, residual) = (bias.numbers(), residual.numbers());
            let mut expected = product(&w, &x.numbers());
            for (i, expected) in expected.iter_mut().enumerate() {
                *expected += bias[i % rows] + if has_residual { residual[i] } else { 0.0 };
            }
            let bound = match rounds {
                true => bound_with_rounded_weights(Activation::F16),
                false => bound_with_rounded_weights(activation),
            };
            assert_close(&what, &y.numbers(), &expected, bound);
        }
    }
}

/// Vectors that were rounded before, and steps ahead, have the same results, bit by bit; other parts of a tile, those of sums
/// in another order.
#[test]
fn steps_ahead_and_rounded_vectors_change_no_result() {
    let (rows, columns, m) = (70, 256, 9);
    for (format, layout) in [(Format::Q4_0, Layout::Tiles), (Format::F16, Layout::Tiles)] {
        let mut random = Random::new(7);
        let w = Stored::random(format, layout, rows, columns, &mut random);
        let mut numbers = random.normals(m * columns);
        // Half cannot express it.
        numbers[5] = 1e5;
        let activation = Activation::F32;
        let (x, rounded) = (Tensor::new(activation, &numbers), Tensor::poisoned(Type::F16, m * columns));
        let result = |ahead: usize, is_rounded: bool, wide: bool, tile: GemmTile| {
            let y = Tensor::poisoned(activation, m * rows);
            let op = Gemv {
                w: w.matrix(),
                x: x.slice(),
                y: y.slice(),
                bias: None,
                residual: None,
                m,
                activation,
                packed_x: false,
            };
            run(|encoding| {
                encoding.rounds = true;
                encoding.tuning.gemm = Some(GemmTuning { from: 1, large: 0, ahead, few_ahead: ahead, wide });
                let n = m * columns;
                round_numbers(encoding, RoundNumbers { x: x.slice(), y: rounded.slice(), n })?;
                gemm_rounded(encoding, op, tile, is_rounded.then(|| rounded.slice()))
            });
            y
        };
        let results = [(1, false), (2, true), (4, true)]
            .map(|(ahead, is_rounded)| result(ahead, is_rounded, false, GemmTile::Medium).contents());
        assert!(results.iter().all(|result| *result == results[0]), "{format} {layout:?}");
        assert_eq!(rounded.numbers()[5], 65504.0);
        let expected = result(1, false, false, GemmTile::Medium).numbers();
        for (ahead, is_rounded) in [(2, true), (4, true), (4, false)] {
            for tile in GemmTile::ALL {
                // Large tiles need more threadgroup memory than Apple's GPUs have.
                if tile == GemmTile::Large && device().device().max_threadgroup_memory_length() <= 32 << 10 {
                    continue;
                }
                let wide = result(ahead, is_rounded, true, tile).numbers();
                for (number, (wide, expected)) in wide.into_iter().zip(&expected).enumerate() {
                    let limit = 1e-3 * expected.abs().max(1.0);
                    assert!((wide - expected).abs() <= limit, "{format} {tile:?} {number}: {wide}, not {expected}");
                }
            }
        }
    }
}

#[test]
fn rejects_buffers_and_sizes_that_do_not_fit() {
    let w = Stored::random(Format::F16, Layout::Blocks, 8, 40, &mut Random::new(1));
    let x = Tensor::new(Type::F32, &[0.0; 40]);
    let y = Tensor::poisoned(Type::F32, 8);
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
    let message = rejected(|encoding| gemm(encoding, op, GemmTile::Medium));
    assert_eq!(message, "gemm: 40 columns: they must be a multiple of 32 here");
    let message = rejected(|encoding| gemm(encoding, Gemv { m: 3, ..op }, GemmTile::Large));
    assert_eq!(message, "gemm: x has 160 bytes, but 3 × 40 elements of 4 bytes are needed");
}
