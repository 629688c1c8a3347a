//! Prepared recordings: programs whose bytes are patched for each replay.
//!
//! A running replay needs its own program and bytes. The command buffers of a queue run one after the other, so that
//! one instance is enough; another is made when several queues replay the same recording at the same time.

use super::run::execute::Commands;
use super::run::pool::Pool;
use super::run::program::Program;
use crate::backend::{Block, Table, block_bytes, block_bytes_mut};
use crate::error::Result;
use crate::timing::DispatchTiming;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A recording of the CPU.
pub(super) struct Recording {
    /// Instances that are not running.
    instances: Mutex<Vec<Instance>>,
}

struct Instance {
    program: Program,
    /// The recorded bytes, patched only while it runs.
    bytes: Box<[Block]>,
}

impl Instance {
    fn new(table: &Table) -> Result<Instance> {
        let bytes: Box<[Block]> = table.bytes.as_slice().into();
        let mut program = Program::repeated();
        program.prepare(table, bytes.as_ptr())?;
        Ok(Instance { program, bytes })
    }

    /// Replaces bytes, counted from the start of the first block.
    fn patch(&mut self, target: Range<usize>, bytes: &[u8]) {
        block_bytes_mut(&mut self.bytes)[target].copy_from_slice(bytes);
    }
}

impl Recording {
    /// Prepares a table.
    pub(super) fn new(table: &Table) -> Result<Recording> {
        Ok(Recording { instances: Mutex::new(vec![Instance::new(table)?]) })
    }

    /// Runs the recorded table with patched bytes, as a part of `commands`.
    pub(super) fn replay<'a>(
        &self,
        table: &Table,
        patches: impl Iterator<Item = (Range<usize>, &'a [u8])> + Clone,
        pool: &Pool,
        commands: Commands<'_>,
        timings: Option<&mut Vec<DispatchTiming>>,
    ) -> Result<()> {
        let spare = self.instances().pop();
        let mut instance = match spare {
            Some(instance) => instance,
            None => Instance::new(table)?,
        };
        for (target, bytes) in patches.clone() {
            instance.patch(target, bytes);
        }
        // SAFETY: the instance was prepared from this table and owns its bytes.
        let ran = unsafe { instance.program.run(table, pool, commands, timings) };
        for (target, _) in patches {
            let recorded = &block_bytes(&table.bytes)[target.clone()];
            instance.patch(target, recorded);
        }
        self.instances().push(instance);
        ran
    }

    fn instances(&self) -> MutexGuard<'_, Vec<Instance>> {
        // No code that can panic runs under the lock.
        self.instances.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
