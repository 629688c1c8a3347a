//! Queues: command buffers are executed in the order in which they were committed.
//!
//! Who executes? A thread that waits does it itself when nobody else is at it, which saves two switches of threads; else
//! it sleeps. For what nobody waits for there is a thread, started by the first commit; it sleeps when there is nothing
//! to do and ends with the queue.
//!
//! A device that executes by itself ([`Submit`]) is given command buffers when they are committed. What is left to do
//! here are the completed handlers, and they are done by the same threads.
//!
//! The lock of a command buffer may be taken under the lock of its queue, never the other way round.

use crate::backend::{self, Execute, Submit, Table, Work};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::timing::DispatchTiming;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// A command buffer, as its queue sees it.
pub(crate) trait QueuedCommandBuffer: Send + Sync {
    /// Does on this thread what is left to do: executes it, if no device has, and runs its completed handlers.
    fn take_turn(self: Arc<Self>);

    /// Whether the completed handlers have run.
    fn is_finished(&self) -> bool;

    /// Whether the completed handlers are running.
    fn is_running_handlers(&self) -> bool;
}

/// A queue of a device. A clone is the same queue.
#[derive(Clone)]
pub struct CommandQueue {
    handle: Arc<Handle>,
}

/// Ends the queue's thread when the last command queue and command buffer are gone.
struct Handle {
    queue: Arc<Queue>,
}

/// What the handles and the queue's thread share.
pub(crate) struct Queue {
    device: Device,
    backend: backend::Queue,
    state: Mutex<State>,
    /// There is something to do for the queue's thread, or the end has come.
    work: Condvar,
    /// A command buffer was finished, or there is something to do for who waits.
    finished: Condvar,
    /// What command buffers that are done leave to later ones, so that these allocate next to nothing.
    spare: Mutex<Spare>,
}

#[derive(Default)]
struct Spare {
    works: Vec<Work>,
    #[allow(clippy::vec_box, reason = "command buffers take and give them boxed")]
    tables: Vec<Box<Table>>,
}

/// As many as a program has in flight, as a rule.
const MOST_SPARE: usize = 8;

#[derive(Default)]
struct State {
    /// What was committed and not begun; where the device executes by itself, what it has executed, with handlers to run.
    pending: VecDeque<Arc<dyn QueuedCommandBuffer>>,
    /// Who is executing, or running handlers.
    executor: Option<ThreadId>,
    has_thread: bool,
    ended: bool,
}

impl Device {
    /// A queue of command buffers.
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

    /// The device that executes what is committed here.
    pub fn device(&self) -> &Device {
        &self.handle.queue.device
    }

    /// The device's own queue, where it executes by itself.
    pub(crate) fn submitter(&self) -> Option<&dyn Submit> {
        match &self.handle.queue.backend {
            backend::Queue::Submits(submitter) => Some(&**submitter),
            backend::Queue::Executes(_) => None,
        }
    }

    /// Takes a command buffer, if `commit` agrees, and sees to it that somebody executes it.
    pub(crate) fn enqueue(
        &self,
        command_buffer: Arc<dyn QueuedCommandBuffer>,
        commit: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let state = self.handle.queue.state();
        // Under the queue's lock: what says that it was committed is pending or being executed.
        commit()?;
        self.append(state, command_buffer);
        Ok(())
    }

    /// The device has executed a command buffer that has completed handlers.
    pub(crate) fn run_handlers_of(&self, command_buffer: Arc<dyn QueuedCommandBuffer>) {
        self.append(self.handle.queue.state(), command_buffer);
    }

    /// Wakes those who wait for a command buffer that the device has executed.
    pub(crate) fn notify_finished(&self) {
        // Under the lock: who has looked and not yet fallen asleep must hear it.
        let _state = self.handle.queue.state();
        self.handle.queue.finished.notify_all();
    }

    /// Sees to it that somebody goes on with a command buffer, after those that were appended before.
    fn append(&self, mut state: MutexGuard<'_, State>, command_buffer: Arc<dyn QueuedCommandBuffer>) {
        let queue = &self.handle.queue;
        state.pending.push_back(command_buffer);
        if !state.has_thread {
            let own = queue.clone();
            let spawned = thread::Builder::new().name("command queue".into()).spawn(move || own.run());
            state.has_thread = spawned.is_ok();
        }
        if state.executor.is_some() {
            // Who executes goes on with it, or calls the thread.
        } else if state.has_thread {
            drop(state);
            queue.work.notify_one();
        } else {
            // No thread to be had: the work is done here.
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

    /// Keeps the memory of what was executed and cleared.
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

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic happens under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes or waits until `command_buffer`, which was committed, is finished.
    pub(crate) fn wait_for(&self, command_buffer: &dyn QueuedCommandBuffer) {
        let me = thread::current().id();
        let mut state = self.state();
        while !command_buffer.is_finished() {
            let is_executor = state.executor == Some(me);
            if is_executor && command_buffer.is_running_handlers() {
                // A completed handler waits for its own command buffer, which is done, or for one from whose handlers it
                // was called.
                return;
            }
            if !state.pending.is_empty() && (is_executor || state.executor.is_none()) {
                // A handler that waits for another one executes it from within.
                state = self.execute_pending(state, |_| command_buffer.is_finished());
            } else {
                state = self.finished.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Executes what is pending until there is nothing more or `enough` says so. Nobody else must be executing.
    fn execute_pending<'q>(
        &'q self,
        mut state: MutexGuard<'q, State>,
        enough: impl Fn(&State) -> bool,
    ) -> MutexGuard<'q, State> {
        let outer = state.executor.replace(thread::current().id());
        while let Some(command_buffer) = state.pending.pop_front() {
            drop(state);
            command_buffer.take_turn();
            // Under the lock: who has looked and not yet fallen asleep must hear it.
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

    /// The queue's thread.
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
