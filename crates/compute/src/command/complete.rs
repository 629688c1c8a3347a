//! From the commit to the end: the work is executed, here or by the device, and the completed handlers run.

use super::{CommandBuffer, CommandBufferStatus, Handling};
use crate::error::Error;
use crate::submission::Outcome;
use crate::work::Work;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

impl CommandBuffer {
    pub(crate) fn profiling(&self) -> bool {
        self.inner.profiling
    }

    /// Whether the completed handlers have run.
    pub(crate) fn is_finished(&self) -> bool {
        self.state().handling == Handling::Done
    }

    /// Whether the completed handlers are running.
    pub(crate) fn is_running_handlers(&self) -> bool {
        self.state().handling == Handling::Running
    }

    pub(crate) fn has_handlers(&self) -> bool {
        !self.state().handlers.is_empty()
    }

    /// Does on this thread what is left to do: executes it, if no device has, and runs its completed handlers.
    pub(crate) fn take_turn(&self) {
        let work = {
            let mut state = self.state();
            (state.status < CommandBufferStatus::Completed).then(|| {
                state.status = CommandBufferStatus::Scheduled;
                state.start = Some(Instant::now());
                std::mem::take(&mut state.work)
            })
        };
        if let Some(work) = work {
            self.execute(work);
        }
        self.run_handlers();
    }

    fn execute(&self, work: Work) {
        let mut timings = Vec::new();
        let wanted = self.inner.profiling.then_some(&mut timings);
        let executed = catch_unwind(AssertUnwindSafe(|| self.queue().device().execute(&work, wanted)));
        let executed = executed.unwrap_or_else(|_| Err(Error::Internal("the device panicked".into())));
        let start = self.gpu_start_time();
        self.set_outcome(work, Outcome { executed, start, end: Some(Instant::now()), timings });
    }

    /// The device has executed it.
    pub(crate) fn complete(&self, work: Work, outcome: Outcome) {
        self.set_outcome(work, outcome);
        self.inner.queue.completed(self);
    }

    fn set_outcome(&self, mut work: Work, outcome: Outcome) {
        // Buffers that only this work kept alive go now, before anybody is told.
        let passes = work.clear();
        self.queue().take_back(work, passes);
        let mut state = self.state();
        state.start = outcome.start;
        state.end = outcome.end;
        state.timings = outcome.timings;
        match outcome.executed {
            Ok(()) => state.status = CommandBufferStatus::Completed,
            Err(error) => {
                state.status = CommandBufferStatus::Error;
                state.error = Some(error);
            }
        }
    }

    pub(crate) fn run_handlers(&self) {
        let handlers = {
            let mut state = self.state();
            state.handling = Handling::Running;
            std::mem::take(&mut state.handlers)
        };
        for handler in handlers {
            let _ = catch_unwind(AssertUnwindSafe(|| handler(self)));
        }
        self.state().handling = Handling::Done;
    }
}
