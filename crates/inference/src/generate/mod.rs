//! Text generation: decode token by token until a stop condition.

mod perplexity;
mod sampling;
mod session;

pub use perplexity::{Perplexity, perplexity};
pub use sampling::Sampling;
pub use session::{Session, TextRequest};

use crate::error::{Error, Result};
use crate::plan::Plan;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Options of [`generate`].
#[derive(Clone, Copy)]
pub struct TokenRequest<'a> {
    /// Most tokens to generate. `None`: no limit.
    pub max_tokens: Option<usize>,
    /// Tokens to decode at a time. Those after the end of the text are discarded.
    pub steps: usize,
    /// Drop the older half of a full context and continue.
    pub context_shift: bool,
    /// Returns true for a token that ends the text.
    pub is_end: &'a dyn Fn(u32) -> bool,
    /// Set to true to stop.
    pub cancelled: &'a AtomicBool,
}

/// Reason why generation stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// The model sampled a token that ends the text.
    End,
    /// `max_tokens` tokens were generated.
    MaxTokens,
    /// The context is full.
    ContextFull,
    /// The caller cancelled.
    Cancelled,
}

/// Result of [`generate`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Generated {
    /// Reason why generation stopped.
    pub stop: StopReason,
    /// Tokens evaluated in prefill: the prompt without the part in the KV cache, at least 1.
    pub prompt_tokens: usize,
    /// Tokens of the prompt that were in the KV cache.
    pub reused_tokens: usize,
    /// Time from the call to the first token.
    pub prompt_time: Duration,
    /// Generated tokens, without the one that ends the text.
    pub tokens: usize,
    /// Time from the first token to the end.
    pub time: Duration,
    /// True if the oldest messages or tokens were dropped because the context was full.
    pub shifted: bool,
}

impl Generated {
    /// Prefill speed in tokens per second.
    pub fn prompt_speed(&self) -> f64 {
        self.prompt_tokens as f64 / self.prompt_time.as_secs_f64()
    }

    /// Decode speed in tokens per second, without the first token; 0 if there was no other.
    pub fn speed(&self) -> f64 {
        match self.tokens {
            0 | 1 => 0.0,
            tokens => (tokens - 1) as f64 / self.time.as_secs_f64(),
        }
    }
}

/// Kernels choose this token if all logits are NaN.
const WITHOUT_NUMBERS: u32 = 0;

/// Returns an error if the last of the tokens was not chosen by numbers. A NaN in the KV cache makes all later logits
/// NaN, so that the last one tells.
fn check_numbers(plan: &mut Plan, tokens: &[u32]) -> Result<()> {
    if tokens.last() != Some(&WITHOUT_NUMBERS) {
        return Ok(());
    }
    plan.truncate(plan.len() - 1);
    if plan.logits()?.iter().all(|logit| logit.is_nan()) {
        let message = "all logits are NaN: the weights of the model are damaged, or its numbers overflow";
        return Err(Error::Model(message.into()));
    }
    plan.push(&[WITHOUT_NUMBERS])
}

/// Continues the sequence of a plan. Calls `each` with every token, after each group of `steps`. The tokens become part
/// of the sequence, except one that ends the text.
pub fn generate(plan: &mut Plan, request: &TokenRequest<'_>, mut each: impl FnMut(u32)) -> Result<Generated> {
    let start = Instant::now();
    let prompt_tokens = plan.pending().max(1);
    let mut result = Generated {
        stop: StopReason::MaxTokens,
        prompt_tokens,
        reused_tokens: plan.len().saturating_sub(prompt_tokens),
        prompt_time: Duration::ZERO,
        tokens: 0,
        time: Duration::ZERO,
        shifted: false,
    };
    let is_cancelled = || request.cancelled.load(Ordering::Relaxed);
    // Prefill in chunks, so a long prompt can be cancelled.
    while plan.pending() > plan.chunk() && !is_cancelled() {
        plan.evaluate_chunk()?;
    }
    let steps = request.steps.max(1);
    let mut tokens = Vec::with_capacity(steps);
    let mut first = None;
    loop {
        let wanted = request.max_tokens.map_or(usize::MAX, |most| most - result.tokens);
        if wanted == 0 {
            break;
        }
        if is_cancelled() {
            result.stop = StopReason::Cancelled;
            break;
        }
        if plan.len() >= plan.context() {
            if !request.context_shift {
                result.stop = StopReason::ContextFull;
                break;
            }
            plan.forget_older_half()?;
            result.shifted = true;
        }
        let room = plan.context() - plan.len();
        // One token first, for a short time to first token.
        let count = if first.is_none() { 1 } else { steps }.min(wanted).min(room);
        let before = plan.len();
        tokens.clear();
        plan.generate(count, &mut tokens)?;
        let now = Instant::now();
        first.get_or_insert(now);
        check_numbers(plan, &tokens)?;
        let end = tokens.iter().position(|&token| (request.is_end)(token));
        let text = &tokens[..end.unwrap_or(count)];
        text.iter().for_each(|&token| each(token));
        result.tokens += text.len();
        if end.is_some() {
            plan.truncate(before + text.len());
            result.stop = StopReason::End;
            break;
        }
    }
    let first = first.unwrap_or_else(Instant::now);
    (result.prompt_time, result.time) = (first - start, first.elapsed());
    Ok(result)
}
