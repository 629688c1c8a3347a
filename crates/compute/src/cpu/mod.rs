//! The processor as a device.
//!
//! ```text
//! recording ── grid: one dispatch made ready ── execute: threadgroups ── pool: on which threads
//! WaveKernel ── loader, relocate ── pipeline: code ┘      ├ shape: which lane is which thread
//!                                                         ├ fibers: simdgroups that wait at barriers
//!                                                         └ denormals: the processor's mode
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
mod relocate;
mod shape;

pub(crate) use pipeline::Pipeline;

use crate::device::{CpuOptions, threads};
use crate::error::Result;
use crate::recording::{Command, Dispatch, Pass};
use crate::timing::DispatchTiming;
use execute::Batch;
use grid::Grid;
use pool::Pool;

/// The processor of this machine.
pub(crate) struct Device {
    pool: Pool,
}

impl Device {
    pub(crate) fn new(options: &CpuOptions) -> Result<Device> {
        Ok(Device { pool: Pool::new(threads(options)?) })
    }

    pub(crate) fn name(&self) -> String {
        let threads = self.pool.threads();
        let plural = if threads == 1 { "" } else { "s" };
        format!("CPU ({}, {threads} thread{plural})", std::env::consts::ARCH)
    }

    /// Executes the passes, one after the other.
    pub(crate) fn execute(&self, passes: &[Pass], timings: &mut Vec<DispatchTiming>) -> Result<()> {
        for pass in passes {
            for batch in batches(pass) {
                self.execute_batch(pass, batch, timings)?;
            }
        }
        Ok(())
    }

    /// Executes dispatches that may overlap.
    fn execute_batch(&self, pass: &Pass, commands: &[Command], timings: &mut Vec<DispatchTiming>) -> Result<()> {
        let grids = dispatches(commands).map(|dispatch| Grid::new(dispatch, &pass.bytes));
        let batch = Batch::new(grids)?;
        self.pool.run(&batch, batch.items());
        let timing = |dispatch: &Dispatch, (start, end)| DispatchTiming {
            kernel: dispatch.pipeline.shared_name().clone(),
            label: dispatch.pipeline.shared_label().cloned(),
            start,
            end,
        };
        timings.extend(dispatches(commands).zip(batch.finish()?).map(|(dispatch, times)| timing(dispatch, times)));
        Ok(())
    }
}

/// The commands of a pass, cut where one must wait for those before it.
fn batches(pass: &Pass) -> impl Iterator<Item = &[Command]> {
    let ends_batch = |command: &Command| !pass.concurrent || matches!(command, Command::Barrier);
    pass.commands.split_inclusive(ends_batch).filter(|batch| dispatches(batch).next().is_some())
}

fn dispatches(commands: &[Command]) -> impl Iterator<Item = &Dispatch> {
    commands.iter().filter_map(|command| match command {
        Command::Dispatch(dispatch) => Some(dispatch),
        Command::Barrier => None,
    })
}
