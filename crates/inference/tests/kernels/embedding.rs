//! `embedding.metal`

use crate::compare::{Bound, assert_close, repeated};
use crate::device::{refused, run};
use crate::random::Random;
use crate::tensor::Tensor;
use crate::weights::Weights;
use inference::metal::dispatch::embedding::{Embedding, embedding};
use inference::metal::format::{Activation, Format};

#[test]
fn rows_of_every_format() {
    for format in Format::ALL {
        for activation in Activation::ALL {
            // The least that the format allows, not a multiple of what a threadgroup takes; and several threadgroups.
            for dim in [format.block_len(), 33 * 32.max(format.block_len())] {
                let what = format!("embedding {format} {activation} {dim}");
                let vocabulary = 11;
                let mut random = Random::new(dim as u64);
                let table = Weights::random(format, vocabulary, dim, &mut random);
                let tokens = [10, 0, 3, 3, 7];
                let ids = Tensor::integers(&tokens);
                let y = repeated(&what, Tensor::contents, || {
                    let y = Tensor::poisoned(activation, tokens.len() * dim);
                    let op = Embedding {
                        table: table.tensor.slice(),
                        tokens: ids.slice(),
                        y: y.slice(),
                        count: tokens.len(),
                        vocabulary,
                        dim,
                        scale: 1.5,
                        format,
                        activation,
                    };
                    run(|encoding| embedding(encoding, op));
                    y
                });
                let rows = tokens.iter().flat_map(|&token| &table.numbers[token as usize * dim..][..dim]);
                let expected: Vec<f64> = rows.map(|number| number * 1.5).collect();
                assert_close(&what, &y.numbers(), &expected, Bound::of(activation));
            }
        }
    }
}

#[test]
fn a_token_that_is_not_in_the_table_is_nan_and_nothing_else() {
    let table = Weights::random(Format::Q8_0, 3, 64, &mut Random::new(1));
    let ids = Tensor::integers(&[2, 3, u32::MAX, 0]);
    let y = Tensor::poisoned(Activation::F16, 4 * 64);
    let op = Embedding {
        table: table.tensor.slice(),
        tokens: ids.slice(),
        y: y.slice(),
        count: 4,
        vocabulary: 3,
        dim: 64,
        scale: 1.0,
        format: Format::Q8_0,
        activation: Activation::F16,
    };
    run(|encoding| embedding(encoding, op));
    for (row, known) in y.numbers().chunks(64).zip([true, false, false, true]) {
        assert!(row.iter().all(|number| number.is_nan() != known));
    }
    let message = refused(|encoding| embedding(encoding, Embedding { dim: 65, ..op }));
    assert_eq!(message, "embedding: dim is 65, but q8_0 has blocks of 32 numbers");
    let message = refused(|encoding| embedding(encoding, Embedding { vocabulary: 4, ..op }));
    assert_eq!(message, "embedding: table has 204 bytes, but 4 × 2 elements of 34 bytes are needed");
}
