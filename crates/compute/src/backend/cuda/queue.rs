//! GPU queues: the committing thread encodes into a stream, and the queue's thread completes.
//!
//! ```text
//! submit ── stream: wait for writes of the host, start event, steps, end event ── returns
//!             └ channel ── the queue's thread: waits for the end event ── Submission::complete
//! ```
//!
//! The thread ends when its queue is dropped and all submissions are completed. It is not joined: it may itself drop
//! the last reference to a queue, with a command buffer.

use super::context::{Context, Event, Stream};
use super::device::Device;
use super::encode::{Encoding, Held, PinnedChunk, Scratch, Watch};
use super::profile::TimedDispatch;
use super::transfers::Transfers;
use crate::backend::{Outcome, Step, Submission, Submit, Table, Work};
use crate::error::{Error, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

/// A queue.
pub(super) struct Queue {
    /// An error if the driver or the system could not create it.
    parts: Result<Parts>,
}

struct Parts {
    number: u64,
    transfers: Arc<Transfers>,
    shared: Arc<QueueShared>,
    state: Mutex<QueueState>,
}

/// Parts of a queue that its thread uses, too.
struct QueueShared {
    context: Arc<Context>,
    stream: Stream,
    /// Events that are not in use.
    events: Mutex<Vec<Event>>,
    /// Memory to encode with.
    scratch: Mutex<Scratch>,
}

struct QueueState {
    /// Count of writes that the stream has waited for.
    seen_writes: u64,
    submitted: Sender<Submitted>,
}

/// A command buffer on the device.
struct Submitted {
    submission: Submission,
    start: Event,
    end: Event,
    held: Held,
}

impl Queue {
    pub(super) fn new(device: &Device) -> Queue {
        Queue { parts: Parts::new(device) }
    }
}

impl Parts {
    fn new(device: &Device) -> Result<Parts> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let opened = device.open()?;
        let context = opened.context.clone();
        let stream = Stream::new(&context)?;
        let (events, scratch) = (Mutex::default(), Mutex::default());
        let shared = Arc::new(QueueShared { context, stream, events, scratch });
        let (submitted, receiver) = mpsc::channel();
        let of_thread = shared.clone();
        let spawned =
            thread::Builder::new().name("cuda queue".into()).spawn(move || of_thread.complete_all(receiver));
        spawned.map_err(|error| Error::Internal(format!("no thread for a queue: {error}")))?;
        Ok(Parts {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            transfers: opened.transfers.clone(),
            shared,
            state: Mutex::new(QueueState { seen_writes: 0, submitted }),
        })
    }

    fn submit(&self, submission: Submission) {
        let mut state = lock(&self.state);
        let mut held = Held::default();
        match self.encode(&mut state, &submission, &mut held) {
            // A submission that the thread does not receive is dropped, and fails.
            Ok((start, end)) => drop(state.submitted.send(Submitted { submission, start, end, held })),
            Err(error) => {
                // Dispatches before the failure may run: keep alive what they use.
                let _ = self.shared.stream.synchronize();
                drop(state);
                submission.fail(error);
            }
        }
    }

    fn encode(&self, state: &mut QueueState, submission: &Submission, held: &mut Held) -> Result<(Event, Event)> {
        let QueueShared { context, stream, .. } = &*self.shared;
        let (start, end) = (self.shared.event()?, self.shared.event()?);
        self.transfers.before(stream, &mut state.seen_writes)?;
        start.record(stream)?;
        let scratch = &mut *lock(&self.shared.scratch);
        let mut encoding = Encoding { context, stream, queue: self.number, scratch, held };
        match submission.profiling() {
            true => encoding.timed_work(submission.work())?,
            false => encoding.work(submission.work())?,
        }
        end.record(stream)?;
        Ok((start, end))
    }
}

impl Submit for Queue {
    fn submit(&self, submission: Submission) {
        match &self.parts {
            Ok(parts) => parts.submit(submission),
            Err(error) => submission.fail(error.clone()),
        }
    }
}

impl QueueShared {
    fn event(&self) -> Result<Event> {
        let spare = lock(&self.events).pop();
        spare.map_or_else(|| Event::timed(&self.context), Ok)
    }

    /// The loop of the queue's thread.
    fn complete_all(&self, submitted: Receiver<Submitted>) {
        for one in submitted {
            // A submission that is dropped by a panic completes with an error.
            let _ = catch_unwind(AssertUnwindSafe(|| self.complete(one)));
        }
    }

    fn complete(&self, submitted: Submitted) {
        let Submitted { submission, start, end, held } = submitted;
        let executed = end.wait(|| failed(submission.label(), submission.work()));
        let now = Instant::now();
        let executed = executed.and_then(|()| held.watches.iter().try_for_each(|watch| Watch::check(watch)));
        let began = end.since(&start).and_then(|took| now.checked_sub(took));
        let Held { bytes, mut pinned, watches, graphs, timed } = held;
        let timings = timed.iter().filter_map(|timed: &TimedDispatch| timed.timing(&end, now)).collect();
        pinned.iter_mut().for_each(PinnedChunk::clear);
        let mut scratch = lock(&self.scratch);
        scratch.spare.extend(bytes);
        scratch.spare_pinned.extend(pinned);
        drop(scratch);
        lock(&self.events).extend([start, end]);
        drop((watches, graphs, timed));
        submission.complete(Outcome { executed, start: began, end: Some(now), timings });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Describes a failed command buffer: its label and its kernels.
fn failed(label: Option<&str>, work: &Work) -> String {
    let tables = work.steps().iter().filter_map(|step| match step {
        Step::Pass(table) => Some(&**table),
        Step::Replay { recorded, .. } => Some(recorded.table()),
        Step::Copy(_) | Step::Fill(_) => None,
    });
    let mut names: Vec<&str> = Vec::new();
    for table in tables {
        names.extend((0..table.len()).map(|number| Table::executable(table, number).name()));
    }
    let mut distinct = std::collections::BTreeSet::new();
    names.retain(|name| distinct.insert(*name));
    failure_of(label, &names)
}

/// Most kernels that a message names.
const NAMED: usize = 8;

fn failure_of(label: Option<&str>, kernels: &[&str]) -> String {
    let what = match label {
        Some(label) => format!("the command buffer '{label}' failed"),
        None => "a command buffer failed".into(),
    };
    let named: Vec<String> = kernels.iter().take(NAMED).map(|kernel| format!("'{kernel}'")).collect();
    match kernels {
        [] => what,
        [_] => format!("{what} in {}", named[0]),
        _ if kernels.len() > NAMED => {
            format!("{what} in one of {} or {} more kernels", named.join(", "), kernels.len() - NAMED)
        }
        _ => format!("{what} in one of {}", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::failure_of;

    #[test]
    fn failures_name_the_kernels() {
        assert_eq!(failure_of(None, &[]), "a command buffer failed");
        assert_eq!(failure_of(Some("step"), &["gemv"]), "the command buffer 'step' failed in 'gemv'");
        assert_eq!(failure_of(None, &["a", "b"]), "a command buffer failed in one of 'a', 'b'");
        let many = ["a"; 10];
        assert!(failure_of(None, &many).ends_with("'a' or 2 more kernels"));
    }
}
