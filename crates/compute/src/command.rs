//! Command buffers: what is encoded, committed and waited for.

use crate::encoder::{ComputeCommandEncoder, DispatchType};
use crate::error::{Error, Result, usage};
use crate::queue::{CommandQueue, Queue};
use crate::recording::Pass;
use crate::timing::DispatchTiming;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How far a command buffer has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CommandBufferStatus {
    /// It can be encoded into.
    NotEnqueued,
    /// It waits for its turn.
    Committed,
    /// The device works on it.
    Scheduled,
    /// It is done.
    Completed,
    /// It is done, and failed: [`CommandBuffer::error`] says why. What came after the failure was not executed.
    Error,
}

/// Work for the device, in the order in which it was encoded. A clone is the same command buffer.
#[derive(Clone)]
pub struct CommandBuffer {
    inner: Arc<Inner>,
}

struct Inner {
    queue: CommandQueue,
    state: Mutex<State>,
}

type Handler = Box<dyn FnOnce(&CommandBuffer) + Send>;

struct State {
    status: CommandBufferStatus,
    /// The completed handlers have run, too: who waits may go.
    finished: bool,
    encoder: Encoder,
    passes: Vec<Pass>,
    handlers: Vec<Handler>,
    error: Option<Error>,
    start: Option<Instant>,
    end: Option<Instant>,
    timings: Vec<DispatchTiming>,
}

/// What became of the encoders.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoder {
    /// There is none, or it ended.
    None,
    /// It can still record.
    Open,
    /// It was dropped before its end.
    Dropped,
}

impl CommandBuffer {
    pub(crate) fn new(queue: CommandQueue) -> CommandBuffer {
        let state = State {
            status: CommandBufferStatus::NotEnqueued,
            finished: false,
            encoder: Encoder::None,
            passes: Vec::new(),
            handlers: Vec::new(),
            error: None,
            start: None,
            end: None,
            timings: Vec::new(),
        };
        CommandBuffer { inner: Arc::new(Inner { queue, state: Mutex::new(state) }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic happens under the lock.
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self) -> &Queue {
        self.inner.queue.queue()
    }

    /// An encoder whose dispatches run one after the other.
    pub fn compute_command_encoder(&self) -> Result<ComputeCommandEncoder> {
        self.compute_command_encoder_with_dispatch_type(DispatchType::Serial)
    }

    /// An encoder. Its work begins after that of the encoders before it.
    pub fn compute_command_encoder_with_dispatch_type(
        &self,
        dispatch_type: DispatchType,
    ) -> Result<ComputeCommandEncoder> {
        let mut state = self.state();
        if state.status != CommandBufferStatus::NotEnqueued {
            return usage("an encoder for a command buffer that was committed; make a new command buffer");
        }
        match state.encoder {
            Encoder::None => state.encoder = Encoder::Open,
            Encoder::Open => return usage("a second encoder at a time; call end_encoding on the first one"),
            Encoder::Dropped => return usage(DROPPED),
        }
        drop(state);
        Ok(ComputeCommandEncoder::new(self.clone(), dispatch_type))
    }

    pub(crate) fn end_pass(&self, pass: Pass) {
        let mut state = self.state();
        state.passes.push(pass);
        state.encoder = Encoder::None;
    }

    pub(crate) fn abandon_pass(&self) {
        self.state().encoder = Encoder::Dropped;
    }

    /// Calls `handler` when the work is done, once, after the status was set; on which thread is not specified. A handler
    /// that panics harms nobody else.
    pub fn add_completed_handler(&self, handler: impl FnOnce(&CommandBuffer) + Send + 'static) -> Result<()> {
        let mut state = self.state();
        if state.status != CommandBufferStatus::NotEnqueued {
            return usage("a completed handler for a command buffer that was committed; add it before");
        }
        state.handlers.push(Box::new(handler));
        Ok(())
    }

    /// Hands the work to the device. It is executed after everything that was committed to the queue before.
    pub fn commit(&self) -> Result<()> {
        self.inner.queue.commit(self)
    }

    /// Changes the status, if everything is as it must be.
    pub(crate) fn mark_committed(&self) -> Result<()> {
        let mut state = self.state();
        if state.status != CommandBufferStatus::NotEnqueued {
            return usage("a command buffer was committed twice; make a new one for each submission");
        }
        match state.encoder {
            Encoder::None => {}
            Encoder::Open => return usage("commit with an open encoder; call end_encoding first"),
            Encoder::Dropped => return usage(DROPPED),
        }
        state.status = CommandBufferStatus::Committed;
        Ok(())
    }

    /// Waits until the work is done and the completed handlers have run. The error is the one of [`CommandBuffer::error`],
    /// or that the command buffer was not committed.
    pub fn wait_until_completed(&self) -> Result<()> {
        if self.status() == CommandBufferStatus::NotEnqueued {
            return usage("waiting for a command buffer that was not committed; call commit first");
        }
        self.queue().wait_for(self);
        self.error().map_or(Ok(()), Err)
    }

    /// How far it has come.
    pub fn status(&self) -> CommandBufferStatus {
        self.state().status
    }

    /// Why it failed.
    pub fn error(&self) -> Option<Error> {
        self.state().error.clone()
    }

    /// When the device began with it; `None` before.
    pub fn gpu_start_time(&self) -> Option<Instant> {
        self.state().start
    }

    /// When the device was done with it; `None` before.
    pub fn gpu_end_time(&self) -> Option<Instant> {
        self.state().end
    }

    /// When each dispatch ran, in the order in which they were encoded; empty until the work is done.
    pub fn dispatch_timings(&self) -> Vec<DispatchTiming> {
        self.state().timings.clone()
    }

    /// Whether the completed handlers have run.
    pub(crate) fn is_finished(&self) -> bool {
        self.state().finished
    }

    /// Executes it on this thread, and then its completed handlers.
    pub(crate) fn execute(&self) {
        let passes = {
            let mut state = self.state();
            state.status = CommandBufferStatus::Scheduled;
            state.start = Some(Instant::now());
            std::mem::take(&mut state.passes)
        };
        let mut timings = Vec::new();
        let executed = catch_unwind(AssertUnwindSafe(|| self.queue().device().execute(&passes, &mut timings)));
        let executed = executed.unwrap_or_else(|_| Err(Error::Internal("the device panicked".into())));
        let handlers = {
            let mut state = self.state();
            state.end = Some(Instant::now());
            state.timings = timings;
            match executed {
                Ok(()) => state.status = CommandBufferStatus::Completed,
                Err(error) => {
                    state.status = CommandBufferStatus::Error;
                    state.error = Some(error);
                }
            }
            std::mem::take(&mut state.handlers)
        };
        // Buffers that only this work kept alive go now, before anybody is told.
        drop(passes);
        for handler in handlers {
            let _ = catch_unwind(AssertUnwindSafe(|| handler(self)));
        }
        self.state().finished = true;
    }
}

const DROPPED: &str = "an encoder was dropped without end_encoding; what it recorded is lost";

impl std::fmt::Debug for CommandBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandBuffer").field("status", &self.status()).finish_non_exhaustive()
    }
}
