//! Queues: command buffers are executed in the order of their commits.
//!
//! A waiting thread executes them itself if no other thread does, which saves two context switches; otherwise it
//! sleeps. Command buffers that no thread waits for are executed by the queue's thread, started by the first commit; it
//! sleeps when idle and ends with the queue.
//!
//! A device that executes by itself ([`Submit`]) gets command buffers at their commit. Then only the completed handlers
//! are left to do here, on the same threads.
//!
//! Lock order: the lock of a command buffer may be taken under the lock of its queue, not the other way round.

use crate::backend::{self, Execute, Submit, Table, Work};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::timing::DispatchTiming;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// A command buffer in its queue.
pub(crate) trait QueuedCommandBuffer: Send + Sync {
    /// Does the remaining work on this thread: executes it, unless the device has, and runs its completed handlers.
    fn take_turn(self: Arc<Self>);

    /// True if the completed handlers have run.
    fn is_finished(&self) -> bool;

    /// True if the completed handlers are running.
    fn is_running_handlers(&self) -> bool;
}

/// A queue of a device. A clone is the same queue.
#[derive(Clone)]
pub struct CommandQueue {
    handle: Arc<Handle>,
}

/// Ends the queue's thread when the last command queue and command buffer are dropped.
struct Handle {
    queue: Arc<Queue>,
}

/// State shared by the handles and the queue's thread.
pub(crate) struct Queue {
    device: Device,
    backend: backend::Queue,
    state: Mutex<QueueState>,
    /// Signals work for the queue's thread, or the end of the queue.
    work: Condvar,
    /// Signals a finished command buffer, or work for waiting threads.
    finished: Condvar,
    /// Reusable allocations of finished command buffers, so that later ones hardly allocate.
    spare: Mutex<Spare>,
}

#[derive(Default)]
struct Spare {
    works: Vec<Work>,
    #[allow(clippy::vec_box, reason = "command buffers own them boxed")]
    tables: Vec<Box<Table>>,
}

/// Number of spares to keep: as many as command buffers in flight, as a rule.
const MOST_SPARE: usize = 8;

#[derive(Default)]
struct QueueState {
    /// Committed command buffers that have not begun; if the device executes by itself, executed ones with handlers to
    /// run.
    pending: VecDeque<Arc<dyn QueuedCommandBuffer>>,
    /// The thread that executes or runs handlers.
    executor: Option<ThreadId>,
    has_thread: bool,
    ended: bool,
}

impl Device {
    /// Creates a queue of command buffers.
    pub fn new_command_queue(&self) -> CommandQueue {
        CommandQueue::new(self.clone(), self.backend().new_queue(self.settings()))
    }
}

impl CommandQueue {
    pub(crate) fn new(device: Device, backend: backend::Queue) -> CommandQueue {
        let queue = Queue {
            device,
            backend,
            state: Mutex::default(),
            work: Condvar::new(),
            finished: Condvar::new(),
            spare: Mutex::default(),
        };
        CommandQueue { handle: Arc::new(Handle { queue: Arc::new(queue) }) }
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.handle.queue
    }

    /// The device of this queue.
    pub fn device(&self) -> &Device {
        &self.handle.queue.device
    }

    /// The device's own queue, if it executes by itself.
    pub(crate) fn submitter(&self) -> Option<&dyn Submit> {
        match &self.handle.queue.backend {
            backend::Queue::Submits(submitter) => Some(&**submitter),
            backend::Queue::Executes(_) => None,
        }
    }

    /// Appends a command buffer, if `commit` succeeds, and ensures that a thread executes it.
    pub(crate) fn enqueue(
        &self,
        command_buffer: Arc<dyn QueuedCommandBuffer>,
        commit: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let state = self.handle.queue.state();
        // Under the queue's lock: a committed command buffer is pending or executing.
        commit()?;
        self.append(state, command_buffer);
        Ok(())
    }

    /// Runs the completed handlers of a command buffer that the device has executed.
    pub(crate) fn run_handlers_of(&self, command_buffer: Arc<dyn QueuedCommandBuffer>) {
        self.append(self.handle.queue.state(), command_buffer);
    }

    /// Wakes threads that wait for a command buffer that the device has executed.
    pub(crate) fn notify_finished(&self) {
        // Notify under the lock, or a waiter misses the wake-up.
        let _state = self.handle.queue.state();
        self.handle.queue.finished.notify_all();
    }

    /// Ensures that a thread processes a command buffer, after those appended before.
    fn append(&self, mut state: MutexGuard<'_, QueueState>, command_buffer: Arc<dyn QueuedCommandBuffer>) {
        let queue = &self.handle.queue;
        state.pending.push_back(command_buffer);
        if !state.has_thread {
            let own = queue.clone();
            let spawned = thread::Builder::new().name("command queue".into()).spawn(move || own.run());
            state.has_thread = spawned.is_ok();
        }
        if state.executor.is_some() {
            // The executing thread continues with it, or wakes the queue's thread.
        } else if state.has_thread {
            drop(state);
            queue.work.notify_one();
        } else {
            // No thread could be started: do the work here.
            drop(queue.execute_pending(state, |_| false));
        }
    }
}

impl Queue {
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// Executes work on this thread.
    pub(crate) fn execute(&self, work: &Work, timings: Option<&mut Vec<DispatchTiming>>) -> Result<()> {
        match &self.backend {
            backend::Queue::Executes(queue) => Execute::execute(&**queue, work, timings),
            backend::Queue::Submits(_) => Err(Error::Internal("the device executes by itself".into())),
        }
    }

    fn spare(&self) -> MutexGuard<'_, Spare> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn spare_work(&self) -> Work {
        self.spare().works.pop().unwrap_or_default()
    }

    pub(crate) fn spare_table(&self) -> Box<Table> {
        self.spare().tables.pop().unwrap_or_default()
    }

    /// Keeps the allocations of executed and cleared work.
    pub(crate) fn take_back(&self, work: Work, tables: impl Iterator<Item = Box<Table>>) {
        let mut spare = self.spare();
        if spare.works.len() < MOST_SPARE {
            spare.works.push(work);
        }
        for table in tables {
            if spare.tables.len() < MOST_SPARE && table.is_ordinary() {
                spare.tables.push(table);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        // No code that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes or waits until `command_buffer`, which was committed, is finished.
    pub(crate) fn wait_for(&self, command_buffer: &dyn QueuedCommandBuffer) {
        let me = thread::current().id();
        let mut state = self.state();
        while !command_buffer.is_finished() {
            let is_executor = state.executor == Some(me);
            if is_executor && command_buffer.is_running_handlers() {
                // A completed handler waits for its own command buffer, which is done, or for one whose handlers are
                // below it on the stack.
                return;
            }
            if !state.pending.is_empty() && (is_executor || state.executor.is_none()) {
                // A handler that waits for another command buffer executes it recursively.
                state = self.execute_pending(state, |_| command_buffer.is_finished());
            } else {
                state = self.finished.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Executes pending command buffers until none is left or `enough` returns true. No other thread may be executing.
    fn execute_pending<'q>(
        &'q self,
        mut state: MutexGuard<'q, QueueState>,
        enough: impl Fn(&QueueState) -> bool,
    ) -> MutexGuard<'q, QueueState> {
        let outer = state.executor.replace(thread::current().id());
        while let Some(command_buffer) = state.pending.pop_front() {
            drop(state);
            command_buffer.take_turn();
            // Notify under the lock, or a waiter misses the wake-up.
            state = self.state();
            self.finished.notify_all();
            if enough(&state) {
                break;
            }
        }
        state.executor = outer;
        if outer.is_none() && !state.pending.is_empty() {
            self.work.notify_one();
        }
        state
    }

    /// The loop of the queue's thread.
    fn run(&self) {
        let mut state = self.state();
        loop {
            if state.executor.is_none() && !state.pending.is_empty() {
                state = self.execute_pending(state, |_| false);
            } else if state.ended && state.pending.is_empty() {
                return;
            } else {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.queue.state().ended = true;
        self.queue.work.notify_all();
    }
}

impl std::fmt::Debug for CommandQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandQueue").field("device", self.device()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
