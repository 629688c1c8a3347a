//! `embedding.metal`

use crate::compare::{ErrorBound, assert_close, repeated};
use crate::device::{rejected, run};
use crate::matrix::Stored;
use crate::random::Random;
use crate::tensor::Tensor;
use metalworks_inference::formats::{Activation, Format};
use metalworks_inference::metal::layout::Layout;
use metalworks_inference::metal::operations::{Embedding, embedding};

#[test]
fn rows_of_every_format() {
    for (format, layout) in Format::ALL.into_iter().flat_map(|f| [Layout::Blocks, Layout::Tiles].map(|l| (f, l))) {
        for activation in Activation::ALL {
            // The minimum of the format, which is not a multiple of a threadgroup's share; and several threadgroups.
            let least = if layout == Layout::Tiles { 32.max(format.block_len()) } else { format.block_len() };
            for dim in [least, 33 * 32.max(format.block_len())] {
                let what = format!("embedding {format} {layout:?} {activation} {dim}");
                let vocabulary = 41;
                let mut random = Random::new(dim as u64);
                let table = Stored::random(format, layout, vocabulary, dim, &mut random);
                let tokens = [40, 0, 3, 3, 32];
                let ids = Tensor::integers(&tokens);
                let y = repeated(&what, Tensor::contents, || {
                    let y = Tensor::poisoned(activation, tokens.len() * dim);
                    let op = Embedding {
                        table: table.matrix(),
                        tokens: ids.slice(),
                        y: y.slice(),
                        count: tokens.len(),
                        scale: 1.5,
                        activation,
                    };
                    run(|encoding| embedding(encoding, op));
                    y
                });
                let rows = tokens.iter().flat_map(|&token| &table.numbers[token as usize * dim..][..dim]);
                let expected: Vec<f64> = rows.map(|number| number * 1.5).collect();
                assert_close(&what, &y.numbers(), &expected, ErrorBound::of(activation));
            }
        }
    }
}

#[test]
fn a_token_outside_of_the_table_gives_nan_in_its_row_only() {
    for layout in [Layout::Blocks, Layout::Tiles] {
        let table = Stored::random(Format::Q8_0, layout, 3, 64, &mut Random::new(1));
        let ids = Tensor::integers(&[2, 3, u32::MAX, 0]);
        let y = Tensor::poisoned(Activation::F16, 4 * 64);
        let op = Embedding {
            table: table.matrix(),
            tokens: ids.slice(),
            y: y.slice(),
            count: 4,
            scale: 1.0,
            activation: Activation::F16,
        };
        run(|encoding| embedding(encoding, op));
        for (row, known) in y.numbers().chunks(64).zip([true, false, false, true]) {
            assert!(row.iter().all(|number| number.is_nan() != known));
        }
        let mut wrong = op;
        wrong.table.columns = 65;
        let message = rejected(|encoding| embedding(encoding, wrong));
        assert_eq!(
            message,
            "embedding: table: 65 columns are not whole blocks of q8_0, which have 32 numbers each"
        );
        let mut wrong = op;
        wrong.table.rows = 33;
        let message = rejected(|encoding| embedding(encoding, wrong));
        assert!(message.starts_with("embedding: table has "), "{message}");
    }
}
