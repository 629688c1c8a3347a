//! Sampling parameters.

use crate::error::{Error, Result};

/// Sampling parameters, applied in this order: penalties, `top_k`, `top_p`, `min_p`, temperature.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sampling {
    /// Divides the logits; 0 picks the most probable token.
    pub temperature: f32,
    /// Keeps the `k` most probable tokens; `None` keeps all.
    pub top_k: Option<usize>,
    /// Keeps the most probable tokens up to this total probability; 1 keeps all.
    pub top_p: f32,
    /// Keeps tokens with at least this fraction of the highest probability; 0 keeps all.
    pub min_p: f32,
    /// Divides positive logits of recent tokens and multiplies negative ones; 1 for none.
    pub repeat_penalty: f32,
    /// Subtracted once from the logit of a recent token; 0 for none.
    pub presence_penalty: f32,
    /// Subtracted from the logit of a recent token for each occurrence; 0 for none.
    pub frequency_penalty: f32,
    /// Number of recent tokens for penalties; more than 256 count as 256.
    pub repeat_last: usize,
    /// Seed: with the same seed, a prompt gets the same text.
    pub seed: u64,
}

impl Sampling {
    /// Greedy decoding: the most probable token, without penalties.
    pub const GREEDY: Sampling = Sampling {
        temperature: 0.0,
        top_k: None,
        top_p: 1.0,
        min_p: 0.0,
        repeat_penalty: 1.0,
        presence_penalty: 0.0,
        frequency_penalty: 0.0,
        repeat_last: 64,
        seed: 0,
    };

    /// Returns true if the most probable token is picked.
    pub fn is_greedy(&self) -> bool {
        self.temperature == 0.0
    }

    /// Returns true if any penalty applies.
    pub fn penalizes(&self) -> bool {
        let penalties = (self.repeat_penalty, self.presence_penalty, self.frequency_penalty);
        self.repeat_last > 0 && penalties != (1.0, 0.0, 0.0)
    }

    /// Returns an error if a parameter is out of range.
    pub fn check(&self) -> Result<()> {
        let finite = |value: f32, least: f32| value.is_finite() && value >= least;
        let problem = if !finite(self.temperature, 0.0) {
            format!("the temperature is {}: it must be 0 or above", self.temperature)
        } else if self.top_k == Some(0) {
            "top-k is 0: it must be 1 or above".into()
        } else if !(self.top_p > 0.0 && self.top_p <= 1.0) {
            format!("top-p is {}: it must be above 0 and at most 1", self.top_p)
        } else if !(self.min_p >= 0.0 && self.min_p <= 1.0) {
            format!("min-p is {}: it must be 0 to 1", self.min_p)
        } else if !(finite(self.repeat_penalty, 0.0) && self.repeat_penalty > 0.0) {
            format!("the repetition penalty is {}: it must be above 0, and 1 for none", self.repeat_penalty)
        } else if !self.presence_penalty.is_finite() || !self.frequency_penalty.is_finite() {
            "the presence and frequency penalties must be finite".into()
        } else {
            return Ok(());
        };
        Err(Error::Usage(problem))
    }
}
