//! Compute command encoders.

use super::bindings::{Bindings, widths};
use super::buffer::Buffer;
use super::commands::CommandBuffer;
use super::event::Fence;
use super::function_table::FunctionTable;
use super::heap::Heap;
use super::parts::{Deferred, Indirect};
use super::pipeline::Pipeline;
use super::residency::objects;
use crate::debug;
use crate::foundation::copied;
use crate::foundation::object::NS_OBJECT;
use crate::runtime::object::lock;
use crate::runtime::{Id, Object, Range, Size3, Strong};
use compute::{ComputeCommandEncoder, DispatchType, Size};
use std::ffi::c_void;
use std::sync::Mutex;

/// An encoder.
pub(crate) struct ComputeEncoder {
    commands: Strong,
    dispatch_type: DispatchType,
    state: Mutex<Encoding>,
}

struct Encoding {
    /// `None` when it has ended.
    encoder: Option<ComputeCommandEncoder>,
    bindings: Bindings,
    label: Strong,
    groups: usize,
}

pub(crate) fn create(
    commands: Object<CommandBuffer>,
    work: &compute::CommandBuffer,
    dispatch_type: DispatchType,
    here: &str,
) -> Option<Strong> {
    match work.compute_command_encoder_with_dispatch_type(dispatch_type) {
        Ok(mut encoder) => {
            // Programs that run here without a barrier would be wrong on a Mac.
            encoder.require_barriers();
            let state = Mutex::new(Encoding {
                encoder: Some(encoder),
                bindings: Bindings::default(),
                label: Strong::default(),
                groups: 0,
            });
            Some(Strong::new(ComputeEncoder { commands: commands.strong(), dispatch_type, state }))
        }
        Err(problem) => {
            debug::fail(here, format_args!("{problem}"));
            None
        }
    }
}

impl Drop for ComputeEncoder {
    fn drop(&mut self) {
        if lock(&self.state).encoder.is_some() {
            debug::fail(
                "-[MTLDebugComputeCommandEncoder dealloc]",
                format_args!("Command encoder released without endEncoding"),
            );
        }
    }
}

impl ComputeEncoder {
    /// Calls the encoder; its errors are mistakes of the program. False after one.
    fn with<T>(&self, here: &str, call: impl FnOnce(&mut ComputeCommandEncoder) -> compute::Result<T>) -> bool {
        let mut state = lock(&self.state);
        let Some(encoder) = &mut state.encoder else {
            drop(state);
            debug::fail(here, format_args!("Command encoding has already ended."));
            return false;
        };
        let result = call(encoder);
        drop(state);
        if let Err(problem) = &result {
            debug::fail(here, format_args!("{problem}"));
        }
        result.is_ok()
    }

    /// Dispatches with code for threadgroups of these widths.
    fn dispatch(
        &self,
        here: &str,
        widths: [usize; 2],
        call: impl FnOnce(&mut ComputeCommandEncoder) -> compute::Result<()>,
    ) {
        let pipeline = lock(&self.state).bindings.pipeline.clone();
        self.with(here, |encoder| {
            if let Some(pipeline) = pipeline.cast::<Pipeline>() {
                encoder.set_compute_pipeline_state(pipeline.for_widths(widths)?)?;
            }
            call(encoder)
        });
    }

    fn set_buffer(&self, here: &str, buffer: Id, offset: usize, index: usize) {
        forbid!(here, index >= BUFFERS, (), "index({index}) must be < {BUFFERS}.");
        // Without a buffer, a dispatch that needs one is reported.
        if buffer.is_nil() {
            return self.remember(|bindings| bindings.clear(index));
        }
        let Some(buffer) = buffer.expect::<Buffer>(here, "buffer") else { return };
        let length = buffer.buffer.len();
        forbid!(here, offset >= length, (), "offset({offset}) must be < [buffer length] ({length}).");
        if self.with(here, |encoder| encoder.set_buffer(index, &buffer.buffer, offset)) {
            // One that the command buffer does not retain must not live longer through this encoder.
            let is_retained =
                !self.commands.cast::<CommandBuffer>().is_some_and(|commands| commands.borrows(&buffer));
            self.remember(|bindings| match is_retained {
                true => bindings.set_buffer(index, buffer.strong(), offset),
                false => bindings.set_contents(index, buffer.buffer.clone(), offset),
            });
        }
    }

    /// Remembers an argument for encoders that go on with this one's work.
    fn remember(&self, change: impl FnOnce(&mut Bindings)) {
        change(&mut lock(&self.state).bindings);
    }

    /// True if a dispatch keeps the rules that the encoder below does not know.
    fn may_dispatch(&self, here: &str, threads: Size3) -> bool {
        let state = lock(&self.state);
        let is_missing = state.encoder.is_some() && state.bindings.pipeline.id().is_nil();
        forbid!(here, is_missing, false, "a compute pipeline state must be set.");
        state.bindings.check(here, threads)
    }

    /// Reports a use after the end.
    fn is_open(&self, here: &str) -> bool {
        let is_open = lock(&self.state).encoder.is_some();
        if !is_open {
            debug::fail(here, format_args!("Command encoding has already ended."));
        }
        is_open
    }

    /// Goes on behind a dispatch whose size is in a buffer.
    fn dispatch_indirect(&self, indirect: Indirect) {
        let here = indirect.here;
        let Some(commands) = self.commands.cast::<CommandBuffer>() else { return };
        let mut state = lock(&self.state);
        let bindings = state.bindings.clone();
        let Some(encoder) = &mut state.encoder else {
            drop(state);
            return debug::fail(here, format_args!("Command encoding has already ended."));
        };
        let ended = encoder.end_encoding();
        let Some(work) = commands.defer(Deferred::Dispatch(Indirect { bindings, ..indirect })) else { return };
        let next = ended.and_then(|()| work.compute_command_encoder_with_dispatch_type(self.dispatch_type));
        let result = next.and_then(|mut next| {
            next.require_barriers();
            state.bindings.apply(&mut next, [0; 2])?;
            Ok(next)
        });
        match result {
            Ok(next) => state.encoder = Some(next),
            Err(problem) => {
                drop(state);
                debug::fail(here, format_args!("{problem}"));
            }
        }
    }
}

const BUFFERS: usize = 31;

fn size(of: Size3) -> Size {
    Size::new(of.width, of.height, of.depth)
}

/// Checks a size whose dimensions must not be 0.
fn is_empty(of: Size3) -> bool {
    of.width == 0 || of.height == 0 || of.depth == 0
}

/// True for a grid without threads, of which nothing runs. The debug layer reports it, a Mac without the layer does not.
fn is_empty_grid(here: &str, name: &str, Size3 { width, height, depth }: Size3) -> bool {
    let is_empty = width == 0 || height == 0 || depth == 0;
    forbid!(
        here,
        is_empty && !debug::is_off(),
        true,
        "({name}.width({width}) * {name}.height({height}) * {name}.depth({depth}))(0) must not be 0."
    );
    is_empty
}

class! {
    COMPUTE_COMMAND_ENCODER = "MTLDebugComputeCommandEncoder": NS_OBJECT, new ComputeEncoder,
        ["MTLComputeCommandEncoder", "MTLCommandEncoder"]
    refused {
        "setTexture:atIndex:" "this device has no textures",
        "setTextures:withRange:" "this device has no textures",
        "setSamplerState:atIndex:" "this device has no textures",
        "setSamplerState:lodMinClamp:lodMaxClamp:atIndex:" "this device has no textures",
        "setSamplerStates:withRange:" "this device has no textures",
        "setSamplerStates:lodMinClamps:lodMaxClamps:withRange:" "this device has no textures",
        "setAccelerationStructure:atBufferIndex:" "this device has no ray tracing (supportsRaytracing is NO)",
        "setIntersectionFunctionTable:atBufferIndex:" "this device has no ray tracing (supportsRaytracing is NO)",
        "setIntersectionFunctionTables:withBufferRange:" "this device has no ray tracing (supportsRaytracing is NO)",
        "executeCommandsInBuffer:withRange:" "this device has no indirect command buffers",
        "executeCommandsInBuffer:indirectBuffer:indirectBufferOffset:" "this device has no indirect command buffers",
        "sampleCountersInBuffer:atSampleIndex:withBarrier:" "this device samples between encoders only (supportsCounterSampling:)",
        "setStageInRegion:" "this device has no stage input",
        "setStageInRegionWithIndirectBuffer:indirectBufferOffset:" "this device has no stage input",
        "setBuffer:offset:attributeStride:atIndex:" "this device has no stage input",
        "setBufferOffset:attributeStride:atIndex:" "this device has no stage input",
        "setBuffers:offsets:attributeStrides:withRange:" "this device has no stage input",
        "setBytes:length:attributeStride:atIndex:" "this device has no stage input",
        "setImageblockWidth:height:" "this device has no imageblocks",
    }
    absent { "barrierAfterQueueStages:beforeStages:", }
    methods {
        - "device" (this) -> Id { crate::foundation::ask(this.commands.id(), c"device").unwrap_or(Id::NIL) }
        - "commandBuffer" (this) -> Id { this.commands.id() }
        - "dispatchType" (this) -> usize { (this.dispatch_type == DispatchType::Concurrent).into() }
        - "label" (this) -> Id { lock(&this.state).label.clone().autorelease() }
        - "setLabel:" (this, label: Id) {
            let _old = std::mem::replace(&mut lock(&this.state).label, copied(label));
        }
        - "setComputePipelineState:" (this, pipeline: Id) {
            let Some(pipeline) = pipeline.expect::<Pipeline>(HERE, "computePipelineState") else { return };
            if this.with(HERE, |encoder| encoder.set_compute_pipeline_state(&pipeline.state)) {
                this.remember(|bindings| bindings.pipeline = pipeline.strong());
            }
        }
        - "setBuffer:offset:atIndex:" (this, buffer: Id, offset: usize, index: usize) {
            this.set_buffer(HERE, buffer, offset, index);
        }
        - "setBuffers:offsets:withRange:" (this, buffers: *const Id, offsets: *const usize, range: Range) {
            for (at, buffer) in objects(buffers, range.length).iter().enumerate() {
                // SAFETY: the program passes an offset for each buffer.
                let offset = unsafe { offsets.add(at).read() };
                this.set_buffer(HERE, *buffer, offset, range.location + at);
            }
        }
        - "setBufferOffset:atIndex:" (this, offset: usize, index: usize) {
            forbid!(HERE, index >= BUFFERS, (), "index({index}) must be < {BUFFERS}.");
            if this.with(HERE, |encoder| encoder.set_buffer_offset(index, offset)) {
                this.remember(|bindings| bindings.set_offset(index, offset));
            }
        }
        - "setBytes:length:atIndex:" (this, bytes: *const c_void, length: usize, index: usize) {
            forbid!(HERE, index >= BUFFERS, (), "index({index}) must be < {BUFFERS}.");
            forbid!(HERE, length > 4096, (), "length({length}) must be <= 4096.");
            forbid!(HERE, bytes.is_null(), (), "bytes argument cannot be nil");
            // No bytes are no mistake, if the kernel reads none: programs pass the shape of a number.
            let bytes: &[u8] = match length {
                0 => &[0; 64],
                // SAFETY: the program passes that many bytes.
                _ => unsafe { std::slice::from_raw_parts(bytes.cast(), length) },
            };
            if this.with(HERE, |encoder| encoder.set_bytes(index, bytes)) {
                this.remember(|bindings| bindings.set_bytes(index, bytes));
            }
        }
        - "setThreadgroupMemoryLength:atIndex:" (this, length: usize, index: usize) {
            forbid!(HERE, index >= BUFFERS, (), "index({index}) must be < {BUFFERS}.");
            forbid!(HERE, !length.is_multiple_of(16), (), "length({length}) must be a multiple of 16 bytes.");
            // A length of 0 takes the memory away.
            if length == 0 {
                return;
            }
            if this.with(HERE, |encoder| encoder.set_threadgroup_memory_length(index, length)) {
                this.remember(|bindings| bindings.set_memory(index, length));
            }
        }
        - "setVisibleFunctionTable:atBufferIndex:" (this, table: Id, index: usize) {
            forbid!(HERE, index >= BUFFERS, (), "index({index}) must be < {BUFFERS}.");
            let Some(table) = table.expect::<FunctionTable>(HERE, "visibleFunctionTable") else { return };
            if this.with(HERE, |encoder| encoder.set_visible_function_table(index, &table.table)) {
                this.remember(|bindings| bindings.set_table(index, table.strong()));
            }
        }
        - "setVisibleFunctionTables:withBufferRange:" (this, tables: *const Id, range: Range) {
            for (at, table) in objects(tables, range.length).iter().enumerate() {
                let Some(table) = table.expect::<FunctionTable>(HERE, "visibleFunctionTable") else { return };
                let index = range.location + at;
                if this.with(HERE, |encoder| encoder.set_visible_function_table(index, &table.table)) {
                    this.remember(|bindings| bindings.set_table(index, table.strong()));
                }
            }
        }
        - "dispatchThreadgroups:threadsPerThreadgroup:" (this, groups: Size3, threads: Size3) {
            forbid!(HERE, is_empty(threads), (), "(threadsPerThreadgroup.width * height * depth) must be > 0: {threads:?}.");
            if !is_empty_grid(HERE, "threadgroupsPerGrid", groups) && this.may_dispatch(HERE, threads) {
                this.dispatch(HERE, [threads.width, 0], |encoder| encoder.dispatch_threadgroups(size(groups), size(threads)));
            }
        }
        - "dispatchThreadgroupsWithIndirectBuffer:indirectBufferOffset:threadsPerThreadgroup:" (
            this, buffer: Id, offset: usize, threads: Size3
        ) {
            let Some(buffer) = buffer.expect::<Buffer>(HERE, "indirectBuffer") else { return };
            let length = buffer.buffer.len();
            forbid!(HERE, is_empty(threads), (), "(threadsPerThreadgroup.width * height * depth) must be > 0: {threads:?}.");
            forbid!(HERE, !offset.is_multiple_of(4), (), "indirectBufferOffset({offset}) must be a multiple of 4.");
            forbid!(HERE, offset.checked_add(12).is_none_or(|end| end > length), (),
                "indirectBufferOffset({offset}) + 12 must be <= [indirectBuffer length] ({length}).");
            let has_pipeline = !lock(&this.state).bindings.pipeline.id().is_nil();
            forbid!(HERE, !has_pipeline, (), "a compute pipeline state must be set.");
            if !this.may_dispatch(HERE, threads) {
                return;
            }
            let (buffer, bindings) = (buffer.strong(), Bindings::default());
            this.dispatch_indirect(Indirect { here: HERE, bindings, buffer, offset, threads });
        }
        - "dispatchThreads:threadsPerThreadgroup:" (this, grid: Size3, threads: Size3) {
            forbid!(HERE, is_empty(threads), (), "(threadsPerThreadgroup.width * height * depth) must be > 0: {threads:?}.");
            if !is_empty_grid(HERE, "threadsPerGrid", grid) && this.may_dispatch(HERE, threads) {
                this.dispatch(HERE, widths(threads, grid), |encoder| encoder.dispatch_threads(size(grid), size(threads)));
            }
        }
        - "memoryBarrierWithScope:" (this, _scope: usize) { this.with(HERE, |encoder| encoder.memory_barrier()); }
        - "memoryBarrierWithResources:count:" (this, resources: *const Id, count: usize) {
            for resource in objects(resources, count) {
                forbid!(HERE, resource.is_nil(), (), "resources must not be nil.");
            }
            this.with(HERE, |encoder| encoder.memory_barrier());
        }
        - "updateFence:" (this, fence: Id) { if this.is_open(HERE) { fence.expect::<Fence>(HERE, "fence"); } }
        - "waitForFence:" (this, fence: Id) { if this.is_open(HERE) { fence.expect::<Fence>(HERE, "fence"); } }
        - "useResource:usage:" (this, resource: Id, _usage: usize) {
            forbid!(HERE, resource.is_nil(), (), "resource must not be nil.");
            this.is_open(HERE);
        }
        - "useResources:count:usage:" (this, resources: *const Id, count: usize, _usage: usize) {
            for resource in objects(resources, count) {
                forbid!(HERE, resource.is_nil(), (), "resources must not be nil.");
            }
            this.is_open(HERE);
        }
        - "useHeap:" (this, heap: Id) { if this.is_open(HERE) { heap.expect::<Heap>(HERE, "heap"); } }
        - "useHeaps:count:" (this, heaps: *const Id, count: usize) {
            for heap in objects(heaps, count) {
                heap.expect::<Heap>(HERE, "heaps");
            }
            this.is_open(HERE);
        }
        - "insertDebugSignpost:" (this, _name: Id) { this.is_open(HERE); }
        - "pushDebugGroup:" (this, _name: Id) { if this.is_open(HERE) { lock(&this.state).groups += 1 } }
        - "popDebugGroup" (this) {
            let mut state = lock(&this.state);
            forbid!(HERE, state.groups == 0, (), "popDebugGroup without a matching pushDebugGroup:.");
            state.groups -= 1;
        }
        - "endEncoding" (this) {
            let (encoder, label, groups) = {
                let mut state = lock(&this.state);
                (state.encoder.take(), state.label.clone(), state.groups)
            };
            let Some(mut encoder) = encoder else {
                return debug::fail(HERE, format_args!("Command encoding has already ended."));
            };
            forbid!(HERE, groups > 0, (), "{groups} debug groups were pushed and not popped.");
            if let Err(problem) = encoder.end_encoding() {
                debug::fail(HERE, format_args!("{problem}"));
            }
            if let Some(commands) = this.commands.cast::<CommandBuffer>() {
                commands.end(label);
            }
        }
    }
}
