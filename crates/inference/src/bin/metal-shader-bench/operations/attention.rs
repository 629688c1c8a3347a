//! Attention.

use super::{Built, Maker};
use crate::cases::Case;
use crate::data::all;
use inference::metal::dispatch::attention::{AttentionDecode, AttentionPrefill, AttentionShape, AttentionSplit};
use inference::metal::dispatch::attention::{attention_decode, attention_prefill};

fn attention_shape(case: &Case) -> AttentionShape {
    let scale = 1.0 / (case.shape['D'] as f32).sqrt();
    AttentionShape { heads: case.shape['H'], scale, soft_cap: None, window: None }
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
    let y = maker.zeros(&[heads, head_dim], activation.size())?;
    let scratch = AttentionSplit::scratch_bytes(heads, head_dim, parts.unwrap_or(0));
    let scratch = maker.zeros(&[scratch], 1)?;
    Ok(Box::new(move |encoding| {
        let split = parts.map(|count| AttentionSplit { count, scratch: all(&scratch) });
        let (q, cache, y) = (all(&q), cache.cache(), all(&y));
        attention_decode(encoding, AttentionDecode { q, cache, y, length, shape, split, activation })
    }))
}

pub(crate) fn prefill(maker: &Maker<'_>, case: &Case) -> Built {
    let (tokens, position, activation) = (case.shape['M'], case.shape['P'], case.activation);
    let (heads, head_dim, shape) = (case.shape['H'], case.shape['D'], attention_shape(case));
    let cache = maker.cache(case.shape['G'], head_dim, position + tokens, case.cache)?;
    let q = maker.activations(&[tokens, heads, head_dim], activation)?;
    let y = maker.zeros(&[tokens, heads, head_dim], activation.size())?;
    Ok(Box::new(move |encoding| {
        let (q, cache, y) = (all(&q), cache.cache(), all(&y));
        attention_prefill(encoding, AttentionPrefill { q, cache, y, tokens, position, shape, activation })
    }))
}
