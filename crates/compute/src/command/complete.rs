//! From commit to completion: the work is executed, here or by the device, and completed handlers run.

use super::{CommandBuffer, CommandBufferInner, CommandBufferStatus, Handling};
use crate::backend::{Complete, Outcome, Work};
use crate::error::Error;
use crate::queue::QueuedCommandBuffer;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

impl QueuedCommandBuffer for CommandBufferInner {
    fn take_turn(self: Arc<Self>) {
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

    fn is_finished(&self) -> bool {
        self.state().handling == Handling::Done
    }

    fn is_running_handlers(&self) -> bool {
        self.state().handling == Handling::Running
    }
}

impl Complete for CommandBufferInner {
    fn complete(self: Arc<Self>, work: Work, outcome: Outcome) {
        self.set_outcome(work, outcome);
        let has_handlers = !self.state().handlers.is_empty();
        match has_handlers {
            true => self.queue.run_handlers_of(self.clone()),
            false => self.clone().run_handlers(),
        }
        self.queue.notify_finished();
    }

    fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    fn profiling(&self) -> bool {
        self.profiling
    }
}

impl CommandBufferInner {
    fn execute(&self, work: Work) {
        let mut timings = Vec::new();
        let wanted = self.profiling.then_some(&mut timings);
        let executed = catch_unwind(AssertUnwindSafe(|| self.queue.queue().execute(&work, wanted)));
        let executed = executed.unwrap_or_else(|_| Err(Error::Internal("the device panicked".into())));
        let start = self.state().start;
        self.set_outcome(work, Outcome { executed, start, end: Some(Instant::now()), timings });
    }

    fn set_outcome(&self, mut work: Work, outcome: Outcome) {
        // Release buffers that only this work kept alive, before notifying anyone.
        let tables = work.clear();
        self.queue.queue().take_back(work, tables);
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

    fn run_handlers(self: Arc<Self>) {
        let handlers = {
            let mut state = self.state();
            state.handling = Handling::Running;
            std::mem::take(&mut state.handlers)
        };
        let command_buffer = CommandBuffer { inner: self };
        for handler in handlers {
            let _ = catch_unwind(AssertUnwindSafe(|| handler(&command_buffer)));
        }
        command_buffer.state().handling = Handling::Done;
    }
}
