//! The prepared dispatches of a table.

use super::execute::{DispatchBatch, Times};
use super::grid::Grid;
use super::pool::Pool;
use crate::backend::{Block, Table};
use crate::error::Result;
use crate::timing::DispatchTiming;
use std::time::Instant;

/// A prepared table.
#[derive(Default)]
pub(crate) struct Program {
    grids: Vec<Grid>,
}

impl Program {
    /// Prepares the dispatches of a table, with the `set_bytes` data at `bytes`.
    pub(crate) fn prepare(&mut self, table: &Table, bytes: *const Block) -> Result<()> {
        self.grids.clear();
        self.grids.reserve(table.dispatches.len());
        for (number, dispatch) in table.dispatches.iter().enumerate() {
            let before = if dispatch.waits { 0 } else { self.grids.last().map_or(0, Grid::end) };
            self.grids.push(Grid::new(table, number, before, bytes)?);
        }
        Ok(())
    }

    /// Clears the program and keeps its allocations.
    pub(crate) fn clear(&mut self) {
        self.grids.clear();
    }

    /// Runs all dispatches, in batches of those that need not wait for each other.
    ///
    /// # Safety
    ///
    /// The program was prepared from this table, and the bytes that it was given are still alive.
    pub(crate) unsafe fn run(
        &self,
        table: &Table,
        pool: &Pool,
        timings: Option<&mut Vec<DispatchTiming>>,
    ) -> Result<()> {
        match timings {
            None => self.run_batches(pool, None),
            Some(timings) => {
                let origin = Instant::now();
                let times: Vec<Times> = self.grids.iter().map(|_| Times::new(origin)).collect();
                self.run_batches(pool, Some(&times))?;
                timings.extend(table.dispatches.iter().zip(times).map(|(dispatch, times)| {
                    let pipeline = table.pipeline(dispatch);
                    let range = times.range();
                    DispatchTiming {
                        kernel: pipeline.name.clone(),
                        label: pipeline.label.clone(),
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
            let batch = DispatchBatch::new(grids, times.map(|times| &times[first..]), pool.is_adverse());
            pool.run(&batch, batch.items());
            batch.finish()?;
            first += grids.len();
        }
        Ok(())
    }
}
