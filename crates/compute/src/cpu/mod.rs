//! The processor as a device.
//!
//! ```text
//! pass ── program: all its dispatches made ready, grid: one ── execute: threadgroups ── pool: on which threads
//! recording ── prepared: programs for replays ┘                   ├ shape: which lane is which thread
//! WaveKernel ── loader, relocate ── pipeline: code                ├ fibers: simdgroups that wait at barriers
//!                                                                 └ denormals: the processor's mode
//! ```
//!
//! **Invariant:** nothing here knows the compiler: a kernel that was compiled before is all it takes.

mod denormals;
mod execute;
mod fibers;
mod grid;
mod loader;
mod patience;
mod pipeline;
mod pool;
mod prepared;
mod program;
mod relocate;
mod shape;

pub(crate) use pipeline::Pipeline;
pub(crate) use prepared::Prepared;

use crate::device::{CpuOptions, threads};
use crate::error::Result;
use crate::pass::Pass;
use crate::settings;
use crate::timing::DispatchTiming;
use crate::work::{Copy, Step, Work};
use pool::Pool;
use program::Program;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The processor of this machine.
pub(crate) struct Device {
    pool: Pool,
    /// The memory of programs that are done.
    spare: Mutex<Vec<Program>>,
}

impl Device {
    pub(crate) fn new(options: &CpuOptions) -> Result<Device> {
        let pool = Pool::new(threads(options)?);
        pool.set_adverse(settings::switch("METALWORKS_ADVERSE", false)?);
        Ok(Device { pool, spare: Mutex::default() })
    }

    pub(crate) fn name(&self) -> String {
        let threads = self.pool.threads();
        let plural = if threads == 1 { "" } else { "s" };
        format!("CPU ({}, {threads} thread{plural})", std::env::consts::ARCH)
    }

    pub(crate) fn is_adverse(&self) -> bool {
        self.pool.is_adverse()
    }

    pub(crate) fn set_adverse(&self, on: bool) {
        self.pool.set_adverse(on);
    }

    /// Executes the steps, one after the other.
    pub(crate) fn execute(&self, work: &Work, mut timings: Option<&mut Vec<DispatchTiming>>) -> Result<()> {
        for step in &work.steps {
            let timings = timings.as_deref_mut();
            match step {
                Step::Pass(pass) => self.execute_pass(pass, timings)?,
                Step::Replay { recording, patches } => {
                    let prepared = recording.prepared().cpu()?;
                    prepared.replay(recording.pass(), work.patches(patches), &self.pool, timings)?;
                }
                Step::Copy(copy) => execute_copy(copy),
            }
        }
        Ok(())
    }

    fn execute_pass(&self, pass: &Pass, timings: Option<&mut Vec<DispatchTiming>>) -> Result<()> {
        let mut program = self.spare().pop().unwrap_or_default();
        program.prepare(pass, pass.bytes.as_ptr())?;
        // SAFETY: the pass and its bytes are those from which it was prepared.
        let ran = unsafe { program.run(pass, &self.pool, timings) };
        program.clear();
        let mut spare = self.spare();
        if spare.len() < self.pool.threads() {
            spare.push(program);
        }
        ran
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Program>> {
        // Nothing that can panic happens under the lock.
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn execute_copy(copy: &Copy) {
    let Copy { source, range, destination, offset } = copy;
    // SAFETY: both ranges were checked to be inside of their buffers, which `copy` keeps alive, and not to overlap.
    unsafe {
        let (from, to) = (source.base().add(range.start), destination.base().add(*offset));
        from.copy_to_nonoverlapping(to, range.end - range.start);
    }
}
