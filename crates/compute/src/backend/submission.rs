//! Work on its way through a back end that executes by itself: a GPU with a queue of its own.
//!
//! ```text
//! commit ── Submission ── Submit::submit: encoded on the caller's thread, and given to the device
//!                │                                        ┆ the device works, the caller encodes what comes next
//!                └────── complete(Outcome), on any thread ┘
//!                           ├ no completed handlers: who waits is woken
//!                           └ completed handlers: run by the queue's thread, or by who waits
//! ```
//!
//! Handlers do not run on the thread that completes: that is the driver's, which may need it to complete what a handler
//! waits for.
//!
//! **Invariant:** a submission is completed, whatever happens to it. One that is dropped is completed with an error, so that
//! nobody waits forever.

use super::Work;
use crate::error::{Error, Result};
use crate::timing::DispatchTiming;
use std::sync::Arc;
use std::time::Instant;

/// Whoever is told that work is done: a command buffer.
pub trait Complete: Send + Sync {
    /// The device is done with the work, which is given back.
    fn complete(self: Arc<Self>, work: Work, outcome: Outcome);

    /// A name for tools and messages.
    fn label(&self) -> Option<&str>;

    /// Whether it is to be known when each dispatch ran.
    fn profiling(&self) -> bool;
}

/// Work that was submitted and not completed. It keeps everything alive that the work uses.
pub struct Submission {
    /// Until it is completed.
    owner: Option<Arc<dyn Complete>>,
    work: Work,
}

/// How work ended.
pub struct Outcome {
    /// Whether everything was executed.
    pub executed: Result<()>,
    /// When the device began; `None` where that is not known.
    pub start: Option<Instant>,
    /// When the device was done.
    pub end: Option<Instant>,
    /// When each dispatch ran, if that was asked for.
    pub timings: Vec<DispatchTiming>,
}

impl Submission {
    /// `owner` is told when the work is done.
    pub fn new(owner: Arc<dyn Complete>, work: Work) -> Submission {
        Submission { owner: Some(owner), work }
    }

    /// The work.
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// The name of its command buffer.
    pub fn label(&self) -> Option<&str> {
        self.owner.as_ref().and_then(|owner| owner.label())
    }

    /// Whether it is to be known when each dispatch ran.
    pub fn profiling(&self) -> bool {
        self.owner.as_ref().is_some_and(|owner| owner.profiling())
    }

    /// The device is done with it.
    pub fn complete(mut self, outcome: Outcome) {
        self.finish(outcome);
    }

    /// It could not be given to the device.
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
