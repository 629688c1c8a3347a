//! How well a model foretells a text.

use crate::error::{Error, Result};
use crate::plan::Plan;

/// How well a text was foretold.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Perplexity {
    /// e to the mean of −log of the probabilities of the tokens: as if each were one of so many equally probable ones.
    pub value: f64,
    /// The standard error of that.
    pub error: f64,
    /// Tokens that were looked at.
    pub tokens: usize,
}

/// The perplexity of a text, in windows of so many tokens. Of each window the second half is looked at, so that every token
/// has something before it, as llama.cpp does; the rest behind the last whole window is left out. A text that is shorter
/// than a window is one. `bos` takes the place of the first token of each window, for models that want texts to begin so.
pub fn perplexity(
    plan: &mut Plan,
    tokens: &[u32],
    window: usize,
    bos: Option<u32>,
    mut progress: impl FnMut(usize, usize),
) -> Result<Perplexity> {
    let window = window.min(tokens.len());
    if window < 4 || window > plan.context() {
        let context = plan.context();
        let problem = format!("a text of {} tokens in windows of {window}", tokens.len());
        return Err(Error::Usage(format!("{problem}: they must be 4 at least, and {context} at most")));
    }
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0usize);
    let windows = tokens.len() / window;
    for (index, window_tokens) in tokens.chunks_exact(window).enumerate() {
        let mut first = [window_tokens[0]];
        first[0] = bos.unwrap_or(first[0]);
        plan.truncate(0);
        plan.push(&first)?;
        // The last token foretells what is not in the window.
        plan.push(&window_tokens[1..window - 1])?;
        plan.logits_of_pending(window / 2, |position, logits| {
            let surprise = surprise(logits, window_tokens[position + 1]);
            sum += surprise;
            squares += surprise * surprise;
            count += 1;
        })?;
        progress(index + 1, windows);
    }
    let mean = sum / count as f64;
    let variance = (squares / count as f64 - mean * mean).max(0.0);
    let value = mean.exp();
    Ok(Perplexity { value, error: value * (variance / count.max(2) as f64).sqrt(), tokens: count })
}

/// −log of the probability of a token.
fn surprise(logits: &[f32], token: u32) -> f64 {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f64 = logits.iter().map(|logit| f64::from(logit - largest).exp()).sum();
    total.ln() - f64::from(logits[token as usize] - largest)
}
