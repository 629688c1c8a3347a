//! The prepared dispatches of a table.

use super::execute::{Commands, Execution, Failure, Times};
use super::fault;
use super::grid::Grid;
use super::pace::Pace;
use super::pool::{Pool, SpareWalks};
use crate::backend::{Block, Table};
use crate::error::Result;
use crate::timing::DispatchTiming;
use std::ops::Range;
use std::time::Instant;

/// A prepared table.
#[derive(Default)]
pub(crate) struct Program {
    grids: Vec<Grid>,
    /// Grids that need not wait for each other.
    stages: Vec<Range<usize>>,
    spare: SpareWalks,
    /// Experience with earlier runs, if it is run repeatedly.
    pace: Option<Pace>,
}

impl Program {
    /// An empty program that will be run repeatedly once it is prepared.
    pub(crate) fn repeated() -> Program {
        Program { pace: Some(Pace::default()), ..Program::default() }
    }

    /// Prepares the dispatches of a table, with the `set_bytes` data at `bytes`.
    pub(crate) fn prepare(&mut self, table: &Table, bytes: *const Block) -> Result<()> {
        self.clear();
        self.grids.reserve(table.dispatches.len());
        for (number, dispatch) in table.dispatches.iter().enumerate() {
            let before = if dispatch.waits { 0 } else { self.grids.last().map_or(0, Grid::end) };
            let order = self.grids.last().map_or(0, Grid::order) + u64::from(dispatch.is_ordered);
            self.grids.push(Grid::new(table, number, before, bytes)?.with_order(order));
            match self.stages.last_mut() {
                Some(stage) if !dispatch.waits => stage.end = number + 1,
                _ => self.stages.push(number..number + 1),
            }
        }
        Ok(())
    }

    /// Clears the program and keeps its allocations.
    pub(crate) fn clear(&mut self) {
        self.grids.clear();
        self.stages.clear();
    }

    /// Runs all dispatches, as a part of `commands`.
    ///
    /// # Safety
    ///
    /// The program was prepared from this table, and the bytes that it was given are still alive.
    pub(crate) unsafe fn run(
        &mut self,
        table: &Table,
        pool: &Pool,
        commands: Commands<'_>,
        timings: Option<&mut Vec<DispatchTiming>>,
    ) -> Result<()> {
        match timings {
            None => self.execute(table, pool, commands, None),
            Some(timings) => {
                let origin = Instant::now();
                let times: Vec<Times> = self.grids.iter().map(|_| Times::new(origin)).collect();
                self.execute(table, pool, commands, Some(&times))?;
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

    fn execute(
        &mut self,
        table: &Table,
        pool: &Pool,
        commands: Commands<'_>,
        times: Option<&[Times]>,
    ) -> Result<()> {
        let execution = Execution::new(&self.grids, &self.stages, times, pool, commands);
        pool.walk(&execution, &mut self.spare, self.pace.as_mut());
        execution.deliver_messages();
        execution.finish().map_err(|failure| match failure {
            Failure::Error(error) => error,
            Failure::Interrupted(number, fault) => fault::describe(&fault, &self.grids[number], table, number),
        })
    }
}
