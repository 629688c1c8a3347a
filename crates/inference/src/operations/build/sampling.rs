//! The next token.

use super::{Built, Maker};
use crate::metal::operations::sampling::{self, Argmax, Penalize, Sample, TopK};
use crate::operations::case::Case;
use crate::operations::data::all;
use crate::operations::formulas;
use crate::operations::output::Number;

/// Temperature, top_p and min_p, as models recommend them.
const DRAW: (f32, f32, f32) = (0.7, 0.9, 0.05);

pub(crate) fn penalize(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n, count) = (case.shape['M'], case.shape['N'], case.shape['C']);
    let (logits, recent) = (maker.logits(&[rows, n])?, maker.tokens(rows.saturating_mul(count), n)?);
    let penalized = maker.changed("logits", &logits, Number::F32);
    // Again and again, penalties change nothing: the logits are the same at every run.
    let (repeat, presence, frequency) = if maker.is_check() { (1.25, 0.5, 0.25) } else { (1.0, 0.0, 0.0) };
    maker.expect(&penalized, || {
        let mut logits = logits.numbers();
        for (row, recent) in logits.chunks_mut(n).zip(recent.read::<u32>().chunks(count)) {
            for (token, logit) in row.iter_mut().enumerate() {
                let times = recent.iter().filter(|recent| **recent as usize == token).count() as f64;
                let repeat = f64::from(repeat);
                if times > 0.0 {
                    *logit = if *logit > 0.0 { *logit / repeat } else { *logit * repeat };
                    *logit -= f64::from(presence) + times * f64::from(frequency);
                }
            }
        }
        logits
    });
    Ok(Box::new(move |encoding| {
        let (logits, recent) = (all(&logits), all(&recent));
        sampling::penalize(encoding, Penalize { logits, recent, rows, n, count, repeat, presence, frequency })
    }))
}

pub(crate) fn argmax(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n) = (case.shape['M'], case.shape['N']);
    let (logits, tokens) = (maker.logits(&[rows, n])?, maker.output("tokens", &[rows], Number::U32)?);
    maker.expect(&tokens, || logits.numbers().chunks(n).map(|row| formulas::argmax(row) as f64).collect());
    Ok(Box::new(move |encoding| {
        sampling::argmax(encoding, Argmax { logits: all(&logits), tokens: tokens.slice(), rows, n })
    }))
}

pub(crate) fn top_k(maker: &Maker<'_>, case: &Case) -> Built {
    let (rows, n, k) = (case.shape['M'], case.shape['N'], case.shape['C']);
    let logits = maker.logits(&[rows, n])?;
    let values = maker.output("values", &[rows, k], Number::F32)?;
    let tokens = maker.output("tokens", &[rows, k], Number::U32)?;
    let kept = |row: &[f64]| {
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| row[b].total_cmp(&row[a]).then(a.cmp(&b)));
        order.truncate(k);
        order.sort();
        order
    };
    maker.expect(&values, || {
        let value = |row: &[f64]| kept(row).into_iter().map(|token| row[token]).collect::<Vec<f64>>();
        logits.numbers().chunks(n).flat_map(value).collect()
    });
    maker.expect(&tokens, || logits.numbers().chunks(n).flat_map(kept).map(|token| token as f64).collect());
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
    let (seed, step) = (1, 0);
    maker.expect(&tokens, || {
        let (values, candidates) = (values.numbers(), candidates.read::<u32>());
        let drawn = values.chunks(n).enumerate().map(|(row, logits)| {
            let token = |i: usize| if indexed { candidates[row * n + i] } else { i as u32 };
            let score = |i: usize| logits[i] / f64::from(temperature) + gumbel(seed, step, row as u32, token(i));
            let kept = kept(logits, f64::from(top_p), f64::from(min_p));
            let scores: Vec<f64> = kept.iter().map(|&i| score(i)).collect();
            f64::from(token(kept[formulas::argmax(&scores)]))
        });
        drawn.collect()
    });
    Ok(Box::new(move |encoding| {
        let (values, tokens, candidates) = (all(&values), tokens.slice(), indexed.then(|| all(&candidates)));
        let op = Sample { values, candidates, tokens, rows, n, temperature, top_p, min_p, seed, step };
        sampling::sample(encoding, op)
    }))
}

/// Indices that top_p and min_p keep: the most probable that together have at least top_p, equal ones together, and of these
/// the ones that are at least min_p as probable as the first.
fn kept(logits: &[f64], top_p: f64, min_p: f64) -> Vec<usize> {
    let probabilities = formulas::softmax(logits);
    let largest = probabilities.iter().copied().fold(0.0, f64::max);
    let before = |own: f64| probabilities.iter().filter(|other| **other > own).sum::<f64>();
    let is_kept = |own: f64| (top_p >= 1.0 || own == largest || before(own) < top_p) && own >= min_p * largest;
    (0..logits.len()).filter(|&i| is_kept(probabilities[i])).collect()
}

/// Gumbel-distributed noise of a token: −log(E), E exponentially distributed, from a hash of seed, step, row and token.
fn gumbel(seed: u64, step: u32, row: u32, token: u32) -> f64 {
    fn scramble(x: u32) -> u32 {
        let x = (x ^ (x >> 16)).wrapping_mul(0x21f0_aaad);
        let x = (x ^ (x >> 15)).wrapping_mul(0x735a_2d97);
        x ^ (x >> 15)
    }
    let key = scramble(step ^ scramble(row.wrapping_add(0x9e37_79b9)));
    let key = scramble(seed as u32 ^ scramble((seed >> 32) as u32 ^ key));
    let uniform = (f64::from(scramble(token ^ key)) + 0.5) / 4_294_967_296.0;
    -(-(-uniform).ln_1p()).ln()
}
