//! Compute encoders, which also copy and fill. Each command runs after the one before: barriers have nothing to do.

use super::arguments::ArgumentTable;
use super::commands::CommandBuffer4;
use crate::debug;
use crate::foundation::copied;
use crate::foundation::object::NS_OBJECT;
use crate::metal::bindings::{Bindings, widths};
use crate::metal::buffer::{self, Buffer};
use crate::metal::parts::{Deferred, Indirect};
use crate::metal::pipeline::Pipeline;
use crate::runtime::object::lock;
use crate::runtime::{Id, Object, Range, Size3, Strong};
use compute::{ComputeCommandEncoder, Size};
use std::sync::Mutex;

/// An encoder.
pub(crate) struct ComputeEncoder4 {
    commands: Strong,
    state: Mutex<Encoding4>,
}

#[derive(Default)]
struct Encoding4 {
    has_ended: bool,
    /// The pipeline state and the threadgroup memory; arguments come from the table.
    bindings: Bindings,
    table: Strong,
    label: Strong,
}

pub(crate) fn create(commands: Object<CommandBuffer4>) -> Strong {
    Strong::new(ComputeEncoder4 { commands: commands.strong(), state: Mutex::default() })
}

impl Drop for ComputeEncoder4 {
    fn drop(&mut self) {
        if !lock(&self.state).has_ended {
            debug::fail(
                "-[MTL4DebugComputeCommandEncoder dealloc]",
                format_args!("Command encoder released without endEncoding"),
            );
        }
    }
}

fn size(of: Size3) -> Size {
    Size::new(of.width, of.height, of.depth)
}

fn is_empty(of: Size3) -> bool {
    of.width == 0 || of.height == 0 || of.depth == 0
}

impl ComputeEncoder4 {
    /// The arguments of a dispatch as they are now; `None` after a mistake.
    fn bindings(&self, here: &str) -> Option<Bindings> {
        let (mut bindings, table, has_ended) = {
            let state = lock(&self.state);
            (state.bindings.clone(), state.table.clone(), state.has_ended)
        };
        forbid!(here, has_ended, None, "Command encoding has already ended.");
        forbid!(here, bindings.pipeline.id().is_nil(), None, "a compute pipeline state must be set.");
        if let Some(table) = table.cast::<ArgumentTable>() {
            table.add_to(&mut bindings, here)?;
        }
        Some(bindings)
    }

    /// Adds work; its errors are mistakes of the program.
    fn with(&self, here: &str, call: impl FnOnce(&compute::CommandBuffer) -> compute::Result<()>) {
        let has_ended = lock(&self.state).has_ended;
        forbid!(here, has_ended, (), "Command encoding has already ended.");
        let work = self.commands.cast::<CommandBuffer4>().and_then(|commands| commands.work());
        if let Some(Err(problem)) = work.map(|work| call(&work)) {
            debug::fail(here, format_args!("{problem}"));
        }
    }

    fn dispatch(
        &self,
        here: &str,
        threads: Size3,
        edge: usize,
        call: impl FnOnce(&mut ComputeCommandEncoder) -> compute::Result<()>,
    ) {
        let Some(bindings) = self.bindings(here).filter(|bindings| bindings.check(here, threads)) else { return };
        self.with(here, |work| {
            let mut encoder = work.compute_command_encoder()?;
            let dispatched = bindings.apply(&mut encoder, [threads.width, edge]).and_then(|()| call(&mut encoder));
            encoder.end_encoding()?;
            dispatched
        });
    }
}

class! {
    COMPUTE_COMMAND_ENCODER = "MTL4DebugComputeCommandEncoder": NS_OBJECT, new ComputeEncoder4,
        ["MTL4ComputeCommandEncoder", "MTL4CommandEncoder"]
    refused {
        "executeCommandsInBuffer:withRange:" "this device has no indirect command buffers",
        "executeCommandsInBuffer:indirectBuffer:" "this device has no indirect command buffers",
        "copyFromTexture:toTexture:" "this device has no textures",
        "generateMipmapsForTexture:" "this device has no textures",
        "buildAccelerationStructure:descriptor:scratchBuffer:" "this device has no ray tracing (supportsRaytracing is NO)",
        "setImageblockWidth:height:" "this device has no imageblocks",
    }
    absent {
        "copyAccelerationStructure:toAccelerationStructure:", "copyAndCompactAccelerationStructure:toAccelerationStructure:",
        "copyFromBuffer:sourceOffset:sourceBytesPerRow:sourceBytesPerImage:sourceSize:toTexture:destinationSlice:destinationLevel:destinationOrigin:",
        "copyFromBuffer:sourceOffset:sourceBytesPerRow:sourceBytesPerImage:sourceSize:toTexture:destinationSlice:destinationLevel:destinationOrigin:options:",
        "copyFromTensor:sourceOrigin:sourceDimensions:toTensor:destinationOrigin:destinationDimensions:",
        "copyFromTexture:sourceSlice:sourceLevel:sourceOrigin:sourceSize:toBuffer:destinationOffset:destinationBytesPerRow:destinationBytesPerImage:",
        "copyFromTexture:sourceSlice:sourceLevel:sourceOrigin:sourceSize:toBuffer:destinationOffset:destinationBytesPerRow:destinationBytesPerImage:options:",
        "copyFromTexture:sourceSlice:sourceLevel:sourceOrigin:sourceSize:toTexture:destinationSlice:destinationLevel:destinationOrigin:",
        "copyFromTexture:sourceSlice:sourceLevel:toTexture:destinationSlice:destinationLevel:sliceCount:levelCount:",
        "copyIndirectCommandBuffer:sourceRange:destination:destinationIndex:", "dispatchThreadsWithIndirectBuffer:",
        "optimizeContentsForCPUAccess:", "optimizeContentsForCPUAccess:slice:level:", "optimizeContentsForGPUAccess:",
        "optimizeContentsForGPUAccess:slice:level:", "optimizeIndirectCommandBuffer:withRange:",
        "refitAccelerationStructure:descriptor:destination:scratchBuffer:",
        "refitAccelerationStructure:descriptor:destination:scratchBuffer:options:", "resetCommandsInBuffer:withRange:",
        "writeCompactedAccelerationStructureSize:toBuffer:", "writeTimestampWithGranularity:intoHeap:atIndex:",
    }
    methods {
        - "commandBuffer" (this) -> Id { this.commands.id() }
        - "label" (this) -> Id { lock(&this.state).label.clone().autorelease() }
        - "setLabel:" (this, label: Id) {
            let _old = std::mem::replace(&mut lock(&this.state).label, copied(label));
        }
        - "stages" (_this) -> usize { 1 << 27 }
        - "setComputePipelineState:" (this, pipeline: Id) {
            let Some(pipeline) = pipeline.expect::<Pipeline>(HERE, "computePipelineState") else { return };
            let _old = std::mem::replace(&mut lock(&this.state).bindings.pipeline, pipeline.strong());
        }
        - "setArgumentTable:" (this, table: Id) {
            forbid!(HERE, !table.is_nil() && table.cast::<ArgumentTable>().is_none(), (), "argumentTable is no argument table.");
            let _old = std::mem::replace(&mut lock(&this.state).table, Strong::retain(table));
        }
        - "setThreadgroupMemoryLength:atIndex:" (this, length: usize, index: usize) {
            forbid!(HERE, !length.is_multiple_of(16), (), "length({length}) must be a multiple of 16 bytes.");
            if length > 0 {
                lock(&this.state).bindings.set_memory(index, length);
            }
        }
        - "dispatchThreads:threadsPerThreadgroup:" (this, grid: Size3, threads: Size3) {
            forbid!(HERE, is_empty(grid) || is_empty(threads), (), "sizes must not be 0 in any dimension: {grid:?}, {threads:?}.");
            let [_, edge] = widths(threads, grid);
            this.dispatch(HERE, threads, edge, |encoder| encoder.dispatch_threads(size(grid), size(threads)));
        }
        - "dispatchThreadgroups:threadsPerThreadgroup:" (this, groups: Size3, threads: Size3) {
            forbid!(HERE, is_empty(groups) || is_empty(threads), (), "sizes must not be 0 in any dimension: {groups:?}, {threads:?}.");
            this.dispatch(HERE, threads, 0, |encoder| encoder.dispatch_threadgroups(size(groups), size(threads)));
        }
        - "dispatchThreadgroupsWithIndirectBuffer:threadsPerThreadgroup:" (this, address: u64, threads: Size3) {
            forbid!(HERE, is_empty(threads), (), "threadsPerThreadgroup must not be 0 in any dimension: {threads:?}.");
            forbid!(HERE, !address.is_multiple_of(4), (), "indirectBuffer({address:#x}) must be a multiple of 4.");
            let found = buffer::at_address(address);
            let has_room = found.as_ref().is_some_and(|(buffer, offset)| {
                buffer.cast::<Buffer>().is_some_and(|buffer| offset + 12 <= buffer.buffer.len())
            });
            forbid!(HERE, !has_room, (), "the address {address:#x} has no 12 bytes in a buffer.");
            let (Some((buffer, offset)), Some(bindings)) = (found, this.bindings(HERE)) else { return };
            if let Some(commands) = this.commands.cast::<CommandBuffer4>() {
                commands.defer(Deferred::Dispatch(Indirect { here: HERE, bindings, buffer, offset, threads }));
            }
        }
        - "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:" (
            this, source: Id, source_offset: usize, destination: Id, destination_offset: usize, size: usize
        ) {
            let Some(source) = source.expect::<Buffer>(HERE, "sourceBuffer") else { return };
            let Some(destination) = destination.expect::<Buffer>(HERE, "destinationBuffer") else { return };
            let Some(end) = source_offset.checked_add(size) else { return };
            if size > 0 {
                this.with(HERE, |work| {
                    work.copy_buffer(&source.buffer, source_offset..end, &destination.buffer, destination_offset)
                });
            }
        }
        - "fillBuffer:range:value:" (this, buffer: Id, range: Range, value: u8) {
            let Some(buffer) = buffer.expect::<Buffer>(HERE, "buffer") else { return };
            let (end, length) = (range.location.checked_add(range.length), buffer.buffer.len());
            forbid!(HERE, end.is_none_or(|end| end > length), (), "{range:?} must be inside the buffer, of length {length}.");
            let range = range.location..end.unwrap_or(0);
            if range.start.is_multiple_of(4) && range.end.is_multiple_of(4) {
                this.with(HERE, |work| work.fill_buffer(&buffer.buffer, range, value));
            } else if let Some(commands) = this.commands.cast::<CommandBuffer4>() {
                commands.defer(Deferred::Fill { buffer: buffer.strong(), range, value });
            }
        }
        - "barrierAfterEncoderStages:beforeEncoderStages:visibilityOptions:" (_this, _after: usize, _before: usize, _options: usize) {}
        - "barrierAfterQueueStages:beforeStages:visibilityOptions:" (_this, _after: usize, _before: usize, _options: usize) {}
        - "barrierAfterStages:beforeQueueStages:visibilityOptions:" (_this, _after: usize, _before: usize, _options: usize) {}
        - "updateFence:afterEncoderStages:" (_this, _fence: Id, _stages: usize) {}
        - "waitForFence:beforeEncoderStages:" (_this, _fence: Id, _stages: usize) {}
        - "insertDebugSignpost:" (_this, _name: Id) {}
        - "pushDebugGroup:" (_this, _name: Id) {}
        - "popDebugGroup" (_this) {}
        - "endEncoding" (this) {
            let had_ended = std::mem::replace(&mut lock(&this.state).has_ended, true);
            forbid!(HERE, had_ended, (), "Command encoding has already ended.");
            if let Some(commands) = this.commands.cast::<CommandBuffer4>() {
                commands.set_encoding(HERE, false);
            }
        }
    }
}
