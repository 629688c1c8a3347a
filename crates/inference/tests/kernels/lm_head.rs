//! `lm_head.metal`

use crate::compare::{assert_close, repeated};
use crate::device::{rejected, run};
use crate::matrix::{Stored, bound, product};
use crate::random::Random;
use crate::tensor::{Tensor, Type};
use metalworks_inference::formats::{Activation, Format};
use metalworks_inference::metal::layout::Layout;
use metalworks_inference::metal::operations::GemvVariant;
use metalworks_inference::metal::operations::*;

/// Index of the largest logit; of equal ones, the lowest.
fn best(row: &[f64]) -> u32 {
    let mut best = 0;
    for (i, value) in row.iter().enumerate() {
        if *value > row[best] {
            best = i;
        }
    }
    best as u32
}

#[test]
fn logits_and_best_tokens_with_every_format() {
    // Tokens, sequences, batch, split, chunk: one partial tile; more tiles than lanes.
    let shapes = [(3, 1, 1, 1, 128), (1100, 1, 1, 2, 32), (97, 3, 4, 1, 128), (2000, 9, 8, 1, 128)];
    for (number, format) in Format::ALL.into_iter().enumerate() {
        for (i, (n, m, batch, split, chunk)) in shapes.into_iter().enumerate() {
            let layout = [Layout::Tiles, Layout::Blocks][usize::from(i == number % 4)];
            let activation = Activation::ALL[(i + number) % 2];
            let columns = format.block_len().max(64);
            let what = format!("lm_head {format} {layout:?} {activation} {n}×{columns}, {m}");
            let mut random = Random::new((n * m) as u64);
            let w = Stored::random(format, layout, n, columns, &mut random);
            let x = Tensor::new(activation, &random.normals(m * columns));
            let scratch_bytes = LmHeadArgmax::scratch_bytes(n, m);
            let both = |(logits, tokens): &(Tensor, Tensor)| [logits.contents(), tokens.contents()].concat();
            let (logits, tokens) = repeated(&what, both, || {
                let logits = Tensor::poisoned(Type::F32, m * n);
                let tokens = Tensor::poisoned(Type::U32, m);
                let scratch = Tensor::poisoned(Type::Bytes, scratch_bytes);
                let argmax = LmHeadArgmax { tokens: tokens.slice(), scratch: scratch.slice() };
                let result = LmHeadResult::Both(logits.slice(), argmax);
                let op = LmHead { w: w.matrix(), x: x.slice(), result, m, activation, packed_x: false };
                run(|encoding| lm_head_with(encoding, op, GemvVariant { batch, split, chunk, pairs: false }));
                // Each result on its own is the same.
                let alone = Tensor::poisoned(Type::U32, m);
                let argmax = LmHeadArgmax { tokens: alone.slice(), scratch: scratch.slice() };
                run(|encoding| lm_head(encoding, LmHead { result: LmHeadResult::Argmax(argmax), ..op }));
                assert_eq!(alone.contents(), tokens.contents(), "{what}: argmax alone");
                scratch.contents();
                (logits, tokens)
            });
            assert_close(&what, &logits.numbers(), &product(&w, &x.numbers()), bound(Activation::F32));
            for (row, token) in logits.numbers().chunks(n).zip(tokens.numbers()) {
                assert_eq!(best(row), token as u32, "{what}");
            }
        }
    }
}

/// The best token if x = (1): the logits are the weights themselves.
fn best_of(weights: &[f64]) -> u32 {
    let columns: Vec<f64> = weights.iter().flat_map(|&w| std::iter::once(w).chain([0.0; 31])).collect();
    let w = Stored::of_numbers(&columns, weights.len(), 32);
    let x = Tensor::new(Type::F32, &std::iter::once(1.0).chain([0.0; 31]).collect::<Vec<f64>>());
    let tokens = Tensor::poisoned(Type::U32, 1);
    let scratch = Tensor::poisoned(Type::Bytes, LmHeadArgmax::scratch_bytes(weights.len(), 1));
    let argmax = LmHeadArgmax { tokens: tokens.slice(), scratch: scratch.slice() };
    let (result, activation) = (LmHeadResult::Argmax(argmax), Activation::F32);
    let op = LmHead { w: w.matrix(), x: x.slice(), result, m: 1, activation, packed_x: false };
    run(|encoding| lm_head(encoding, op));
    tokens.numbers()[0] as u32
}

#[test]
fn argmax_prefers_the_lowest_token() {
    let mut weights = vec![-3.0; 1500];
    assert_eq!(best_of(&weights), 0);
    weights[1499] = -1.0;
    assert_eq!(best_of(&weights), 1499);
    weights[1200] = -1.0;
    weights[1201] = -1.0;
    assert_eq!(best_of(&weights), 1200);
    weights[7] = 2.0;
    weights[40] = 2.0;
    assert_eq!(best_of(&weights), 7);
}

#[test]
fn rejects_buffers_and_sizes_that_do_not_fit() {
    let w = Stored::random(Format::Q8_0, Layout::Tiles, 64, 32, &mut Random::new(1));
    let x = Tensor::new(Type::F32, &[0.0; 32]);
    let small = Tensor::poisoned(Type::U32, 1);
    let argmax = LmHeadArgmax { tokens: small.slice(), scratch: small.slice() };
    let (result, activation) = (LmHeadResult::Argmax(argmax), Activation::F32);
    let op = LmHead { w: w.matrix(), x: x.slice(), result, m: 1, activation, packed_x: false };
    let message = rejected(|encoding| lm_head(encoding, op));
    assert_eq!(message, "lm_head: scratch has 4 bytes, but 1 × 2 elements of 8 bytes are needed");
    let result = LmHeadResult::Logits(small.slice());
    let message = rejected(|encoding| lm_head(encoding, LmHead { result, ..op }));
    assert_eq!(message, "lm_head: logits has 4 bytes, but 1 × 64 elements of 4 bytes are needed");
}
