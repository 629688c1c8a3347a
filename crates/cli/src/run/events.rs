//! Events of `run --json`, one JSON object in a line.

use std::sync::atomic::{AtomicBool, Ordering};

use inference::generate::{Generated, StopReason};
use serde::Serialize;

use crate::output;

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum RunEvent<'a> {
    /// The model is loaded.
    Start {
        model: &'a str,
        device: &'a str,
        context: usize,
        load_seconds: f64,
    },
    /// A part of the answer, in whole characters.
    Text {
        text: &'a str,
    },
    /// The answer is complete, or ended early.
    End {
        stop: &'static str,
        prompt_tokens: usize,
        prompt_seconds: f64,
        tokens: usize,
        seconds: f64,
        /// The oldest messages or tokens were dropped.
        context_shifted: bool,
    },
    Error {
        message: &'a str,
    },
}

impl<'a> RunEvent<'a> {
    pub(super) fn end(generated: &Generated) -> RunEvent<'a> {
        RunEvent::End {
            stop: match generated.stop {
                StopReason::End => "end",
                StopReason::MaxTokens => "max_tokens",
                StopReason::ContextFull => "context_full",
                StopReason::Cancelled => "cancelled",
            },
            prompt_tokens: generated.prompt_tokens,
            prompt_seconds: generated.prompt_time.as_secs_f64(),
            tokens: generated.tokens,
            seconds: generated.time.as_secs_f64(),
            context_shifted: generated.shifted,
        }
    }

    /// Prints the event. If stdout is closed, cancels the answer.
    pub(super) fn print(&self, cancelled: &AtomicBool) -> std::io::Result<()> {
        output::json_line(self).inspect_err(|_| cancelled.store(true, Ordering::Relaxed))
    }
}
