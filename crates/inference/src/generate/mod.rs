//! Text, token by token: how each is chosen, and when there are enough.

mod perplexity;
mod sampling;
mod session;

pub use perplexity::{Perplexity, perplexity};
pub use sampling::Sampling;
pub use session::{Session, TextRequest};

use crate::error::Result;
use crate::plan::Plan;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What is asked for.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Tokens at most; until the end of the text or of the context where it is none.
    pub max_tokens: Option<usize>,
    /// Tokens that are chosen at a time. What is chosen behind the end of the text was in vain.
    pub steps: usize,
    /// Where the context is full, forgets the older half of it and goes on.
    pub context_shift: bool,
    /// Whether a token ends the text.
    pub is_end: &'a dyn Fn(u32) -> bool,
    /// Ends the text when it is set.
    pub cancelled: &'a AtomicBool,
}

/// Why a text ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// By a token that says so.
    End,
    /// There were as many tokens as were asked for.
    MaxTokens,
    /// The context is full.
    ContextFull,
    /// It was cancelled.
    Cancelled,
}

/// What became of a request.
#[derive(Clone, Copy, Debug)]
pub struct Generated {
    /// Why it ended.
    pub stop: StopReason,
    /// Tokens that had to be computed before the first one was chosen.
    pub prompt_tokens: usize,
    /// From the beginning to the first token.
    pub prompt_time: Duration,
    /// Tokens that were chosen, without one that ends the text.
    pub tokens: usize,
    /// From the first token to the last.
    pub time: Duration,
}

impl Generated {
    /// Tokens a second, of the prompt.
    pub fn prompt_speed(&self) -> f64 {
        self.prompt_tokens as f64 / self.prompt_time.as_secs_f64()
    }

    /// Tokens a second behind the first one; 0 where there was no other.
    pub fn speed(&self) -> f64 {
        match self.tokens {
            0 | 1 => 0.0,
            tokens => (tokens - 1) as f64 / self.time.as_secs_f64(),
        }
    }
}

/// Goes on from the tokens of a plan, and gives each token to `each` as soon as it is there. Tokens become a part of the
/// plan's sequence, one that ends the text excepted.
pub fn generate(plan: &mut Plan, request: &Request<'_>, mut each: impl FnMut(u32)) -> Result<Generated> {
    let start = Instant::now();
    let prompt_tokens = plan.pending().max(1);
    let mut result = Generated {
        stop: StopReason::MaxTokens,
        prompt_tokens,
        prompt_time: Duration::ZERO,
        tokens: 0,
        time: Duration::ZERO,
    };
    let is_cancelled = || request.cancelled.load(Ordering::Relaxed);
    // A long prompt can be cancelled.
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
        }
        let room = plan.context() - plan.len();
        // The first one is waited for.
        let count = if first.is_none() { 1 } else { steps }.min(wanted).min(room);
        let before = plan.len();
        tokens.clear();
        plan.generate(count, &mut tokens)?;
        let now = Instant::now();
        first.get_or_insert(now);
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
