//! Perplexity: how well a model predicts a text.

use crate::error::{Error, Result};
use crate::plan::Plan;

/// Perplexity of a text.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Perplexity {
    /// Exponential of the mean negative log-likelihood of the tokens.
    pub value: f64,
    /// Standard error of the value.
    pub error: f64,
    /// Number of predicted tokens.
    pub tokens: usize,
}

/// Computes the perplexity of a text in windows of `window` tokens, like llama.cpp: the second half of each window
/// counts, so every token has context, and the rest after the last whole window is left out. A text shorter than a
/// window is one window. `bos` replaces the first token of each window, for models that expect it.
pub fn perplexity(
    plan: &mut Plan,
    tokens: &[u32],
    window: usize,
    bos: Option<u32>,
    mut progress: impl FnMut(usize, usize),
) -> Result<Perplexity> {
    if tokens.len() < 4 {
        let problem = format!("the text is too short: it has {} of at least 4 tokens", tokens.len());
        return Err(Error::Usage(problem));
    }
    let window = window.min(tokens.len());
    if window < 4 || window > plan.context() {
        let context = plan.context();
        let problem = format!("a text of {} tokens in windows of {window}", tokens.len());
        return Err(Error::Usage(format!("{problem}: a window must have 4 to {context} tokens")));
    }
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0usize);
    let windows = tokens.len() / window;
    for (index, window_tokens) in tokens.chunks_exact(window).enumerate() {
        let mut first = [window_tokens[0]];
        first[0] = bos.unwrap_or(first[0]);
        plan.truncate(0);
        plan.push(&first)?;
        // The last token predicts one outside of the window.
        plan.push(&window_tokens[1..window - 1])?;
        plan.logits_of_pending(window / 2, |position, logits| {
            let loss = negative_log_likelihood(logits, window_tokens[position + 1]);
            sum += loss;
            squares += loss * loss;
            count += 1;
        })?;
        progress(index + 1, windows);
    }
    let mean = sum / count as f64;
    let variance = (squares / count as f64 - mean * mean).max(0.0);
    let value = mean.exp();
    Ok(Perplexity { value, error: value * (variance / count.max(2) as f64).sqrt(), tokens: count })
}

/// −log of the probability of a token, from the logits.
fn negative_log_likelihood(logits: &[f32], token: u32) -> f64 {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f64 = logits.iter().map(|logit| f64::from(logit - largest).exp()).sum();
    total.ln() - f64::from(logits[token as usize] - largest)
}
