//! The next token.

use super::{Built, Maker};
use crate::metal::operations::sampling::{self, Argmax, Penalize, Sample, TopK};
use crate::operations::case::Case;
use crate::operations::data::all;
use crate::operations::output::Number;

/// How tokens are drawn, as models recommend it.
const DRAW: (f32, f32, f32) = (0.7, 0.9, 0.05);

pub(crate) fn penalize(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n, count) = (case.shape['M'], case.shape['N'], case.shape['C']);
    let (logits, recent) = (maker.logits(&[rows, n])?, maker.tokens(rows.saturating_mul(count), n)?);
    maker.changed("logits", &logits, Number::F32);
    // Again and again, penalties change nothing: the logits are the same at every run.
    let (repeat, presence, frequency) = if maker.is_check() { (1.25, 0.5, 0.25) } else { (1.0, 0.0, 0.0) };
    Ok(Box::new(move |encoding| {
        let (logits, recent) = (all(&logits), all(&recent));
        sampling::penalize(encoding, Penalize { logits, recent, rows, n, count, repeat, presence, frequency })
    }))
}

pub(crate) fn argmax(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n) = (case.shape['M'], case.shape['N']);
    let (logits, tokens) = (maker.logits(&[rows, n])?, maker.output("tokens", &[rows], Number::U32)?);
    Ok(Box::new(move |encoding| {
        sampling::argmax(encoding, Argmax { logits: all(&logits), tokens: tokens.slice(), rows, n })
    }))
}

pub(crate) fn top_k(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n, k) = (case.shape['M'], case.shape['N'], case.shape['C']);
    let logits = maker.logits(&[rows, n])?;
    let values = maker.output("values", &[rows, k], Number::F32)?;
    let tokens = maker.output("tokens", &[rows, k], Number::U32)?;
    Ok(Box::new(move |encoding| {
        let (logits, values, tokens) = (all(&logits), values.slice(), tokens.slice());
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
    let (values, tokens) = (maker.logits(&[rows, n])?, maker.output("tokens", &[rows], Number::U32)?);
    let candidates = maker.tokens(if indexed { rows.saturating_mul(n) } else { 0 }, n)?;
    let (temperature, top_p, min_p) = DRAW;
    Ok(Box::new(move |encoding| {
        let (values, tokens, candidates) = (all(&values), tokens.slice(), indexed.then(|| all(&candidates)));
        let (seed, step) = (1, 0);
        let op = Sample { values, candidates, tokens, rows, n, temperature, top_p, min_p, seed, step };
        sampling::sample(encoding, op)
    }))
}
