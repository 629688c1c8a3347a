//! Norms, softmax and embeddings: rows of numbers.

use super::{Built, Maker};
use crate::formats::{Activation, Format};
use crate::metal::layout::Layout;
use crate::metal::operations::embedding::{Embedding, embedding};
use crate::metal::operations::norm::{self, AddRmsNorm, HeadRmsNorm, LayerNorm, RmsNorm};
use crate::metal::operations::softmax::{Softmax, softmax as encode_softmax};
use crate::operations::case::Case;
use crate::operations::data::all;
use crate::operations::formulas;

/// Term that norms add to the mean of squares: large enough in checks to show in results.
fn epsilon(maker: &Maker<'_>) -> f32 {
    maker.parameter(1e-5, 0.125)
}

pub(crate) fn softmax(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n, activation) = (case.shape['M'], case.shape['N'], case.activation);
    let (x, y) = (maker.activations(&[rows, n], activation)?, maker.output("y", &[rows, n], activation.into())?);
    let scale = maker.parameter(1.0, 3.0);
    maker.expect(&y, || {
        let scaled: Vec<f64> = x.numbers().into_iter().map(|x| x * f64::from(scale)).collect();
        scaled.chunks(n).flat_map(formulas::softmax).collect()
    });
    Ok(Box::new(move |encoding| {
        encode_softmax(encoding, Softmax { x: all(&x), y: y.slice(), rows, n, scale, activation })
    }))
}

pub(crate) fn rms_norm(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, dim, activation) = (case.shape['M'], case.shape['N'], case.activation);
    let (x, y) =
        (maker.activations(&[rows, dim], activation)?, maker.output("y", &[rows, dim], activation.into())?);
    let w = maker.activations(&[dim], Activation::F32)?;
    let epsilon = epsilon(maker);
    maker.expect(&y, || formulas::rms_norm(&x.numbers(), &w.numbers(), epsilon));
    Ok(Box::new(move |encoding| {
        let (x, w, y) = (all(&x), all(&w), y.slice());
        norm::rms_norm(encoding, RmsNorm { x, w, y, rows, dim, epsilon, activation })
    }))
}

pub(crate) fn layer_norm(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, dim, activation) = (case.shape['M'], case.shape['N'], case.activation);
    let (x, y) =
        (maker.activations(&[rows, dim], activation)?, maker.output("y", &[rows, dim], activation.into())?);
    let (w, b) = (maker.activations(&[dim], Activation::F32)?, maker.activations(&[dim], Activation::F32)?);
    let epsilon = epsilon(maker);
    // The RMS norm of the distances from the mean.
    maker.expect(&y, || {
        let centered = |row: &[f64]| {
            let mean = row.iter().sum::<f64>() / dim as f64;
            row.iter().map(|x| x - mean).collect::<Vec<f64>>()
        };
        let centered: Vec<f64> = x.numbers().chunks(dim).flat_map(centered).collect();
        formulas::sum(&formulas::rms_norm(&centered, &w.numbers(), epsilon), &b.numbers())
    });
    Ok(Box::new(move |encoding| {
        let (x, w, b, y) = (all(&x), all(&w), all(&b), y.slice());
        norm::layer_norm(encoding, LayerNorm { x, w, b, y, rows, dim, epsilon, activation })
    }))
}

pub(crate) fn add_rms_norm(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, dim, activation) = (case.shape['M'], case.shape['N'], case.activation);
    let h = maker.activations(&[rows, dim], activation)?;
    let sums = maker.changed("h", &h, activation.into());
    // Zeros: however often they are added, the sums stay ordinary numbers.
    let x = match maker.is_check() {
        true => maker.activations(&[rows, dim], activation)?,
        false => maker.zero_activations(&[rows, dim], activation)?,
    };
    let y = maker.output("y", &[rows, dim], activation.into())?;
    let w = maker.activations(&[dim], Activation::F32)?;
    let epsilon = epsilon(maker);
    let sum = || formulas::sum(&h.numbers(), &x.numbers());
    maker.expect(&sums, sum);
    maker.expect(&y, || formulas::rms_norm(&sum(), &w.numbers(), epsilon));
    Ok(Box::new(move |encoding| {
        let (h, x, w, y) = (all(&h), all(&x), all(&w), y.slice());
        norm::add_rms_norm(encoding, AddRmsNorm { h, x, w, y, rows, dim, epsilon, activation })
    }))
}

pub(crate) fn head_rms_norm(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, heads, head_dim, activation) = (case.shape['M'], case.shape['H'], case.shape['D'], case.activation);
    let stride = maker.stride(heads.saturating_mul(head_dim), 3);
    let x = maker.activations(&[rows, stride], activation)?;
    let y = maker.changed("x", &x, activation.into());
    // In place: with weights of 1, what is normalized stays as it is.
    let w = match maker.is_check() {
        true => maker.activations(&[head_dim], Activation::F32)?,
        false => maker.floats(&vec![1.0; head_dim])?,
    };
    let epsilon = epsilon(maker);
    maker.expect(&y, || {
        let (x, w) = (x.numbers(), w.numbers());
        let rows = x.chunks(stride).flat_map(|row| {
            let (heads, rest) = row.split_at(heads * head_dim);
            [formulas::rms_norm(heads, &w, epsilon), rest.to_vec()].concat()
        });
        rows.collect()
    });
    Ok(Box::new(move |encoding| {
        let (x, w) = (all(&x), all(&w));
        norm::head_rms_norm(encoding, HeadRmsNorm { x, w, rows, heads, head_dim, stride, epsilon, activation })
    }))
}

pub(crate) fn embedding_blocks(maker: &Maker<'_>, case: &Case) -> Built {
    lookup(maker, case, Layout::Blocks)
}

pub(crate) fn embedding_tiles(maker: &Maker<'_>, case: &Case) -> Built {
    lookup(maker, case, Layout::Tiles)
}

fn lookup(maker: &Maker<'_>, case: &Case, layout: Layout) -> Built {
    let (count, vocabulary, dim, activation) = (case.shape['M'], case.shape['N'], case.shape['K'], case.activation);
    let table = maker.weights(case.format.unwrap_or(Format::F32), layout, vocabulary, dim)?;
    let (tokens, y) = (maker.tokens(count, vocabulary)?, maker.output("y", &[count, dim], activation.into())?);
    let scale = maker.parameter(1.0, 1.5);
    maker.expect(&y, || {
        let numbers = table.numbers();
        let rows = tokens.read::<u32>().into_iter().flat_map(|token| &numbers[token as usize * dim..][..dim]);
        rows.map(|number| number * f64::from(scale)).collect()
    });
    Ok(Box::new(move |encoding| {
        let (table, tokens, y) = (table.matrix(), all(&tokens), y.slice());
        embedding(encoding, Embedding { table, tokens, y, count, scale, activation })
    }))
}
