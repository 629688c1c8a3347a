//! Norms, softmax and embeddings: rows of numbers.

use super::{Built, Maker};
use crate::cases::Case;
use crate::data::all;
use inference::metal::dispatch::embedding::{Embedding, embedding};
use inference::metal::dispatch::norm::{self, AddRmsNorm, HeadRmsNorm, LayerNorm, RmsNorm};
use inference::metal::dispatch::softmax::{Softmax, softmax as encode_softmax};
use inference::metal::format::{Activation, Format};
use inference::metal::layout::Layout;

const EPSILON: f32 = 1e-5;

pub(crate) fn softmax(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n, activation) = (case.shape['M'], case.shape['N'], case.activation);
    let (x, y) = (maker.activations(&[rows, n], activation)?, maker.zeros(&[rows, n], activation.size())?);
    Ok(Box::new(move |encoding| {
        encode_softmax(encoding, Softmax { x: all(&x), y: all(&y), rows, n, scale: 1.0, activation })
    }))
}

pub(crate) fn rms_norm(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, dim, activation) = (case.shape['M'], case.shape['N'], case.activation);
    let (x, y) = (maker.activations(&[rows, dim], activation)?, maker.zeros(&[rows, dim], activation.size())?);
    let w = maker.activations(&[dim], Activation::F32)?;
    Ok(Box::new(move |encoding| {
        let (x, w, y) = (all(&x), all(&w), all(&y));
        norm::rms_norm(encoding, RmsNorm { x, w, y, rows, dim, epsilon: EPSILON, activation })
    }))
}

pub(crate) fn layer_norm(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, dim, activation) = (case.shape['M'], case.shape['N'], case.activation);
    let (x, y) = (maker.activations(&[rows, dim], activation)?, maker.zeros(&[rows, dim], activation.size())?);
    let (w, b) = (maker.activations(&[dim], Activation::F32)?, maker.activations(&[dim], Activation::F32)?);
    Ok(Box::new(move |encoding| {
        let (x, w, b, y) = (all(&x), all(&w), all(&b), all(&y));
        norm::layer_norm(encoding, LayerNorm { x, w, b, y, rows, dim, epsilon: EPSILON, activation })
    }))
}

pub(crate) fn add_rms_norm(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, dim, activation) = (case.shape['M'], case.shape['N'], case.activation);
    let h = maker.activations(&[rows, dim], activation)?;
    // Zeros: however often they are added, the sums stay ordinary numbers.
    let (x, y) = (maker.zeros(&[rows, dim], activation.size())?, maker.zeros(&[rows, dim], activation.size())?);
    let w = maker.activations(&[dim], Activation::F32)?;
    Ok(Box::new(move |encoding| {
        let (h, x, w, y) = (all(&h), all(&x), all(&w), all(&y));
        norm::add_rms_norm(encoding, AddRmsNorm { h, x, w, y, rows, dim, epsilon: EPSILON, activation })
    }))
}

pub(crate) fn head_rms_norm(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, heads, head_dim, activation) = (case.shape['M'], case.shape['H'], case.shape['D'], case.activation);
    let x = maker.activations(&[rows, heads, head_dim], activation)?;
    // In place: with weights of 1, what is normalized stays as it is.
    let w = maker.zeros(&[head_dim], 4)?;
    w.write(0, &vec![1.0f32; head_dim])?;
    let stride = heads.saturating_mul(head_dim);
    Ok(Box::new(move |encoding| {
        let (x, w, epsilon) = (all(&x), all(&w), EPSILON);
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
    let (tokens, y) = (maker.tokens(count, vocabulary)?, maker.zeros(&[count, dim], activation.size())?);
    Ok(Box::new(move |encoding| {
        let (table, tokens, y) = (table.matrix(), all(&tokens), all(&y));
        embedding(encoding, Embedding { table, tokens, y, count, scale: 1.0, activation })
    }))
}
