//! Encoders: the calls that fill a command buffer.

use crate::buffer::Buffer;
use crate::command::CommandBuffer;
use crate::error::{Result, usage};
use crate::pipeline::ComputePipelineState;
use crate::recording::{BYTES_ALIGNMENT, Binding, Block, Command, Dispatch, Pass};
use crate::size::Size;
use crate::validate;
use abi::call::ARGUMENT_SLOTS;

/// Whether the dispatches of an encoder wait for each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DispatchType {
    /// Each begins when the one before has ended.
    #[default]
    Serial,
    /// They may overlap, except where [`ComputeCommandEncoder::memory_barrier`] is between them.
    Concurrent,
}

/// `set_bytes` takes no more than this, as in Metal.
const MAX_BYTES: usize = 4096;

/// Records dispatches into a command buffer. What is set stays set for all dispatches after it.
///
/// Every method refuses what Metal's validation would refuse; a call that failed recorded nothing. An encoder must be
/// ended: a command buffer with one that was dropped without [`ComputeCommandEncoder::end_encoding`] cannot be committed.
pub struct ComputeCommandEncoder {
    command_buffer: CommandBuffer,
    /// `None` after the end.
    pass: Option<Pass>,
    pipeline: Option<ComputePipelineState>,
    bindings: [Option<Binding>; ARGUMENT_SLOTS],
    threadgroup_memory: [u32; ARGUMENT_SLOTS],
}

impl ComputeCommandEncoder {
    pub(crate) fn new(command_buffer: CommandBuffer, dispatch_type: DispatchType) -> ComputeCommandEncoder {
        let concurrent = dispatch_type == DispatchType::Concurrent;
        ComputeCommandEncoder {
            command_buffer,
            pass: Some(Pass { concurrent, commands: Vec::new(), bytes: Vec::new() }),
            pipeline: None,
            bindings: [const { None }; ARGUMENT_SLOTS],
            threadgroup_memory: [0; ARGUMENT_SLOTS],
        }
    }

    /// Sets the kernel that the following dispatches run.
    pub fn set_compute_pipeline_state(&mut self, pipeline: &ComputePipelineState) -> Result<()> {
        self.open("set_compute_pipeline_state")?;
        self.pipeline = Some(pipeline.clone());
        Ok(())
    }

    /// Binds a buffer, from the byte `offset` on, to `[[buffer(index)]]`.
    pub fn set_buffer(&mut self, index: usize, buffer: &Buffer, offset: usize) -> Result<()> {
        self.open("set_buffer")?;
        validate::index("set_buffer", index)?;
        if offset >= buffer.len() {
            return usage(format!(
                "set_buffer: offset {offset} at index {index} is not inside the buffer of {} bytes",
                buffer.len()
            ));
        }
        self.bindings[index] = Some(Binding::Buffer { buffer: buffer.clone(), offset });
        Ok(())
    }

    /// Changes the offset of the buffer that is bound at `index`.
    pub fn set_buffer_offset(&mut self, index: usize, offset: usize) -> Result<()> {
        self.open("set_buffer_offset")?;
        validate::index("set_buffer_offset", index)?;
        match &self.bindings[index] {
            Some(Binding::Buffer { buffer, .. }) => {
                let buffer = buffer.clone();
                self.set_buffer(index, &buffer, offset)
            }
            _ => usage(format!("set_buffer_offset: no buffer is bound at index {index}; call set_buffer first")),
        }
    }

    /// Binds a copy of `bytes`, at most 4,096, to `[[buffer(index)]]`.
    pub fn set_bytes(&mut self, index: usize, bytes: &[u8]) -> Result<()> {
        let pass = open(&mut self.pass, "set_bytes")?;
        validate::index("set_bytes", index)?;
        if bytes.is_empty() || bytes.len() > MAX_BYTES {
            return usage(format!(
                "set_bytes: {} bytes at index {index}; it takes 1 to {MAX_BYTES}, use a buffer for more",
                bytes.len()
            ));
        }
        let block = pass.bytes.len();
        pass.bytes.extend(bytes.chunks(BYTES_ALIGNMENT).map(|chunk| {
            let mut block = [0; BYTES_ALIGNMENT];
            block[..chunk.len()].copy_from_slice(chunk);
            Block(block.into())
        }));
        self.bindings[index] = Some(Binding::Bytes { block, len: bytes.len() });
        Ok(())
    }

    /// Gives `[[threadgroup(index)]]` this many bytes; they must be a multiple of 16, as in Metal.
    pub fn set_threadgroup_memory_length(&mut self, index: usize, bytes: usize) -> Result<()> {
        self.open("set_threadgroup_memory_length")?;
        validate::index("set_threadgroup_memory_length", index)?;
        self.threadgroup_memory[index] = validate::threadgroup_memory_length(index, bytes)?;
        Ok(())
    }

    /// Runs the kernel in a grid of whole threadgroups.
    pub fn dispatch_threadgroups(
        &mut self,
        threadgroups_per_grid: Size,
        threads_per_threadgroup: Size,
    ) -> Result<()> {
        self.open("dispatch_threadgroups")?;
        let threads = |groups: usize, size: usize| groups.saturating_mul(size);
        let threads_per_grid = Size {
            width: threads(threadgroups_per_grid.width, threads_per_threadgroup.width),
            height: threads(threadgroups_per_grid.height, threads_per_threadgroup.height),
            depth: threads(threadgroups_per_grid.depth, threads_per_threadgroup.depth),
        };
        self.dispatch("dispatch_threadgroups", threads_per_grid, threads_per_threadgroup)
    }

    /// Runs the kernel in a grid of this many threads; threadgroups at its edges are smaller where they do not divide it.
    pub fn dispatch_threads(&mut self, threads_per_grid: Size, threads_per_threadgroup: Size) -> Result<()> {
        self.open("dispatch_threads")?;
        self.dispatch("dispatch_threads", threads_per_grid, threads_per_threadgroup)
    }

    fn dispatch(&mut self, call: &str, grid: Size, threadgroup: Size) -> Result<()> {
        let Some(pipeline) = &self.pipeline else {
            return usage(format!("{call}: there is no pipeline state; call set_compute_pipeline_state first"));
        };
        let (threads_per_grid, threads_per_threadgroup) = validate::grid(call, pipeline, grid, threadgroup)?;
        let bindings = validate::bindings(call, pipeline, &self.bindings)?;
        let threadgroup_memory = validate::threadgroup_memory(call, pipeline, &self.threadgroup_memory)?;
        let dispatch = Dispatch {
            pipeline: pipeline.clone(),
            bindings,
            threadgroup_memory,
            threads_per_grid,
            threads_per_threadgroup,
        };
        open(&mut self.pass, call)?.commands.push(Command::Dispatch(dispatch));
        Ok(())
    }

    /// Lets the dispatches after it see what the ones before it wrote. Serial dispatches do without.
    pub fn memory_barrier(&mut self) -> Result<()> {
        open(&mut self.pass, "memory_barrier")?.commands.push(Command::Barrier);
        Ok(())
    }

    /// Ends the encoder: the command buffer takes another one, or can be committed.
    pub fn end_encoding(&mut self) -> Result<()> {
        self.open("end_encoding")?;
        if let Some(pass) = self.pass.take() {
            self.command_buffer.end_pass(pass);
        }
        Ok(())
    }

    fn open(&mut self, call: &str) -> Result<()> {
        open(&mut self.pass, call).map(|_| ())
    }
}

fn open<'p>(pass: &'p mut Option<Pass>, call: &str) -> Result<&'p mut Pass> {
    match pass {
        Some(pass) => Ok(pass),
        None => usage(format!("{call}: the encoder has ended; make a new one from the command buffer")),
    }
}

impl Drop for ComputeCommandEncoder {
    fn drop(&mut self) {
        if self.pass.is_some() {
            self.command_buffer.abandon_pass();
        }
    }
}

impl std::fmt::Debug for ComputeCommandEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let commands = self.pass.as_ref().map(|pass| pass.commands.len());
        f.debug_struct("ComputeCommandEncoder").field("commands", &commands).finish_non_exhaustive()
    }
}
