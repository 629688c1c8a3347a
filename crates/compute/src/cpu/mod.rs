//! The processor as a device.

mod pipeline;

pub(crate) use pipeline::Pipeline;

use crate::device::{CpuOptions, threads};
use crate::error::{Error, Result};
use crate::recording::{Command, Pass};
use crate::timing::DispatchTiming;

/// The processor of this machine.
pub(crate) struct Device {
    name: String,
}

impl Device {
    pub(crate) fn new(options: &CpuOptions) -> Result<Device> {
        let threads = threads(options)?;
        let plural = if threads == 1 { "" } else { "s" };
        Ok(Device { name: format!("CPU, {threads} thread{plural}") })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Executes the passes, one after the other.
    pub(crate) fn execute(&self, passes: &[Pass], _timings: &mut Vec<DispatchTiming>) -> Result<()> {
        for command in passes.iter().flat_map(|pass| &pass.commands) {
            if let Command::Dispatch(dispatch) = command {
                let kernel = dispatch.pipeline.shared_name();
                return Err(Error::Internal(format!("kernel '{kernel}': nothing can be executed yet")));
            }
        }
        Ok(())
    }
}
