//! Records operations once and replays them.

use super::Workload;
use crate::metal::MetalDevice;
use crate::metal::dispatch::Encoding;
use compute::{DispatchType, Recording, Result};
use std::time::Duration;

/// Records the workloads in order, `rounds` times.
pub fn record(device: &MetalDevice, workloads: &[Workload], rounds: usize) -> Result<Recording> {
    let mut recorder = device.device().new_command_recorder(DispatchType::Serial);
    for workload in (0..rounds).flat_map(|_| workloads) {
        workload(&mut Encoding::new(device, &mut recorder))?;
    }
    recorder.finish()
}

/// Replays a recording; returns the time that the device was busy.
pub fn replay(device: &MetalDevice, recording: &Recording) -> Result<Duration> {
    let command_buffer = device.command_buffer();
    command_buffer.replay(recording, &[])?;
    command_buffer.commit()?;
    command_buffer.wait_until_completed()?;
    let times = command_buffer.gpu_start_time().zip(command_buffer.gpu_end_time());
    Ok(times.map_or(Duration::ZERO, |(start, end)| end - start))
}
