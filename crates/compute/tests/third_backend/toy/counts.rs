//! Counts of the toy's work.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// All work since the toy was created. Failed work counts as a submission only.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Counts {
    /// Writes of the host into buffers.
    pub(crate) uploads: u64,
    /// Their bytes.
    pub(crate) uploaded_bytes: u64,
    /// Reads of the host from buffers.
    pub(crate) downloads: u64,
    /// Their bytes.
    pub(crate) downloaded_bytes: u64,
    /// Created pipelines.
    pub(crate) pipelines: u64,
    /// Prepared tables.
    pub(crate) recordings: u64,
    /// Submitted command buffers.
    pub(crate) submissions: u64,
    /// Passes of encoders.
    pub(crate) passes: u64,
    /// Replays of recordings.
    pub(crate) replays: u64,
    /// Dispatches, those of replays included.
    pub(crate) dispatches: u64,
    /// Barriers between dispatches that could overlap otherwise.
    pub(crate) barriers: u64,
    /// Copies from buffer to buffer.
    pub(crate) copies: u64,
    /// Fills of buffers.
    pub(crate) fills: u64,
}

impl Counts {
    /// Adds the work of a submission.
    pub(super) fn add_work(&mut self, work: &Counts) {
        self.passes += work.passes;
        self.replays += work.replays;
        self.dispatches += work.dispatches;
        self.barriers += work.barriers;
        self.copies += work.copies;
        self.fills += work.fills;
    }
}

/// The counts of a toy.
#[derive(Default)]
pub(super) struct Counters {
    counts: Mutex<Counts>,
}

impl Counters {
    pub(super) fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
