//! Creates buffers for the arguments, and dispatches the kernel.

use std::time::Duration;

use compute::{Buffer, CommandBufferDescriptor, CommandQueue, ComputePipelineState, Device, VisibleFunctionTable};
use msl::reflect::Argument;

use super::bind::{ArgumentBinding, Bindings, is_key_of};
use super::data::Bytes;
use super::error::Error;
use super::grid::{DispatchShape, GridSize};
use super::report::Output;
use super::source::Key;
use crate::npy::Header;

/// A kernel that is ready to run.
pub(crate) struct Dispatch {
    pub(crate) device: String,
    pub(crate) pipeline: ComputePipelineState,
    /// Time to create the pipeline state.
    pub(crate) created_in: Duration,
    pub(crate) grid: DispatchShape,
    queue: CommandQueue,
    buffers: Vec<BoundBuffer>,
    threadgroup_memory: Vec<(u32, usize)>,
    tables: Vec<(u32, VisibleFunctionTable)>,
}

struct BoundBuffer {
    argument: Argument,
    header: Option<Header>,
    buffer: Buffer,
}

impl Dispatch {
    pub(crate) fn new(
        device: &Device,
        pipeline: ComputePipelineState,
        created_in: Duration,
        grid: DispatchShape,
        bindings: Bindings,
    ) -> compute::Result<Dispatch> {
        let buffer = |ArgumentBinding { argument, data }: ArgumentBinding| {
            let buffer = match data.bytes {
                Bytes::Zeros(len) => device.new_buffer(len)?,
                Bytes::Uninitialized(len) => {
                    let buffer = device.new_buffer(len)?;
                    if device.shader_validation().is_some_and(|validation| validation.checks.races) {
                        device.declare_uninitialized(&buffer)?;
                    }
                    buffer
                }
                Bytes::Given(bytes) => device.new_buffer_with_bytes(&bytes)?,
            };
            Ok(BoundBuffer { argument, header: data.header, buffer })
        };
        let table = |(index, names): (u32, Vec<String>)| {
            let table = pipeline.new_visible_function_table(names.len())?;
            for (position, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
                table.set_function(position, Some(&pipeline.function_handle(name)?))?;
            }
            Ok((index, table))
        };
        let tables = bindings.tables.into_iter().map(table).collect::<compute::Result<_>>()?;
        Ok(Dispatch {
            device: device.name(),
            pipeline,
            created_in,
            grid,
            queue: device.new_command_queue(),
            buffers: bindings.buffers.into_iter().map(buffer).collect::<compute::Result<Vec<BoundBuffer>>>()?,
            threadgroup_memory: bindings.threadgroup_memory,
            tables,
        })
    }

    /// Runs it once; returns the device time in nanoseconds.
    pub(crate) fn run(&self) -> compute::Result<u64> {
        let profiled = CommandBufferDescriptor { profiling: true, ..CommandBufferDescriptor::default() };
        let commands = self.queue.new_command_buffer_with_descriptor(&profiled);
        let mut encoder = commands.compute_command_encoder()?;
        encoder.set_compute_pipeline_state(&self.pipeline)?;
        for BoundBuffer { argument, buffer, .. } in &self.buffers {
            encoder.set_buffer(argument.index as usize, buffer, 0)?;
        }
        for (index, table) in &self.tables {
            encoder.set_visible_function_table(*index as usize, table)?;
        }
        for (index, bytes) in &self.threadgroup_memory {
            encoder.set_threadgroup_memory_length(*index as usize, *bytes)?;
        }
        match self.grid.count {
            GridSize::Threadgroups(grid) => encoder.dispatch_threadgroups(grid, self.grid.threadgroup)?,
            GridSize::Threads(threads) => encoder.dispatch_threads(threads, self.grid.threadgroup)?,
        }
        encoder.end_encoding()?;
        commands.commit()?;
        commands.wait_until_completed()?;
        Ok(commands.dispatch_timings().iter().map(compute::DispatchTiming::nanoseconds).sum())
    }

    /// Current contents of an argument.
    pub(crate) fn output(&self, key: &Key) -> Result<Output, Error> {
        let bound = self.buffers.iter().find(|bound| is_key_of(key, &bound.argument));
        let bound =
            bound.ok_or_else(|| Error::Refused(format!("argument {key} is not bound: it cannot be an output")))?;
        Ok(Output::new(&bound.argument, bound.header.clone(), bound.buffer.read()))
    }

    /// Total size of all buffers in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.buffers.iter().map(|bound| bound.buffer.len()).sum()
    }
}
