//! Command buffers: encoding, committing, waiting.

mod complete;

use crate::backend::{Copy, Fill, Step, Submission, Table, Work};
use crate::buffer::Buffer;
use crate::error::{Error, Result, usage};
use crate::message::LogMessage;
use crate::queue::{CommandQueue, Queue};
use crate::record::{ComputeCommandEncoder, DispatchType, PassSink, Patch, Recording};
use crate::timing::DispatchTiming;
use crate::validate;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Options of a command buffer.
#[derive(Clone, Default, Debug)]
pub struct CommandBufferDescriptor {
    /// A name for messages.
    pub label: Option<String>,
    /// Records the time of each dispatch ([`CommandBuffer::dispatch_timings`]), which costs some time for each.
    pub profiling: bool,
}

/// Status of a command buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CommandBufferStatus {
    /// Open for encoding.
    NotEnqueued,
    /// Waiting for its turn.
    Committed,
    /// The device works on it. Skipped on devices that do not report the start.
    Scheduled,
    /// Completed without error.
    Completed,
    /// Completed with an error: see [`CommandBuffer::error`]. Work after the failure was not executed.
    Error,
}

/// Work for the device, in the order of encoding. A clone is the same command buffer.
#[derive(Clone)]
pub struct CommandBuffer {
    inner: Arc<CommandBufferInner>,
}

struct CommandBufferInner {
    queue: CommandQueue,
    label: Option<String>,
    profiling: bool,
    state: Mutex<CommandBufferState>,
}

type CompletedHandler = Box<dyn FnOnce(&CommandBuffer) + Send>;

struct CommandBufferState {
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

/// State of the completed handlers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handling {
    /// Not started.
    Waiting,
    Running,
    /// Finished: waiting threads may continue.
    Done,
}

/// State of the encoders.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoder {
    /// None open.
    None,
    /// One is open.
    Open,
    /// One was dropped before its end.
    Dropped,
}

impl CommandQueue {
    /// Creates a command buffer for this queue.
    pub fn new_command_buffer(&self) -> CommandBuffer {
        self.new_command_buffer_with_descriptor(&CommandBufferDescriptor::default())
    }

    /// Creates a command buffer for this queue, with options.
    pub fn new_command_buffer_with_descriptor(&self, descriptor: &CommandBufferDescriptor) -> CommandBuffer {
        CommandBuffer::new(self.clone(), descriptor)
    }
}

impl CommandBuffer {
    fn new(queue: CommandQueue, descriptor: &CommandBufferDescriptor) -> CommandBuffer {
        let state = CommandBufferState {
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
        CommandBuffer { inner: Arc::new(CommandBufferInner { queue, label, profiling, state: Mutex::new(state) }) }
    }

    /// The label of its descriptor.
    pub fn label(&self) -> Option<&str> {
        self.inner.label.as_deref()
    }

    fn description(&self) -> String {
        self.label().map_or_else(|| "a command buffer".into(), |label| format!("the command buffer '{label}'"))
    }

    fn state(&self) -> MutexGuard<'_, CommandBufferState> {
        self.inner.state()
    }

    fn queue(&self) -> &Queue {
        self.inner.queue.queue()
    }

    /// Creates a serial encoder.
    pub fn compute_command_encoder(&self) -> Result<ComputeCommandEncoder> {
        self.compute_command_encoder_with_dispatch_type(DispatchType::Serial)
    }

    /// Creates an encoder. Its work begins after that of the encoders before it.
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

    /// Checks that work can be added.
    fn check_open(&self, state: &CommandBufferState, what: &str) -> Result<()> {
        if state.status != CommandBufferStatus::NotEnqueued {
            let which = self.description();
            return usage(format!("{what} for {which} that was committed; create a new command buffer"));
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
        usage(format!("an encoder of {which} was dropped without end_encoding; its dispatches are lost"))
    }

    /// Adds all dispatches of a recording, with patches for this replay. They begin after earlier work, and later work
    /// begins after them. The bytes of the patches are copied.
    pub fn replay(&self, recording: &Recording, patches: &[Patch]) -> Result<()> {
        let mut state = self.state();
        self.check_open(&state, "a replay")?;
        if !recording.is_of(self.queue().device()) {
            return usage("replay: the recording belongs to another device");
        }
        recording.check("replay")?;
        // Check all patches before applying the first.
        patches.iter().try_for_each(|patch| recording.patched(patch).map(drop))?;
        let patches = patches.iter().filter_map(|patch| Some((recording.patched(patch).ok()?, patch.bytes)));
        state.work.replay(recording.recorded(), patches);
        Ok(())
    }

    /// Copies bytes between buffers, ordered after earlier and before later work. Offsets and length must be multiples
    /// of 4, as in Metal on a Mac, and the ranges must not overlap. Use it to fill and read private buffers.
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

    /// Sets bytes of a buffer to a value, ordered after earlier and before later work. The range must begin and end at
    /// multiples of 4. Use it to initialize private buffers.
    pub fn fill_buffer(&self, buffer: &Buffer, range: Range<usize>, value: u8) -> Result<()> {
        let mut state = self.state();
        self.check_open(&state, "a fill")?;
        let fill = Fill { buffer: buffer.memory().clone(), range, value };
        validate::fill(self.queue().device().domain(), &fill, buffer.is_read_only())?;
        state.work.push(Step::Fill(fill));
        Ok(())
    }

    /// Calls `handler` once when the work is done, after the status is set, on an unspecified thread. Panics in
    /// handlers are caught.
    pub fn add_completed_handler(&self, handler: impl FnOnce(&CommandBuffer) + Send + 'static) -> Result<()> {
        let mut state = self.state();
        if state.status != CommandBufferStatus::NotEnqueued {
            return usage(format!(
                "a completed handler for {} that was committed; add it before commit",
                self.description()
            ));
        }
        state.handlers.push(Box::new(handler));
        Ok(())
    }

    /// Sets the function that takes the messages of its kernels, in place of that of
    /// [`Device::set_log_handler`](crate::Device::set_log_handler). It is dropped when the work is done.
    pub fn set_log_handler(&self, handler: impl Fn(&LogMessage) + Send + Sync + 'static) -> Result<()> {
        let mut state = self.state();
        if state.status != CommandBufferStatus::NotEnqueued {
            let which = self.description();
            return usage(format!("a log handler for {which} that was committed; set it before commit"));
        }
        state.work.log_handler = Some(Arc::new(handler));
        Ok(())
    }

    /// Commits the work to the device. It is executed after all work committed to the queue before.
    pub fn commit(&self) -> Result<()> {
        let CommandBufferInner { queue, .. } = &*self.inner;
        match queue.submitter() {
            // Not under a lock: this thread may complete it at once.
            Some(submitter) => {
                let work = std::mem::take(&mut self.committed()?.work);
                submitter.submit(Submission::new(self.inner.clone(), work));
                Ok(())
            }
            None => queue.enqueue(self.inner.clone(), || self.committed().map(drop)),
        }
    }

    fn committed(&self) -> Result<MutexGuard<'_, CommandBufferState>> {
        let mut state = self.state();
        if state.status != CommandBufferStatus::NotEnqueued {
            return usage(format!(
                "{} was committed twice; create a new one for each submission",
                self.description()
            ));
        }
        self.check_open(&state, "commit")?;
        check_work(&state.work)?;
        state.status = CommandBufferStatus::Committed;
        Ok(state)
    }

    /// Waits until the work is done and the completed handlers have run. Returns the error of [`CommandBuffer::error`],
    /// or an error if it was not committed.
    pub fn wait_until_completed(&self) -> Result<()> {
        if self.status() == CommandBufferStatus::NotEnqueued {
            return usage(format!("waiting for {} that was not committed; call commit first", self.description()));
        }
        self.queue().wait_for(&*self.inner);
        self.error().map_or(Ok(()), Err)
    }

    /// Its status.
    pub fn status(&self) -> CommandBufferStatus {
        self.state().status
    }

    /// The error, if it failed.
    pub fn error(&self) -> Option<Error> {
        self.state().error.clone()
    }

    /// Time when the device began; `None` before.
    pub fn gpu_start_time(&self) -> Option<Instant> {
        self.state().start
    }

    /// Time when the device was done; `None` before.
    pub fn gpu_end_time(&self) -> Option<Instant> {
        self.state().end
    }

    /// Time of each dispatch, in the order of encoding and replay; empty until the work is done, or without
    /// [`CommandBufferDescriptor::profiling`].
    pub fn dispatch_timings(&self) -> Vec<DispatchTiming> {
        self.state().timings.clone()
    }
}

impl CommandBufferInner {
    fn state(&self) -> MutexGuard<'_, CommandBufferState> {
        // No code that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PassSink for CommandBufferInner {
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

/// Checks that none of the work's buffers was released after it was bound.
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
