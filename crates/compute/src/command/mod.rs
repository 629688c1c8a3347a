//! Command buffers: what is encoded, committed and waited for.

mod complete;

use crate::backend::{Copy, Fill, Step, Submission, Table, Work};
use crate::buffer::Buffer;
use crate::error::{Error, Result, usage};
use crate::queue::{CommandQueue, Queue};
use crate::record::{ComputeCommandEncoder, DispatchType, PassSink, Patch, Recording};
use crate::timing::DispatchTiming;
use crate::validate;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What a command buffer is to be like.
#[derive(Clone, Default, Debug)]
pub struct CommandBufferDescriptor {
    /// A name for messages.
    pub label: Option<String>,
    /// Notes when each dispatch runs ([`CommandBuffer::dispatch_timings`]), which costs some time for each.
    pub profiling: bool,
}

/// How far a command buffer has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CommandBufferStatus {
    /// It can be encoded into.
    NotEnqueued,
    /// It waits for its turn.
    Committed,
    /// The device works on it. Where devices do not say when they begin, it is never seen.
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
    label: Option<String>,
    profiling: bool,
    state: Mutex<State>,
}

type CompletedHandler = Box<dyn FnOnce(&CommandBuffer) + Send>;

struct State {
    status: CommandBufferStatus,
    handling: Handling,
    encoder: Encoder,
    work: Work,
    handlers: Vec<CompletedHandler>,
    error: Option<Error>,
    start: Option<Instant>,
    end: Option<Instant>,
    timings: Vec<DispatchTiming>,
}

/// How far the completed handlers have come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handling {
    /// They have not begun.
    Waiting,
    Running,
    /// They have run: who waits may go.
    Done,
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

impl CommandQueue {
    /// A command buffer for this queue.
    pub fn new_command_buffer(&self) -> CommandBuffer {
        self.new_command_buffer_with_descriptor(&CommandBufferDescriptor::default())
    }

    /// A command buffer for this queue, with options.
    pub fn new_command_buffer_with_descriptor(&self, descriptor: &CommandBufferDescriptor) -> CommandBuffer {
        CommandBuffer::new(self.clone(), descriptor)
    }
}

impl CommandBuffer {
    fn new(queue: CommandQueue, descriptor: &CommandBufferDescriptor) -> CommandBuffer {
        let state = State {
            status: CommandBufferStatus::NotEnqueued,
            handling: Handling::Waiting,
            encoder: Encoder::None,
            work: queue.queue().spare_work(),
            handlers: Vec::new(),
            error: None,
            start: None,
            end: None,
            timings: Vec::new(),
        };
        let CommandBufferDescriptor { label, profiling } = descriptor.clone();
        CommandBuffer { inner: Arc::new(Inner { queue, label, profiling, state: Mutex::new(state) }) }
    }

    /// The name that its descriptor gave it.
    pub fn label(&self) -> Option<&str> {
        self.inner.label.as_deref()
    }

    fn description(&self) -> String {
        self.label().map_or_else(|| "a command buffer".into(), |label| format!("the command buffer '{label}'"))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state()
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
        self.check_open(&state, "an encoder")?;
        state.encoder = Encoder::Open;
        drop(state);
        let (device, table) = (self.queue().device(), self.queue().spare_table());
        Ok(ComputeCommandEncoder::for_command_buffer(self.inner.clone(), device, dispatch_type, table))
    }

    /// Whether something can be added.
    fn check_open(&self, state: &State, what: &str) -> Result<()> {
        if state.status != CommandBufferStatus::NotEnqueued {
            let which = self.description();
            return usage(format!("{what} for {which} that was committed; make a new command buffer"));
        }
        match state.encoder {
            Encoder::None => Ok(()),
            Encoder::Open => {
                usage(format!("{what} for {} with an open encoder; call end_encoding first", self.description()))
            }
            Encoder::Dropped => self.dropped(),
        }
    }

    fn dropped(&self) -> Result<()> {
        let which = self.description();
        usage(format!("an encoder of {which} was dropped without end_encoding; what it recorded is lost"))
    }

    /// Adds all dispatches of a recording, with patches for this time. They begin after what was encoded before, and what
    /// is encoded after begins when they have ended. The bytes of the patches are copied.
    pub fn replay(&self, recording: &Recording, patches: &[Patch]) -> Result<()> {
        let mut state = self.state();
        self.check_open(&state, "a replay")?;
        if !recording.is_of(self.queue().device()) {
            return usage("replay: the recording was made for another device");
        }
        recording.check("replay")?;
        // All patches are checked before the first is taken.
        patches.iter().try_for_each(|patch| recording.patched(patch).map(drop))?;
        let patches = patches.iter().filter_map(|patch| Some((recording.patched(patch).ok()?, patch.bytes)));
        state.work.replay(recording.recorded(), patches);
        Ok(())
    }

    /// Copies bytes from one buffer to another, after what was encoded before and before what is encoded after. Offsets and
    /// length must be multiples of 4, as Metal has it on a Mac, and the two places must not overlap. A private buffer is filled
    /// and read by it.
    pub fn copy_buffer(
        &self,
        source: &Buffer,
        source_range: Range<usize>,
        destination: &Buffer,
        destination_offset: usize,
    ) -> Result<()> {
        let mut state = self.state();
        self.check_open(&state, "a copy")?;
        let copy = Copy {
            source: source.memory().clone(),
            range: source_range,
            destination: destination.memory().clone(),
            offset: destination_offset,
        };
        validate::copy(self.queue().device().domain(), &copy, destination.is_read_only())?;
        state.work.push(Step::Copy(copy));
        Ok(())
    }

    /// Sets bytes of a buffer to a value, after what was encoded before and before what is encoded after. The range begins and
    /// ends at multiples of 4. A private buffer is initialized by it.
    pub fn fill_buffer(&self, buffer: &Buffer, range: Range<usize>, value: u8) -> Result<()> {
        let mut state = self.state();
        self.check_open(&state, "a fill")?;
        let fill = Fill { buffer: buffer.memory().clone(), range, value };
        validate::fill(self.queue().device().domain(), &fill, buffer.is_read_only())?;
        state.work.push(Step::Fill(fill));
        Ok(())
    }

    /// Calls `handler` when the work is done, once, after the status was set; on which thread is not specified. A handler
    /// that panics harms nobody else.
    pub fn add_completed_handler(&self, handler: impl FnOnce(&CommandBuffer) + Send + 'static) -> Result<()> {
        let mut state = self.state();
        if state.status != CommandBufferStatus::NotEnqueued {
            return usage(format!(
                "a completed handler for {} that was committed; add it before",
                self.description()
            ));
        }
        state.handlers.push(Box::new(handler));
        Ok(())
    }

    /// Hands the work to the device. It is executed after everything that was committed to the queue before.
    pub fn commit(&self) -> Result<()> {
        let Inner { queue, .. } = &*self.inner;
        match queue.submitter() {
            // Under no lock: it may be completed at once, by this thread.
            Some(submitter) => {
                let work = std::mem::take(&mut self.committed()?.work);
                submitter.submit(Submission::new(self.inner.clone(), work));
                Ok(())
            }
            None => queue.enqueue(self.inner.clone(), || self.committed().map(drop)),
        }
    }

    fn committed(&self) -> Result<MutexGuard<'_, State>> {
        let mut state = self.state();
        if state.status != CommandBufferStatus::NotEnqueued {
            return usage(format!(
                "{} was committed twice; make a new one for each submission",
                self.description()
            ));
        }
        self.check_open(&state, "commit")?;
        check_work(&state.work)?;
        state.status = CommandBufferStatus::Committed;
        Ok(state)
    }

    /// Waits until the work is done and the completed handlers have run. The error is the one of [`CommandBuffer::error`],
    /// or that the command buffer was not committed.
    pub fn wait_until_completed(&self) -> Result<()> {
        if self.status() == CommandBufferStatus::NotEnqueued {
            return usage(format!("waiting for {} that was not committed; call commit first", self.description()));
        }
        self.queue().wait_for(&*self.inner);
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

    /// When each dispatch ran, in the order in which they were encoded and replayed; empty until the work is done, and
    /// without [`CommandBufferDescriptor::profiling`].
    pub fn dispatch_timings(&self) -> Vec<DispatchTiming> {
        self.state().timings.clone()
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic happens under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PassSink for Inner {
    fn end_pass(&self, table: Box<Table>) {
        let mut state = self.state();
        state.work.push(Step::Pass(table));
        state.encoder = Encoder::None;
    }

    fn abandon_pass(&self) {
        self.state().encoder = Encoder::Dropped;
    }

    fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }
}

/// Whether work can be executed now: its buffers may have been released since they were bound.
fn check_work(work: &Work) -> Result<()> {
    const CALL: &str = "commit";
    work.steps().iter().try_for_each(|step| match step {
        Step::Pass(table) => validate::stale(CALL, table),
        Step::Replay { recorded, .. } => validate::stale(CALL, recorded.table()),
        Step::Copy(copy) => validate::copy_released(CALL, copy),
        Step::Fill(fill) => validate::fill_released(CALL, fill),
    })
}

impl std::fmt::Debug for CommandBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandBuffer").field("status", &self.status()).finish_non_exhaustive()
    }
}
