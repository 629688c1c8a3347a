//! One operation, run once.

use crate::metal::MetalDevice;
use crate::metal::PipelineSet;
use crate::metal::dispatch::Encoding;
use crate::operations::{Case, Maker, Output, Problem, Purpose};

/// More than any check or measurement takes.
const MEMORY: usize = 1 << 30;

/// What an operation left behind.
pub(super) struct Ran {
    pub(super) outputs: Vec<Output>,
    /// A digest of what it was given.
    pub(super) inputs: u32,
}

/// Runs an operation.
pub(super) fn run(device: &MetalDevice, case: &Case) -> Result<Ran, Problem> {
    let maker = maker(device, Purpose::Check);
    let workload = case.build(&maker)?;
    let command_buffer = device.command_buffer();
    let mut encoder = command_buffer.compute_command_encoder()?;
    workload(&mut Encoding::new(device, &mut encoder))?;
    encoder.end_encoding()?;
    command_buffer.commit()?;
    command_buffer.wait_until_completed()?;
    Ok(Ran { outputs: maker.outputs(), inputs: maker.digest() })
}

/// The pipelines that an operation needs.
pub(super) fn pipelines(device: &MetalDevice, case: &Case, purpose: Purpose) -> Result<PipelineSet, Problem> {
    let workload = case.build(&maker(device, purpose).without_numbers())?;
    let mut set = PipelineSet::new();
    workload(&mut Encoding::declaring(device, &mut set))?;
    Ok(set)
}

/// Makes the buffers.
pub(super) fn maker(device: &MetalDevice, purpose: Purpose) -> Maker<'_> {
    Maker::new(device.device(), MEMORY, purpose)
}
