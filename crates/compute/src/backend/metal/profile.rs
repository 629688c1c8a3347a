//! Profiling: each dispatch is a command buffer, since Metal reports times per command buffer.

use super::clock::Clock;
use super::encode::Encoding;
use super::queue::{Commands, Queue, commit, executed, lock};
use crate::backend::driver::profile::{Profile, Timed};
use crate::backend::{Block, Step, Submission, Table};
use crate::error::Result;
use objc2::rc::autoreleasepool;
use objc2::runtime::ProtocolObject;
use objc2_metal::MTLCommandQueue;
use std::sync::{Arc, Mutex};

/// State shared by the command buffers of one submission.
#[derive(Default)]
struct ProfileShared {
    profile: Mutex<Profile>,
    /// Set when everything is encoded: before that, no part is the last.
    submission: Mutex<Option<Submission>>,
    label: Option<String>,
}

/// Encodes and commits all steps. If there are more command buffers than a queue holds, Metal blocks the caller.
pub(super) fn run(
    queue: &Queue,
    raw: &ProtocolObject<dyn MTLCommandQueue>,
    encoding: Encoding,
    submission: Submission,
) {
    let shared = ProfileShared { label: submission.label().map(str::to_owned), ..ProfileShared::default() };
    let parts = Parts { queue, raw, encoding, shared: Arc::new(shared) };
    let work = submission.work();
    let encoded = work.steps().iter().try_for_each(|step| match step {
        Step::Pass(table) => parts.table(table, &table.bytes),
        Step::Replay { recorded, patches } => parts.table(recorded.table(), &work.patched(recorded, patches)),
        Step::Fill(fill) => parts.add(None, |commands| encoding.fill(commands, fill)),
        Step::Copy(copy) => parts.add(None, |commands| encoding.copy(commands, copy)),
    });
    let shared = parts.shared;
    *lock(&shared.submission) = Some(submission);
    let is_last = lock(&shared.profile).end_encoding(encoded);
    if is_last {
        shared.complete();
    }
}

struct Parts<'a> {
    queue: &'a Queue,
    raw: &'a ProtocolObject<dyn MTLCommandQueue>,
    encoding: Encoding<'a>,
    shared: Arc<ProfileShared>,
}

impl Parts<'_> {
    fn table(&self, table: &Table, bytes: &[Block]) -> Result<()> {
        (0..table.len()).try_for_each(|number| {
            let timed = Timed::new(table, number);
            self.add(Some(timed), |commands| self.encoding.single(commands, table, number, bytes))
        })
    }

    /// Encodes and commits one command buffer.
    fn add(&self, timed: Option<Timed>, encode: impl Fn(&Commands) -> Result<()>) -> Result<()> {
        autoreleasepool(|_| {
            let commands = self.queue.new_commands(self.raw, self.shared.label.as_deref())?;
            encode(&commands)?;
            let number = lock(&self.shared.profile).begin(timed);
            let shared = self.shared.clone();
            commit(&commands, move |commands| shared.completed(number, commands));
            Ok(())
        })
    }
}

impl ProfileShared {
    /// Called when a command buffer has completed.
    fn completed(&self, number: usize, commands: &Commands) {
        let times = Clock::now().gpu_times(commands);
        let kernel = lock(&self.profile).kernel(number);
        let executed = executed(commands, self.label.as_deref(), kernel.as_deref());
        let is_last = lock(&self.profile).end(number, times, executed);
        if is_last {
            self.complete();
        }
    }

    /// Completes the submission.
    fn complete(&self) {
        let outcome = lock(&self.profile).outcome();
        // Complete outside the lock.
        let submission = lock(&self.submission).take();
        if let Some(submission) = submission {
            submission.complete(outcome);
        }
    }
}
