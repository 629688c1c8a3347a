//! How a token is chosen among all that could follow.

use crate::error::{Error, Result};

/// How a token is chosen: penalties first, then `top_k`, `top_p`, `min_p`, and the temperature last.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sampling {
    /// What differences of logits are divided by; 0 takes the most probable token.
    pub temperature: f32,
    /// Only so many of the most probable tokens; all where it is none.
    pub top_k: Option<usize>,
    /// Only the most probable tokens that together have this probability; 1 for all.
    pub top_p: f32,
    /// Only tokens at least this probable relative to the most probable one; 0 for all.
    pub min_p: f32,
    /// What positive logits of recent tokens are divided by, and negative ones multiplied with; 1 for nothing.
    pub repeat_penalty: f32,
    /// What is taken from the logits of recent tokens once; 0 for nothing.
    pub presence_penalty: f32,
    /// What is taken from the logits of recent tokens for each time that they are there; 0 for nothing.
    pub frequency_penalty: f32,
    /// How many tokens are recent: 256 at most.
    pub repeat_last: usize,
    /// The same seed gives the same text.
    pub seed: u64,
}

impl Sampling {
    /// Always the most probable token.
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

    /// Whether no chance is involved.
    pub fn is_greedy(&self) -> bool {
        self.temperature == 0.0
    }

    /// Whether recent tokens matter.
    pub fn penalizes(&self) -> bool {
        let penalties = (self.repeat_penalty, self.presence_penalty, self.frequency_penalty);
        self.repeat_last > 0 && penalties != (1.0, 0.0, 0.0)
    }

    /// What is out of range is an error that names it.
    pub fn check(&self) -> Result<()> {
        let finite = |value: f32, least: f32| value.is_finite() && value >= least;
        let problem = if !finite(self.temperature, 0.0) {
            format!("the temperature is {}: it must be 0 or above", self.temperature)
        } else if self.top_k == Some(0) {
            "top-k is 0: at least one token must be left".into()
        } else if !(self.top_p > 0.0 && self.top_p <= 1.0) {
            format!("top-p is {}: it must be above 0 and at most 1", self.top_p)
        } else if !(self.min_p >= 0.0 && self.min_p <= 1.0) {
            format!("min-p is {}: it must be 0 to 1", self.min_p)
        } else if !(finite(self.repeat_penalty, 0.0) && self.repeat_penalty > 0.0) {
            format!("the repetition penalty is {}: it must be above 0, and 1 for none", self.repeat_penalty)
        } else if !self.presence_penalty.is_finite() || !self.frequency_penalty.is_finite() {
            "the presence and frequency penalties must be numbers".into()
        } else {
            return Ok(());
        };
        Err(Error::Usage(problem))
    }
}
