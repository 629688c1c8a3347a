//! The next token.

use super::{Built, Maker};
use crate::cases::Case;
use crate::data::all;
use inference::metal::dispatch::sampling::{self, Argmax, Penalize, Sample, TopK};

/// How tokens are drawn, as models recommend it.
const DRAW: (f32, f32, f32) = (0.7, 0.9, 0.05);

pub(crate) fn penalize(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n, count) = (case.shape['M'], case.shape['N'], case.shape['C']);
    let (logits, recent) = (maker.logits(&[rows, n])?, maker.tokens(rows.saturating_mul(count), n)?);
    Ok(Box::new(move |encoding| {
        let (logits, recent) = (all(&logits), all(&recent));
        // Penalties that change nothing: the logits are the same at every run.
        let (repeat, presence, frequency) = (1.0, 0.0, 0.0);
        sampling::penalize(encoding, Penalize { logits, recent, rows, n, count, repeat, presence, frequency })
    }))
}

pub(crate) fn argmax(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n) = (case.shape['M'], case.shape['N']);
    let (logits, tokens) = (maker.logits(&[rows, n])?, maker.zeros(&[rows], 4)?);
    Ok(Box::new(move |encoding| {
        sampling::argmax(encoding, Argmax { logits: all(&logits), tokens: all(&tokens), rows, n })
    }))
}

pub(crate) fn top_k(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n, k) = (case.shape['M'], case.shape['N'], case.shape['C']);
    let logits = maker.logits(&[rows, n])?;
    let (values, tokens) = (maker.zeros(&[rows, k], 4)?, maker.zeros(&[rows, k], 4)?);
    Ok(Box::new(move |encoding| {
        let (logits, values, tokens) = (all(&logits), all(&values), all(&tokens));
        sampling::top_k(encoding, TopK { logits, values, tokens, rows, n, k })
    }))
}

pub(crate) fn sample(maker: &Maker<'_>, case: &Case) -> Built {
    draw(maker, case.shape['M'], case.shape['N'], false)
}

pub(crate) fn sample_candidates(maker: &Maker<'_>, case: &Case) -> Built {
    draw(maker, case.shape['M'], case.shape['C'], true)
}

fn draw(maker: &Maker<'_>, rows: usize, n: usize, indexed: bool) -> Built {
    let (values, tokens) = (maker.logits(&[rows, n])?, maker.zeros(&[rows], 4)?);
    let candidates = maker.tokens(if indexed { rows.saturating_mul(n) } else { 0 }, n)?;
    let (temperature, top_p, min_p) = DRAW;
    Ok(Box::new(move |encoding| {
        let (values, tokens, candidates) = (all(&values), all(&tokens), indexed.then(|| all(&candidates)));
        let (seed, step) = (1, 0);
        let op = Sample { values, candidates, tokens, rows, n, temperature, top_p, min_p, seed, step };
        sampling::sample(encoding, op)
    }))
}
