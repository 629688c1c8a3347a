//! Work submitted to a back end that executes by itself: a GPU with its own queue.
//!
//! ```text
//! commit ── Submission ── Submit::submit: encoded on the caller's thread, and passed to the device
//!                │                                        ┆ the device works, the caller encodes the next
//!                └────── complete(Outcome), on any thread ┘
//!                           ├ no completed handlers: waiting threads are woken
//!                           └ completed handlers: run by the queue's thread, or by a waiting thread
//! ```
//!
//! Handlers do not run on the completing thread: it is the driver's, which may need it to complete work that a handler
//! waits for.
//!
//! **Invariant:** every submission is completed. Dropping one completes it with an error, so that nothing waits
//! forever.

use super::Work;
use crate::error::{Error, Result};
use crate::timing::DispatchTiming;
use std::sync::Arc;
use std::time::Instant;

/// Receives completed work: a command buffer.
pub trait Complete: Send + Sync {
    /// Called when the device is done with the work, which is handed back.
    fn complete(self: Arc<Self>, work: Work, outcome: Outcome);

    /// The name for tools and messages.
    fn label(&self) -> Option<&str>;

    /// True if the time of each dispatch is wanted.
    fn profiling(&self) -> bool;
}

/// Work that was submitted and not yet completed. It keeps alive all objects that the work uses.
pub struct Submission {
    /// `None` once it is completed.
    owner: Option<Arc<dyn Complete>>,
    work: Work,
}

/// The outcome of executed work.
pub struct Outcome {
    /// The first error, if any.
    pub executed: Result<()>,
    /// Time when the device began; `None` if unknown.
    pub start: Option<Instant>,
    /// Time when the device was done; `None` if unknown.
    pub end: Option<Instant>,
    /// Time of each dispatch, if profiling.
    pub timings: Vec<DispatchTiming>,
}

impl Submission {
    /// Creates a submission that completes `owner`.
    pub fn new(owner: Arc<dyn Complete>, work: Work) -> Submission {
        Submission { owner: Some(owner), work }
    }

    /// The work.
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// The label of its command buffer.
    pub fn label(&self) -> Option<&str> {
        self.owner.as_ref().and_then(|owner| owner.label())
    }

    /// True if the time of each dispatch is wanted.
    pub fn profiling(&self) -> bool {
        self.owner.as_ref().is_some_and(|owner| owner.profiling())
    }

    /// Completes the work.
    pub fn complete(mut self, outcome: Outcome) {
        self.finish(outcome);
    }

    /// Completes work that could not be submitted.
    pub fn fail(self, error: Error) {
        self.complete(Outcome { executed: Err(error), start: None, end: None, timings: Vec::new() });
    }

    fn finish(&mut self, outcome: Outcome) {
        if let Some(owner) = self.owner.take() {
            owner.complete(std::mem::take(&mut self.work), outcome);
        }
    }
}

impl Drop for Submission {
    fn drop(&mut self) {
        let executed = Err(Error::Internal("the device lost the command buffer".into()));
        self.finish(Outcome { executed, start: None, end: None, timings: Vec::new() });
    }
}
