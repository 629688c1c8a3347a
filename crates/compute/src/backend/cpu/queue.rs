//! CPU queues: work runs on the calling thread, with help from the device's pool.

use super::recording::Recording;
use super::run::execute::Commands;
use super::run::fault::Stop;
use super::run::pool::Pool;
use super::run::program::Program;
use crate::backend::{Copy, Execute, Fill, Memory, Step, Table, Work, own};
use crate::error::Result;
use crate::timing::DispatchTiming;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A queue of the CPU.
pub(super) struct Queue {
    pool: Arc<Pool>,
    /// Finished programs, for reuse.
    spare: Mutex<Vec<Program>>,
}

impl Queue {
    pub(super) fn new(pool: Arc<Pool>) -> Queue {
        Queue { pool, spare: Mutex::default() }
    }

    fn execute_table(
        &self,
        table: &Table,
        commands: Commands<'_>,
        timings: Option<&mut Vec<DispatchTiming>>,
    ) -> Result<()> {
        let mut program = self.spare().pop().unwrap_or_default();
        program.prepare(table, table.bytes.as_ptr())?;
        // SAFETY: the program was prepared from this table and its bytes.
        let ran = unsafe { program.run(table, &self.pool, commands, timings) };
        program.clear();
        let mut spare = self.spare();
        if spare.len() < self.pool.threads() {
            spare.push(program);
        }
        ran
    }

    /// Tells shader validation that a part of a buffer was written.
    fn note_written(&self, memory: &Memory, range: Range<usize>) {
        let start = memory.address();
        self.pool.validator().written((start + range.start) as u64..(start + range.end) as u64);
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Program>> {
        // No code that can panic runs under the lock.
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Execute for Queue {
    fn execute(&self, work: &Work, mut timings: Option<&mut Vec<DispatchTiming>>) -> Result<()> {
        let commands = Commands { number: Stop::next_execution(), log_handler: work.log_handler.as_ref() };
        for step in work.steps() {
            let timings = timings.as_deref_mut();
            match step {
                Step::Pass(table) => self.execute_table(table, commands, timings)?,
                Step::Replay { recorded, patches } => {
                    let recording: &Recording = own(recorded.prepared())?;
                    recording.replay(recorded.table(), work.patches(patches), &self.pool, commands, timings)?;
                }
                Step::Copy(copy) => {
                    execute_copy(copy);
                    let len = copy.range.end - copy.range.start;
                    self.note_written(&copy.destination, copy.offset..copy.offset + len);
                }
                Step::Fill(fill) => {
                    execute_fill(fill);
                    self.note_written(&fill.buffer, fill.range.clone());
                }
            }
        }
        Ok(())
    }
}

/// The first byte of a buffer, including private ones.
pub(super) fn base(memory: &Memory) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(memory.address())
}

fn execute_copy(copy: &Copy) {
    let Copy { source, range, destination, offset } = copy;
    // SAFETY: both ranges were checked to be inside their buffers, which `copy` keeps alive, and not to overlap.
    unsafe {
        let (from, to) = (base(source).add(range.start), base(destination).add(*offset));
        from.copy_to_nonoverlapping(to, range.end - range.start);
    }
}

fn execute_fill(fill: &Fill) {
    let Fill { buffer, range, value } = fill;
    // SAFETY: the range was checked to be inside the buffer, which `fill` keeps alive.
    unsafe { base(buffer).add(range.start).write_bytes(*value, range.end - range.start) };
}
