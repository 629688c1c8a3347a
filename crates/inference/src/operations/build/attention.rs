//! Attention.

use super::{Built, Maker};
use crate::metal::operations::attention::{AttentionDecode, AttentionPrefill, AttentionShape, AttentionSplit};
use crate::metal::operations::attention::{attention_decode, attention_prefill};
use crate::operations::case::Case;
use crate::operations::data::{Cache, all};
use crate::operations::formulas::softmax;

fn attention_shape(case: &Case) -> AttentionShape {
    let scale = 1.0 / (case.shape['D'] as f32).sqrt();
    let soft_cap = case.shape.get('T').map(|cap| cap as f32);
    AttentionShape { heads: case.shape['H'], scale, soft_cap, window: case.shape.get('W') }
}

/// y[r] = Σ_p softmax_p(cap(scale · q[r] · k[p])) · v[p] over the positions p that row r sees: up to its own, and with a window
/// only the last of these. Rows are the heads of a token, one token after the other; the first is at `position`.
fn attend(q: &[f64], cache: &Cache, position: usize, shape: &AttentionShape) -> Vec<f64> {
    let (dim, group) = (cache.head_dim, shape.heads / cache.heads);
    let (keys, values) = (cache.keys.numbers(), cache.values.numbers());
    let rows = q.chunks(dim).enumerate().flat_map(|(row, q)| {
        let (head, end) = (row % shape.heads / group, position + row / shape.heads + 1);
        let seen = shape.window.map_or(0, |window| end.saturating_sub(window))..end;
        let score = |p: usize| {
            let product: f64 = (0..dim).map(|i| q[i] * keys[cache.key_index(head, p, i)]).sum();
            let scaled = product * f64::from(shape.scale);
            shape.soft_cap.map_or(scaled, |cap| f64::from(cap) * (scaled / f64::from(cap)).tanh())
        };
        let weights = softmax(&seen.clone().map(score).collect::<Vec<_>>());
        let value = |i| seen.clone().zip(&weights).map(|(p, w)| w * values[cache.value_index(head, p, i)]).sum();
        (0..dim).map(value).collect::<Vec<f64>>()
    });
    rows.collect()
}

pub(crate) fn decode(maker: &Maker<'_>, case: &Case) -> Built {
    decode_in_parts(maker, case, None)
}

pub(crate) fn decode_split(maker: &Maker<'_>, case: &Case) -> Built {
    decode_in_parts(maker, case, Some(case.shape['S']))
}

fn decode_in_parts(maker: &Maker<'_>, case: &Case, parts: Option<usize>) -> Built {
    let (length, heads, head_dim, activation) =
        (case.shape['L'], case.shape['H'], case.shape['D'], case.activation);
    let shape = attention_shape(case);
    let cache = maker.cache(case.shape['G'], head_dim, length, case.cache)?;
    let q = maker.activations(&[heads, head_dim], activation)?;
    let y = maker.output("y", &[heads, head_dim], activation.into())?;
    maker.expect(&y, || attend(&q.numbers(), &cache, length - 1, &shape));
    let scratch = AttentionSplit::scratch_bytes(heads, head_dim, parts.unwrap_or(0));
    let scratch = maker.zeros(&[scratch], 1)?;
    Ok(Box::new(move |encoding| {
        let split = parts.map(|count| AttentionSplit { count, scratch: all(&scratch) });
        let (q, cache, y) = (all(&q), cache.cache(), y.slice());
        attention_decode(encoding, AttentionDecode { q, cache, y, length, shape, split, activation })
    }))
}

pub(crate) fn prefill(maker: &Maker<'_>, case: &Case) -> Built {
    let (tokens, position, activation) = (case.shape['M'], case.shape['P'], case.activation);
    let (heads, head_dim, shape) = (case.shape['H'], case.shape['D'], attention_shape(case));
    let cache = maker.cache(case.shape['G'], head_dim, position + tokens, case.cache)?;
    let q = maker.activations(&[tokens, heads, head_dim], activation)?;
    let y = maker.output("y", &[tokens, heads, head_dim], activation.into())?;
    maker.expect(&y, || attend(&q.numbers(), &cache, position, &shape));
    Ok(Box::new(move |encoding| {
        let (q, cache, y) = (all(&q), cache.cache(), y.slice());
        attention_prefill(encoding, AttentionPrefill { q, cache, y, tokens, position, shape, activation })
    }))
}
