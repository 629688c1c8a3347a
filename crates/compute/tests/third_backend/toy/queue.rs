//! Queues: a thread takes submissions one after the other, executes them on the inner device, and completes them.
//!
//! ```text
//! submit ── channel ── the queue's thread: encoded, committed, waited for ── Submission::complete
//! ```
//!
//! The thread ends when its queue is dropped and all submissions are completed. It is not joined: the thread itself may
//! drop the last reference to a queue, with a command buffer.

use super::counts::Counts;
use super::device::{Fault, State};
use super::encode::encode;
use compute::backend::{Outcome, Submission, Submit};
use compute::{CommandBufferDescriptor, CommandQueue, Error};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread;

pub(super) struct Queue {
    /// `None` if the thread could not be started.
    submissions: Option<Sender<Submission>>,
}

impl Queue {
    pub(super) fn new(state: &Arc<State>) -> Queue {
        let (sender, submissions) = mpsc::channel();
        let worker = Worker { state: state.clone(), queue: state.inner.new_command_queue() };
        let run = move || submissions.into_iter().for_each(|submission| worker.run(submission));
        let spawned = thread::Builder::new().name("toy queue".into()).spawn(run);
        Queue { submissions: spawned.is_ok().then_some(sender) }
    }
}

impl Submit for Queue {
    fn submit(&self, submission: Submission) {
        match &self.submissions {
            // A submission that the thread does not receive is dropped, and fails.
            Some(sender) => drop(sender.send(submission)),
            None => submission.fail(Error::Internal("the toy has no thread for its queue".into())),
        }
    }
}

struct Worker {
    state: Arc<State>,
    /// Of the inner device.
    queue: CommandQueue,
}

impl Worker {
    fn run(&self, submission: Submission) {
        self.state.counters.lock().submissions += 1;
        match self.state.take_fault() {
            None => {
                let outcome = self.execute(&submission);
                submission.complete(outcome);
            }
            Some(Fault::Lost) => drop(submission),
            Some(Fault::Failed(error)) => submission.fail(error),
        }
    }

    fn execute(&self, submission: &Submission) -> Outcome {
        let label = submission.label().map(str::to_owned);
        let descriptor = CommandBufferDescriptor { label, profiling: submission.profiling() };
        let commands = self.queue.new_command_buffer_with_descriptor(&descriptor);
        let mut counts = Counts::default();
        let executed = encode(submission.work(), &commands, &mut counts)
            .and_then(|()| commands.commit())
            .and_then(|()| commands.wait_until_completed());
        if executed.is_ok() {
            self.state.counters.lock().add_work(&counts);
        }
        Outcome {
            executed,
            start: commands.gpu_start_time(),
            end: commands.gpu_end_time(),
            timings: commands.dispatch_timings(),
        }
    }
}
