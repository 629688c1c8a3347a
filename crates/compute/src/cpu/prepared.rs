//! Recordings, made ready: programs whose bytes are patched for each replay.
//!
//! A replay needs a program and bytes for itself while it runs. Command buffers of one queue run one after the other, so
//! that one of each is enough; another one is made when several queues replay the same recording at a time.

use crate::cpu::pool::Pool;
use crate::cpu::program::Program;
use crate::error::Result;
use crate::pass::{Block, Pass, block_bytes, block_bytes_mut};
use crate::timing::DispatchTiming;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a recording is to this device.
pub(crate) struct Prepared {
    /// Those that are not running.
    instances: Mutex<Vec<Instance>>,
}

struct Instance {
    program: Program,
    /// As they were recorded, except while it runs.
    bytes: Box<[Block]>,
}

impl Instance {
    fn new(pass: &Pass) -> Result<Instance> {
        let bytes: Box<[Block]> = pass.bytes.as_slice().into();
        let mut program = Program::default();
        program.prepare(pass, bytes.as_ptr())?;
        Ok(Instance { program, bytes })
    }

    /// Puts bytes in place of others, counted from the first block's first.
    fn patch(&mut self, target: Range<usize>, bytes: &[u8]) {
        block_bytes_mut(&mut self.bytes)[target].copy_from_slice(bytes);
    }
}

impl Prepared {
    /// Compiles what is not compiled.
    pub(crate) fn new(pass: &Pass) -> Result<Prepared> {
        Ok(Prepared { instances: Mutex::new(vec![Instance::new(pass)?]) })
    }

    /// Runs the pass from which it was made, with some bytes replaced.
    pub(crate) fn replay<'a>(
        &self,
        pass: &Pass,
        patches: impl Iterator<Item = (Range<usize>, &'a [u8])> + Clone,
        pool: &Pool,
        timings: Option<&mut Vec<DispatchTiming>>,
    ) -> Result<()> {
        let spare = self.instances().pop();
        let mut instance = match spare {
            Some(instance) => instance,
            None => Instance::new(pass)?,
        };
        for (target, bytes) in patches.clone() {
            instance.patch(target, bytes);
        }
        // SAFETY: the instance was made from the pass, and has its bytes.
        let ran = unsafe { instance.program.run(pass, pool, timings) };
        for (target, _) in patches {
            let recorded = &block_bytes(&pass.bytes)[target.clone()];
            instance.patch(target, recorded);
        }
        self.instances().push(instance);
        ran
    }

    fn instances(&self) -> MutexGuard<'_, Vec<Instance>> {
        // Nothing that can panic happens under the lock.
        self.instances.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
