//! Translates a table into the commands of a GPU encoder: state is set only when it changes, and a barrier only where a
//! dispatch must wait.
//!
//! A back end only executes the commands, so that this logic is tested on any machine.

use crate::backend::{ArgumentMemory, Block, Executable, Memory, Table, block_bytes};
use crate::error::Result;
use abi::call::ARGUMENT_SLOTS;

/// An encoder. State persists until it is set again.
pub trait CommandSink {
    /// Sets the kernel of the dispatches that follow.
    fn set_pipeline(&mut self, pipeline: &Executable) -> Result<()>;

    /// Binds a buffer from an offset on.
    fn set_buffer(&mut self, index: usize, buffer: &Memory, offset: usize) -> Result<()>;

    /// Changes the offset of the buffer bound at `index`.
    fn set_buffer_offset(&mut self, index: usize, buffer: &Memory, offset: usize) -> Result<()>;

    /// Binds a copy of bytes.
    fn set_bytes(&mut self, index: usize, bytes: &[u8]);

    /// Sets the length of a threadgroup argument, a multiple of 16.
    fn set_threadgroup_memory(&mut self, index: usize, length: usize);

    /// Makes later dispatches see the results of earlier ones. Called only if dispatches may overlap.
    fn barrier(&mut self);

    /// Dispatches the kernel.
    fn dispatch(
        &mut self,
        pipeline: &Executable,
        grid: DispatchSize,
        threads_per_threadgroup: [u32; 3],
    ) -> Result<()>;
}

/// Size of a dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DispatchSize {
    /// Whole threadgroups along each dimension.
    Threadgroups([u32; 3]),
    /// Threads along each dimension; the last threadgroups are smaller.
    Threads([u32; 3]),
}

impl DispatchSize {
    fn new(threads: [u32; 3], size: [u32; 3]) -> DispatchSize {
        match (0..3).all(|i| threads[i].is_multiple_of(size[i])) {
            true => DispatchSize::Threadgroups(std::array::from_fn(|i| threads[i] / size[i])),
            false => DispatchSize::Threads(threads),
        }
    }
}

/// Current state of an encoder.
#[derive(Default)]
pub struct EncoderState {
    pipeline: Option<u32>,
    arguments: [Option<ArgumentMemory>; ARGUMENT_SLOTS],
    threadgroup_memory: [u32; ARGUMENT_SLOTS],
}

impl Table {
    /// True if some dispatches may overlap; otherwise a serial encoder needs no barriers.
    pub fn may_overlap(&self) -> bool {
        self.dispatches.iter().skip(1).any(|dispatch| !dispatch.waits)
    }

    /// Issues the commands of all dispatches, with `bytes` as the data of `set_bytes`.
    pub fn commands(&self, bytes: &[Block], sink: &mut impl CommandSink) -> Result<()> {
        let mut state = EncoderState::default();
        let may_overlap = self.may_overlap();
        for (number, dispatch) in self.dispatches.iter().enumerate() {
            if may_overlap && dispatch.waits && number > 0 {
                sink.barrier();
            }
            self.dispatch_commands(number, bytes, &mut state, sink)?;
        }
        Ok(())
    }

    /// Issues the commands of one dispatch, given the current state of the encoder.
    pub fn dispatch_commands(
        &self,
        number: usize,
        bytes: &[Block],
        state: &mut EncoderState,
        sink: &mut impl CommandSink,
    ) -> Result<()> {
        let dispatch = &self.dispatches[number];
        let pipeline = self.pipeline(dispatch);
        if state.pipeline != Some(dispatch.pipeline) {
            sink.set_pipeline(pipeline)?;
            state.pipeline = Some(dispatch.pipeline);
        }
        for binding in self.bindings_of(number) {
            let (index, memory) = (usize::from(binding.index), binding.memory);
            let before = state.arguments[index].replace(memory);
            match (before, memory) {
                _ if before == Some(memory) => {}
                (_, ArgumentMemory::Bytes { block, len }) => {
                    sink.set_bytes(index, &block_bytes(&bytes[block as usize..])[..len as usize]);
                }
                (Some(ArgumentMemory::Buffer { buffer: same, .. }), ArgumentMemory::Buffer { buffer, offset })
                    if same == buffer =>
                {
                    sink.set_buffer_offset(index, &self.buffers.items[buffer as usize], offset)?;
                }
                (_, ArgumentMemory::Buffer { buffer, offset }) => {
                    sink.set_buffer(index, &self.buffers.items[buffer as usize], offset)?;
                }
            }
        }
        for &(index, length) in self.threadgroup_memory_of(number) {
            let before = std::mem::replace(&mut state.threadgroup_memory[usize::from(index)], length);
            if before != length {
                sink.set_threadgroup_memory(index.into(), length as usize);
            }
        }
        let size = dispatch.threads_per_threadgroup;
        sink.dispatch(pipeline, DispatchSize::new(dispatch.threads_per_grid, size), size)
    }
}

#[cfg(all(test, llvm))]
mod tests;
