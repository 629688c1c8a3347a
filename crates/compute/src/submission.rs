//! Work on its way through a back end that executes by itself: a GPU with a queue of its own.
//!
//! ```text
//! commit ── Submission ── Submitter::submit: encoded on the caller's thread, and given to the device
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

use crate::command::CommandBuffer;
use crate::error::{Error, Result};
use crate::timing::DispatchTiming;
use crate::work::Work;
use std::time::Instant;

/// The queue of a back end that executes by itself.
pub(crate) trait Submitter: Send + Sync {
    /// Takes work over. It begins after all that was submitted by calls which have returned, and is completed on any thread,
    /// perhaps before this returns.
    fn submit(&self, submission: Submission);
}

/// Work that was submitted and not completed. It keeps all that the work uses alive.
pub(crate) struct Submission {
    /// Until it is completed.
    command_buffer: Option<CommandBuffer>,
    work: Work,
}

/// What became of work.
pub(crate) struct Outcome {
    pub(crate) executed: Result<()>,
    /// When the device began; `None` where that is not known.
    pub(crate) start: Option<Instant>,
    pub(crate) end: Option<Instant>,
    pub(crate) timings: Vec<DispatchTiming>,
}

impl Submission {
    pub(crate) fn new(command_buffer: CommandBuffer, work: Work) -> Submission {
        Submission { command_buffer: Some(command_buffer), work }
    }

    pub(crate) fn work(&self) -> &Work {
        &self.work
    }

    /// The name of its command buffer.
    pub(crate) fn label(&self) -> Option<&str> {
        self.command_buffer.as_ref().and_then(CommandBuffer::label)
    }

    /// Whether it is to be known when each dispatch ran.
    pub(crate) fn profiling(&self) -> bool {
        self.command_buffer.as_ref().is_some_and(CommandBuffer::profiling)
    }

    /// The device is done with it.
    pub(crate) fn complete(mut self, outcome: Outcome) {
        self.finish(outcome);
    }

    /// It could not be given to the device.
    pub(crate) fn fail(self, error: Error) {
        self.complete(Outcome { executed: Err(error), start: None, end: None, timings: Vec::new() });
    }

    fn finish(&mut self, outcome: Outcome) {
        if let Some(command_buffer) = self.command_buffer.take() {
            command_buffer.complete(std::mem::take(&mut self.work), outcome);
        }
    }
}

impl Drop for Submission {
    fn drop(&mut self) {
        let executed = Err(Error::Internal("the device lost the command buffer".into()));
        self.finish(Outcome { executed, start: None, end: None, timings: Vec::new() });
    }
}

#[cfg(test)]
mod tests;
