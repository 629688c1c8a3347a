//! The dispatches of a pass, made ready to run.

use crate::cpu::execute::{Batch, Times};
use crate::cpu::grid::Grid;
use crate::cpu::pool::Pool;
use crate::error::Result;
use crate::pass::{Block, Pass};
use crate::timing::DispatchTiming;
use std::time::Instant;

/// What a pass is to this device.
#[derive(Default)]
pub(crate) struct Program {
    grids: Vec<Grid>,
}

impl Program {
    /// Takes the dispatches of a pass, with the bytes that are at `bytes`. Compiles what was not needed before.
    pub(crate) fn prepare(&mut self, pass: &Pass, bytes: *const Block) -> Result<()> {
        self.grids.clear();
        self.grids.reserve(pass.dispatches.len());
        for (number, dispatch) in pass.dispatches.iter().enumerate() {
            let before = if dispatch.waits { 0 } else { self.grids.last().map_or(0, Grid::end) };
            self.grids.push(Grid::new(pass, number, before, bytes)?);
        }
        Ok(())
    }

    /// Forgets everything but the memory that it has.
    pub(crate) fn clear(&mut self) {
        self.grids.clear();
    }

    /// Runs all dispatches; those that need not wait together.
    ///
    /// # Safety
    ///
    /// It was prepared from this pass, and the bytes that it was given then are still there.
    pub(crate) unsafe fn run(
        &self,
        pass: &Pass,
        pool: &Pool,
        timings: Option<&mut Vec<DispatchTiming>>,
    ) -> Result<()> {
        match timings {
            None => self.run_batches(pool, None),
            Some(timings) => {
                let origin = Instant::now();
                let times: Vec<Times> = self.grids.iter().map(|_| Times::new(origin)).collect();
                self.run_batches(pool, Some(&times))?;
                timings.extend(pass.dispatches.iter().zip(times).map(|(dispatch, times)| {
                    let pipeline = pass.pipeline(dispatch);
                    let range = times.range();
                    DispatchTiming {
                        kernel: pipeline.shared_name().clone(),
                        label: pipeline.shared_label().cloned(),
                        start: range.start,
                        end: range.end,
                    }
                }));
                Ok(())
            }
        }
    }

    fn run_batches(&self, pool: &Pool, times: Option<&[Times]>) -> Result<()> {
        let mut first = 0;
        for grids in self.grids.chunk_by(|_, next| !next.waits()) {
            let batch = Batch::new(grids, times.map(|times| &times[first..]), pool.is_adverse());
            pool.run(&batch, batch.items());
            batch.finish()?;
            first += grids.len();
        }
        Ok(())
    }
}
