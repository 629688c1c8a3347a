//! Blit command encoders: copies and fills of buffers.

use super::buffer::Buffer;
use super::commands::CommandBuffer;
use super::event::Fence;
use super::parts::Deferred;
use crate::debug;
use crate::foundation::copied;
use crate::foundation::object::NS_OBJECT;
use crate::runtime::object::lock;
use crate::runtime::{Id, Object, Range, Strong};
use std::sync::Mutex;

/// An encoder.
pub(crate) struct BlitEncoder {
    commands: Strong,
    state: Mutex<Blitting>,
}

struct Blitting {
    work: compute::CommandBuffer,
    is_open: bool,
    label: Strong,
    groups: usize,
}

pub(crate) fn create(commands: Object<CommandBuffer>, work: compute::CommandBuffer) -> Strong {
    let state = Mutex::new(Blitting { work, is_open: true, label: Strong::default(), groups: 0 });
    Strong::new(BlitEncoder { commands: commands.strong(), state })
}

impl Drop for BlitEncoder {
    fn drop(&mut self) {
        if lock(&self.state).is_open {
            debug::fail(
                "-[MTLDebugBlitCommandEncoder dealloc]",
                format_args!("Command encoder released without endEncoding"),
            );
        }
    }
}

impl BlitEncoder {
    /// Adds work; its errors are mistakes of the program.
    fn with(&self, here: &str, call: impl FnOnce(&compute::CommandBuffer) -> compute::Result<()>) {
        let (is_open, work) = {
            let state = lock(&self.state);
            (state.is_open, state.work.clone())
        };
        forbid!(here, !is_open, (), "Command encoding has already ended.");
        if let Err(problem) = call(&work) {
            debug::fail(here, format_args!("{problem}"));
        }
    }

    /// Reports a use after the end.
    fn is_open(&self, here: &str) -> bool {
        let is_open = lock(&self.state).is_open;
        forbid!(here, !is_open, false, "Command encoding has already ended.");
        true
    }

    /// Notes buffers that the command buffer does not retain.
    fn uses(&self, buffers: &[&Buffer]) {
        if let Some(commands) = self.commands.cast::<CommandBuffer>() {
            for buffer in buffers {
                commands.borrows(buffer);
            }
        }
    }

    /// Goes on behind work that the host does.
    fn defer(&self, here: &str, deferred: Deferred) {
        let Some(commands) = self.commands.cast::<CommandBuffer>() else { return };
        let mut state = lock(&self.state);
        forbid!(here, !state.is_open, (), "Command encoding has already ended.");
        if let Some(work) = commands.defer(deferred) {
            state.work = work;
        }
    }
}

class! {
    BLIT_COMMAND_ENCODER = "MTLDebugBlitCommandEncoder": NS_OBJECT, new BlitEncoder,
        ["MTLBlitCommandEncoder", "MTLCommandEncoder"]
    refused {
        "copyFromBuffer:sourceOffset:sourceBytesPerRow:sourceBytesPerImage:sourceSize:toTexture:destinationSlice:destinationLevel:destinationOrigin:" "this device has no textures",
        "copyFromTexture:sourceSlice:sourceLevel:sourceOrigin:sourceSize:toBuffer:destinationOffset:destinationBytesPerRow:destinationBytesPerImage:" "this device has no textures",
        "copyFromTexture:sourceSlice:sourceLevel:sourceOrigin:sourceSize:toTexture:destinationSlice:destinationLevel:destinationOrigin:" "this device has no textures",
        "copyFromTexture:sourceSlice:sourceLevel:toTexture:destinationSlice:destinationLevel:sliceCount:levelCount:" "this device has no textures",
        "copyFromTexture:toTexture:" "this device has no textures",
        "generateMipmapsForTexture:" "this device has no textures",
        "synchronizeTexture:slice:level:" "this device has no textures",
        "copyIndirectCommandBuffer:sourceRange:destination:destinationIndex:" "this device has no indirect command buffers",
        "resetCommandsInBuffer:withRange:" "this device has no indirect command buffers",
        "optimizeIndirectCommandBuffer:withRange:" "this device has no indirect command buffers",
        "sampleCountersInBuffer:atSampleIndex:withBarrier:" "this device samples between encoders only (supportsCounterSampling:)",
        "resolveCounters:inRange:destinationBuffer:destinationOffset:" "the host resolves samples: use resolveCounterRange:",
    }
    absent {
        "barrierAfterQueueStages:beforeStages:", "copyFromTensor:sourceOrigin:sourceDimensions:toTensor:destinationOrigin:destinationDimensions:",
        "copyFromBuffer:sourceOffset:sourceBytesPerRow:sourceBytesPerImage:sourceSize:toTexture:destinationSlice:destinationLevel:destinationOrigin:options:",
        "copyFromTexture:sourceSlice:sourceLevel:sourceOrigin:sourceSize:toBuffer:destinationOffset:destinationBytesPerRow:destinationBytesPerImage:options:",
        "getTextureAccessCounters:region:mipLevel:slice:resetCounters:countersBuffer:countersBufferOffset:",
        "optimizeContentsForCPUAccess:", "optimizeContentsForCPUAccess:slice:level:", "optimizeContentsForGPUAccess:",
        "optimizeContentsForGPUAccess:slice:level:", "resetTextureAccessCounters:region:mipLevel:slice:",
    }
    methods {
        - "device" (this) -> Id { crate::foundation::ask(this.commands.id(), c"device").unwrap_or(Id::NIL) }
        - "commandBuffer" (this) -> Id { this.commands.id() }
        - "label" (this) -> Id { lock(&this.state).label.clone().autorelease() }
        - "setLabel:" (this, label: Id) {
            let _old = std::mem::replace(&mut lock(&this.state).label, copied(label));
        }
        - "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:" (
            this, source: Id, source_offset: usize, destination: Id, destination_offset: usize, size: usize
        ) {
            let Some(source) = source.expect::<Buffer>(HERE, "sourceBuffer") else { return };
            let Some(destination) = destination.expect::<Buffer>(HERE, "destinationBuffer") else { return };
            let (from, to) = (source_offset.checked_add(size), destination_offset.checked_add(size));
            let (have, room) = (source.buffer.len(), destination.buffer.len());
            forbid!(HERE, from.is_none_or(|end| end > have), (),
                "(sourceOffset + size)({source_offset} + {size}) must be <= [sourceBuffer length] ({have}).");
            forbid!(HERE, to.is_none_or(|end| end > room), (),
                "(destinationOffset + size)({destination_offset} + {size}) must be <= [destinationBuffer length] ({room}).");
            this.uses(&[&source, &destination]);
            for (name, number) in [("sourceOffset", source_offset), ("destinationOffset", destination_offset), ("size", size)] {
                let is_whole = number.is_multiple_of(4);
                forbid!(HERE, !is_whole && !debug::is_off(), (), "{name}({number}) must be a multiple of 4.");
                // Apple's GPUs copy any bytes, and without the layer nobody objects.
                if !is_whole {
                    let (from, to) = ((source.strong(), source_offset), (destination.strong(), destination_offset));
                    return this.defer(HERE, Deferred::Copy { from, to, size });
                }
            }
            if size > 0 {
                let end = source_offset + size;
                this.with(HERE, |work| {
                    work.copy_buffer(&source.buffer, source_offset..end, &destination.buffer, destination_offset)
                });
            }
        }
        - "fillBuffer:range:value:" (this, buffer: Id, range: Range, value: u8) {
            let Some(buffer) = buffer.expect::<Buffer>(HERE, "buffer") else { return };
            let (end, length) = (range.location.checked_add(range.length), buffer.buffer.len());
            forbid!(HERE, end.is_none_or(|end| end > length), (), "{range:?} must be inside the buffer, of length {length}.");
            // Apple's GPUs fill any bytes; only the GPUs of Intel Macs need whole words.
            forbid!(HERE, range.length == 0, (), "range.length must not be 0.");
            this.uses(&[&buffer]);
            let range = range.location..end.unwrap_or(0);
            if !range.start.is_multiple_of(4) || !range.end.is_multiple_of(4) {
                return this.defer(HERE, Deferred::Fill { buffer: buffer.strong(), range, value });
            }
            this.with(HERE, |work| work.fill_buffer(&buffer.buffer, range, value));
        }
        - "synchronizeResource:" (_this, resource: Id) {
            forbid!(HERE, resource.is_nil(), (), "resource must not be nil.");
        }
        - "updateFence:" (this, fence: Id) { if this.is_open(HERE) { fence.expect::<Fence>(HERE, "fence"); } }
        - "waitForFence:" (this, fence: Id) { if this.is_open(HERE) { fence.expect::<Fence>(HERE, "fence"); } }
        - "insertDebugSignpost:" (this, _name: Id) { this.is_open(HERE); }
        - "pushDebugGroup:" (this, _name: Id) { if this.is_open(HERE) { lock(&this.state).groups += 1 } }
        - "popDebugGroup" (this) {
            let mut state = lock(&this.state);
            forbid!(HERE, state.groups == 0, (), "popDebugGroup without a matching pushDebugGroup:.");
            state.groups -= 1;
        }
        - "endEncoding" (this) {
            let (was_open, label, groups) = {
                let mut state = lock(&this.state);
                (std::mem::replace(&mut state.is_open, false), state.label.clone(), state.groups)
            };
            forbid!(HERE, !was_open, (), "Command encoding has already ended.");
            forbid!(HERE, groups > 0, (), "{groups} debug groups were pushed and not popped.");
            if let Some(commands) = this.commands.cast::<CommandBuffer>() {
                commands.end(label);
            }
        }
    }
}
