//! The steps of a submission as calls on an inner command buffer.

use super::buffer::Buffer;
use super::counts::Counts;
use super::pipeline::Pipeline;
use super::recording::Recording;
use compute::backend::driver::commands::{CommandSink, DispatchSize};
use compute::backend::{Block, Copy, Executable, Fill, Memory, Step, Table, Work, own};
use compute::{CommandBuffer, ComputeCommandEncoder, Error, Result, Size};

/// Encodes all work into a command buffer of the inner device, and counts it.
pub(super) fn encode(work: &Work, commands: &CommandBuffer, counts: &mut Counts) -> Result<()> {
    work.steps().iter().try_for_each(|step| match step {
        Step::Pass(table) => {
            counts.passes += 1;
            pass(table, table.bytes(), &Recording::new(table), commands, counts)
        }
        Step::Replay { recorded, patches } => {
            counts.replays += 1;
            let bytes = work.patched(recorded, patches);
            pass(recorded.table(), &bytes, own(recorded.prepared())?, commands, counts)
        }
        Step::Copy(Copy { source, range, destination, offset }) => {
            counts.copies += 1;
            commands.copy_buffer(memory(source)?, range.clone(), memory(destination)?, *offset)
        }
        Step::Fill(Fill { buffer, range, value }) => {
            counts.fills += 1;
            commands.fill_buffer(memory(buffer)?, range.clone(), *value)
        }
    })
}

/// The inner device's memory of a buffer.
fn memory(memory: &Memory) -> Result<&compute::Buffer> {
    own::<Buffer>(memory.buffer()).map(|buffer| &buffer.memory)
}

fn pass(
    table: &Table,
    bytes: &[Block],
    recording: &Recording,
    commands: &CommandBuffer,
    counts: &mut Counts,
) -> Result<()> {
    let encoder = commands.compute_command_encoder_with_dispatch_type(recording.dispatch_type)?;
    let mut sink = Encoder { encoder, counts, error: None };
    table.commands(bytes, &mut sink)?;
    sink.encoder.end_encoding()
}

/// An encoder of the inner device.
struct Encoder<'a> {
    encoder: ComputeCommandEncoder,
    counts: &'a mut Counts,
    /// The error of a call without a result. The next dispatch returns it.
    error: Option<Error>,
}

impl Encoder<'_> {
    fn keep<T>(&mut self, result: Result<T>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }
}

impl CommandSink for Encoder<'_> {
    fn set_pipeline(&mut self, pipeline: &Executable) -> Result<()> {
        self.encoder.set_compute_pipeline_state(&own::<Pipeline>(pipeline.pipeline())?.inner)
    }

    fn set_buffer(&mut self, index: usize, buffer: &Memory, offset: usize) -> Result<()> {
        self.encoder.set_buffer(index, memory(buffer)?, offset)
    }

    fn set_buffer_offset(&mut self, index: usize, _: &Memory, offset: usize) -> Result<()> {
        self.encoder.set_buffer_offset(index, offset)
    }

    fn set_bytes(&mut self, index: usize, bytes: &[u8]) {
        let set = self.encoder.set_bytes(index, bytes);
        self.keep(set);
    }

    fn set_threadgroup_memory(&mut self, index: usize, length: usize) {
        let set = self.encoder.set_threadgroup_memory_length(index, length);
        self.keep(set);
    }

    fn barrier(&mut self) {
        self.counts.barriers += 1;
        let set = self.encoder.memory_barrier();
        self.keep(set);
    }

    fn dispatch(&mut self, _: &Executable, grid: DispatchSize, threads_per_threadgroup: [u32; 3]) -> Result<()> {
        self.error.take().map_or(Ok(()), Err)?;
        self.counts.dispatches += 1;
        match grid {
            DispatchSize::Threadgroups(groups) => {
                self.encoder.dispatch_threadgroups(size(groups), size(threads_per_threadgroup))
            }
            DispatchSize::Threads(threads) => {
                self.encoder.dispatch_threads(size(threads), size(threads_per_threadgroup))
            }
        }
    }
}

fn size([width, height, depth]: [u32; 3]) -> Size {
    Size::new(width as usize, height as usize, depth as usize)
}
