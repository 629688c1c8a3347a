//! A pass as the commands of a GPU's encoder: what is set only when it changes, and a barrier only where a dispatch must wait.
//!
//! A back end has to do no more than what the commands say, so that what they are is tested on any machine.

use super::{Block, Pass, Place, block_bytes, block_bytes_mut};
use crate::buffer::Buffer;
use crate::error::Result;
use crate::pipeline::ComputePipelineState;
use abi::call::ARGUMENT_SLOTS;
use std::borrow::Cow;
use std::ops::Range;

/// What takes the commands. What is set stays set until it is set again, whatever else changes.
pub(crate) trait CommandSink {
    fn set_pipeline(&mut self, pipeline: &ComputePipelineState) -> Result<()>;

    fn set_buffer(&mut self, index: usize, buffer: &Buffer, offset: usize) -> Result<()>;

    /// The buffer is the one that is set there already.
    fn set_buffer_offset(&mut self, index: usize, buffer: &Buffer, offset: usize) -> Result<()>;

    fn set_bytes(&mut self, index: usize, bytes: &[u8]);

    /// A multiple of 16.
    fn set_threadgroup_memory(&mut self, index: usize, length: usize);

    /// What comes after sees what came before. Only where dispatches may overlap.
    fn barrier(&mut self);

    fn dispatch(
        &mut self,
        pipeline: &ComputePipelineState,
        grid: Grid,
        threads_per_threadgroup: [u32; 3],
    ) -> Result<()>;
}

/// How large a dispatch is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Grid {
    /// Whole threadgroups, so many along each dimension.
    Threadgroups([u32; 3]),
    /// So many threads along each dimension; the last threadgroups are smaller.
    Threads([u32; 3]),
}

impl Grid {
    fn new(threads: [u32; 3], size: [u32; 3]) -> Grid {
        match (0..3).all(|i| threads[i].is_multiple_of(size[i])) {
            true => Grid::Threadgroups(std::array::from_fn(|i| threads[i] / size[i])),
            false => Grid::Threads(threads),
        }
    }
}

/// What an encoder has.
#[derive(Default)]
pub(crate) struct Bound {
    pipeline: Option<u32>,
    places: [Option<Place>; ARGUMENT_SLOTS],
    threadgroup_memory: [u32; ARGUMENT_SLOTS],
}

impl Pass {
    /// Whether some of the dispatches may overlap; else an encoder that runs them one after the other needs no barriers.
    pub(crate) fn may_overlap(&self) -> bool {
        self.dispatches.iter().skip(1).any(|dispatch| !dispatch.waits)
    }

    /// The commands for everything, with the bytes that it has this time.
    pub(crate) fn commands(&self, bytes: &[Block], sink: &mut impl CommandSink) -> Result<()> {
        let mut bound = Bound::default();
        let may_overlap = self.may_overlap();
        for (number, dispatch) in self.dispatches.iter().enumerate() {
            if may_overlap && dispatch.waits && number > 0 {
                sink.barrier();
            }
            self.dispatch_commands(number, bytes, &mut bound, sink)?;
        }
        Ok(())
    }

    /// The commands for one dispatch, in an encoder that has what is bound.
    pub(crate) fn dispatch_commands(
        &self,
        number: usize,
        bytes: &[Block],
        bound: &mut Bound,
        sink: &mut impl CommandSink,
    ) -> Result<()> {
        let dispatch = &self.dispatches[number];
        let pipeline = self.pipeline(dispatch);
        if bound.pipeline != Some(dispatch.pipeline) {
            sink.set_pipeline(pipeline)?;
            bound.pipeline = Some(dispatch.pipeline);
        }
        for binding in self.bindings_of(number) {
            let (index, place) = (usize::from(binding.index), binding.place);
            let before = bound.places[index].replace(place);
            match (before, place) {
                _ if before == Some(place) => {}
                (_, Place::Bytes { block, len }) => {
                    sink.set_bytes(index, &block_bytes(&bytes[block as usize..])[..len as usize]);
                }
                (Some(Place::Buffer { buffer: same, .. }), Place::Buffer { buffer, offset }) if same == buffer => {
                    sink.set_buffer_offset(index, &self.buffers.items[buffer as usize], offset)?;
                }
                (_, Place::Buffer { buffer, offset }) => {
                    sink.set_buffer(index, &self.buffers.items[buffer as usize], offset)?;
                }
            }
        }
        for &(index, length) in self.threadgroup_memory_of(number) {
            let before = std::mem::replace(&mut bound.threadgroup_memory[usize::from(index)], length);
            if before != length {
                sink.set_threadgroup_memory(index.into(), length as usize);
            }
        }
        let size = dispatch.threads_per_threadgroup;
        sink.dispatch(pipeline, Grid::new(dispatch.threads_per_grid, size), size)
    }

    /// The bytes with those of one replay in their places.
    pub(crate) fn patched<'a>(
        &'a self,
        patches: impl Iterator<Item = (Range<usize>, &'a [u8])>,
    ) -> Cow<'a, [Block]> {
        let mut blocks = Cow::Borrowed(&*self.bytes);
        for (target, bytes) in patches {
            block_bytes_mut(blocks.to_mut())[target].copy_from_slice(bytes);
        }
        blocks
    }
}

#[cfg(all(test, llvm))]
mod tests;
