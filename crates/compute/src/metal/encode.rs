//! Work becomes commands of Metal's encoders.
//!
//! | step | encoder |
//! |---|---|
//! | a pass in which every dispatch waits for the one before | compute, serial |
//! | any other pass | compute, concurrent, with a barrier before each dispatch that waits |
//! | a replay | as its pass, with the patched bytes |
//! | a copy | blit |
//!
//! Buffers are tracked by Metal, so that an encoder waits for those before it that write what it uses. There are no fences, no
//! heaps and no residency sets: what they would save cannot be measured without a Mac. Indirect command buffers are no way to
//! replay: they have no `setBytes`.

use super::device::Device;
use crate::error::{Error, Result};
use crate::pass::{Block, Dispatch, Pass, Place, block_bytes_mut};
use crate::pipeline::Code;
use crate::work::{Copy, Step, Work};
use abi::call::ARGUMENT_SLOTS;
use objc2::rc::Retained;
use objc2::runtime::ProtocolObject;
use objc2_foundation::NSString;
use objc2_metal::{
    MTLBarrierScope, MTLBlitCommandEncoder, MTLCommandBuffer, MTLCommandEncoder, MTLComputeCommandEncoder,
    MTLDispatchType, MTLSize,
};
use std::borrow::Cow;
use std::ops::Range;
use std::ptr::NonNull;

/// What all that is encoded has in common.
#[derive(Clone, Copy)]
pub(crate) struct Encoding<'a> {
    pub(crate) device: &'a Device,
    /// Names encoders, and groups the commands of each dispatch under the name of its kernel, for tools and errors.
    pub(crate) named: bool,
}

/// One dispatch of a pass, with the bytes that it has this time.
pub(crate) struct Single<'a> {
    pub(crate) pass: &'a Pass,
    pub(crate) number: usize,
    pub(crate) bytes: &'a [Block],
}

impl Encoding<'_> {
    /// Encodes everything.
    pub(crate) fn work(self, commands: &ProtocolObject<dyn MTLCommandBuffer>, work: &Work) -> Result<()> {
        for step in &work.steps {
            match step {
                Step::Pass(pass) => self.pass(commands, pass, &pass.bytes)?,
                Step::Replay { recording, patches } => {
                    self.pass(commands, recording.pass(), &patched(recording.pass(), work.patches(patches)))?;
                }
                Step::Copy(copy) => self.copy(commands, copy)?,
            }
        }
        Ok(())
    }

    fn pass(self, commands: &ProtocolObject<dyn MTLCommandBuffer>, pass: &Pass, bytes: &[Block]) -> Result<()> {
        if pass.dispatches.is_empty() {
            return Ok(());
        }
        let is_concurrent = pass.dispatches.iter().skip(1).any(|dispatch| !dispatch.waits);
        let encoder = Compute::new(commands, is_concurrent)?;
        if self.named {
            encoder.raw.setLabel(Some(&NSString::from_str(&pass_label(pass))));
        }
        let mut bound = Bound::default();
        for (number, dispatch) in pass.dispatches.iter().enumerate() {
            if is_concurrent && dispatch.waits && number > 0 {
                encoder.raw.memoryBarrierWithScope(MTLBarrierScope::Buffers);
            }
            self.dispatch(&encoder, &mut bound, &Single { pass, number, bytes })?;
        }
        Ok(())
    }

    /// Encodes one dispatch alone.
    pub(crate) fn single(self, commands: &ProtocolObject<dyn MTLCommandBuffer>, single: &Single) -> Result<()> {
        let encoder = Compute::new(commands, false)?;
        if self.named {
            let pipeline = single.pass.pipeline(&single.pass.dispatches[single.number]);
            encoder.raw.setLabel(Some(&NSString::from_str(pipeline.shared_name())));
        }
        self.dispatch(&encoder, &mut Bound::default(), single)
    }

    fn dispatch(self, encoder: &Compute, bound: &mut Bound, single: &Single) -> Result<()> {
        let Single { pass, number, bytes } = *single;
        let dispatch = &pass.dispatches[number];
        let pipeline = pass.pipeline(dispatch);
        if bound.pipeline != Some(dispatch.pipeline) {
            let state = match pipeline.code() {
                Code::Metal(pipeline) => pipeline.state(),
                Code::Cpu(_) => return Err(foreign("a pipeline state")),
            };
            encoder.raw.setComputePipelineState(state);
            bound.pipeline = Some(dispatch.pipeline);
        }
        for binding in pass.bindings_of(number) {
            bound.bind(encoder, pass, bytes, binding.index.into(), binding.place)?;
        }
        for &(index, length) in pass.threadgroup_memory_of(number) {
            bound.threadgroup_memory(encoder, index.into(), length);
        }
        if self.named {
            encoder.raw.pushDebugGroup(&NSString::from_str(pipeline.label().unwrap_or(pipeline.shared_name())));
        }
        let dispatched = self.grid(encoder, dispatch);
        if self.named {
            encoder.raw.popDebugGroup();
        }
        dispatched
    }

    fn grid(self, encoder: &Compute, dispatch: &Dispatch) -> Result<()> {
        let (threads, size) = (dispatch.threads_per_grid, dispatch.threads_per_threadgroup);
        let extent =
            |of: [u32; 3]| MTLSize { width: of[0] as usize, height: of[1] as usize, depth: of[2] as usize };
        if (0..3).all(|i| threads[i].is_multiple_of(size[i])) {
            let groups = std::array::from_fn(|i| threads[i] / size[i]);
            encoder.raw.dispatchThreadgroups_threadsPerThreadgroup(extent(groups), extent(size));
            return Ok(());
        }
        if !self.device.capabilities().nonuniform_threadgroups {
            return Err(Error::Usage(format!(
                "{} has no grids in threads; dispatch whole threadgroups",
                self.device.name()
            )));
        }
        encoder.raw.dispatchThreads_threadsPerThreadgroup(extent(threads), extent(size));
        Ok(())
    }

    pub(crate) fn copy(self, commands: &ProtocolObject<dyn MTLCommandBuffer>, copy: &Copy) -> Result<()> {
        let Copy { source, range, destination, offset } = copy;
        let (Some(from), Some(to)) = (source.metal(), destination.metal()) else { return Err(foreign("a buffer")) };
        let encoder = commands.blitCommandEncoder().ok_or_else(no_encoder)?;
        if self.named {
            encoder.setLabel(Some(&NSString::from_str("copy")));
        }
        // SAFETY: both ranges were checked to be inside of their buffers, which the work keeps alive until it is completed.
        unsafe {
            encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size(
                from.raw(),
                from.offset() + range.start,
                to.raw(),
                to.offset() + offset,
                range.end - range.start,
            );
        }
        encoder.endEncoding();
        Ok(())
    }
}

/// An encoder that is ended, whatever happens: Metal ends the process over one that is not.
struct Compute {
    raw: Retained<ProtocolObject<dyn MTLComputeCommandEncoder>>,
}

impl Compute {
    fn new(commands: &ProtocolObject<dyn MTLCommandBuffer>, is_concurrent: bool) -> Result<Compute> {
        let dispatch_type = if is_concurrent { MTLDispatchType::Concurrent } else { MTLDispatchType::Serial };
        let raw = commands.computeCommandEncoderWithDispatchType(dispatch_type).ok_or_else(no_encoder)?;
        Ok(Compute { raw })
    }
}

impl Drop for Compute {
    fn drop(&mut self) {
        self.raw.endEncoding();
    }
}

/// What an encoder has, so that nothing is set twice. A pipeline state changes none of it.
#[derive(Default)]
struct Bound {
    pipeline: Option<u32>,
    places: [Option<Place>; ARGUMENT_SLOTS],
    threadgroup_memory: [u32; ARGUMENT_SLOTS],
}

impl Bound {
    fn bind(&mut self, encoder: &Compute, pass: &Pass, bytes: &[Block], index: usize, place: Place) -> Result<()> {
        let before = self.places[index].replace(place);
        if before == Some(place) {
            return Ok(());
        }
        match place {
            Place::Bytes { block, len } => {
                let first = NonNull::from(&bytes[block as usize]);
                // SAFETY: the blocks from `block` on have `len` bytes, one after the other, which Metal copies; the index was
                // checked when they were bound.
                unsafe { encoder.raw.setBytes_length_atIndex(first.cast(), len as usize, index) };
            }
            Place::Buffer { buffer, offset } => {
                let metal = pass.buffers.items[buffer as usize].metal().ok_or_else(|| foreign("a buffer"))?;
                let offset = metal.offset() + offset;
                let is_there = matches!(before, Some(Place::Buffer { buffer: before, .. }) if before == buffer);
                // SAFETY: index and offset were checked when it was bound, and the pass keeps the buffer alive until the work is
                // completed. What kernels do with its bytes is their business.
                unsafe {
                    if is_there {
                        encoder.raw.setBufferOffset_atIndex(offset, index);
                    } else {
                        encoder.raw.setBuffer_offset_atIndex(Some(metal.raw()), offset, index);
                    }
                }
            }
        }
        Ok(())
    }

    fn threadgroup_memory(&mut self, encoder: &Compute, index: usize, length: u32) {
        if self.threadgroup_memory[index] != length {
            self.threadgroup_memory[index] = length;
            // SAFETY: the index was checked when it was set, and that the length is a multiple of 16.
            unsafe { encoder.raw.setThreadgroupMemoryLength_atIndex(length as usize, index) };
        }
    }
}

/// The bytes of a recording with those of one replay in their places.
pub(crate) fn patched<'a>(
    pass: &'a Pass,
    patches: impl Iterator<Item = (Range<usize>, &'a [u8])>,
) -> Cow<'a, [Block]> {
    let mut blocks = Cow::Borrowed(&*pass.bytes);
    for (target, bytes) in patches {
        block_bytes_mut(blocks.to_mut())[target].copy_from_slice(bytes);
    }
    blocks
}

/// What an error or a tool calls the encoder of a pass.
fn pass_label(pass: &Pass) -> String {
    const NAMED: usize = 4;
    let mut names: Vec<&str> =
        pass.dispatches.iter().take(NAMED).map(|dispatch| &**pass.pipeline(dispatch).shared_name()).collect();
    let more = format!("{} more", pass.dispatches.len().saturating_sub(NAMED));
    if pass.dispatches.len() > NAMED {
        names.push(&more);
    }
    names.join(", ")
}

fn foreign(what: &str) -> Error {
    Error::Usage(format!("{what} of another device in work for Metal"))
}

fn no_encoder() -> Error {
    Error::Internal("Metal made no encoder".into())
}
