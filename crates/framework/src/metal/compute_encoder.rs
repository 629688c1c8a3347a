//! Compute command encoders.

use super::buffer::Buffer;
use super::commands::CommandBuffer;
use super::function_table::FunctionTable;
use super::pipeline::Pipeline;
use super::residency::objects;
use crate::debug;
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
        Ok(encoder) => {
            let state = Mutex::new(Encoding { encoder: Some(encoder), label: Strong::default(), groups: 0 });
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
    /// Calls the encoder; its errors are mistakes of the program.
    fn with<T>(&self, here: &str, call: impl FnOnce(&mut ComputeCommandEncoder) -> compute::Result<T>) {
        let mut state = lock(&self.state);
        let Some(encoder) = &mut state.encoder else {
            drop(state);
            return debug::fail(here, format_args!("Command encoding has already ended."));
        };
        let result = call(encoder);
        drop(state);
        if let Err(problem) = result {
            debug::fail(here, format_args!("{problem}"));
        }
    }

    fn set_buffer(&self, here: &str, buffer: Id, offset: usize, index: usize) {
        forbid!(here, index >= BUFFERS, (), "index({index}) must be < {BUFFERS}.");
        // Without a buffer, a dispatch that needs one is reported.
        if buffer.is_nil() {
            return;
        }
        let Some(buffer) = buffer.expect::<Buffer>(here, "buffer") else { return };
        let length = buffer.buffer.len();
        forbid!(here, offset >= length, (), "offset({offset}) must be < [buffer length] ({length}).");
        self.with(here, |encoder| encoder.set_buffer(index, &buffer.buffer, offset));
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
        "dispatchThreadgroupsWithIndirectBuffer:indirectBufferOffset:threadsPerThreadgroup:" "this device has no indirect dispatches",
        "sampleCountersInBuffer:atSampleIndex:withBarrier:" "this device has no counters (supportsCounterSampling: returns NO)",
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
            let _old = std::mem::replace(&mut lock(&this.state).label, Strong::retain(label));
        }
        - "setComputePipelineState:" (this, pipeline: Id) {
            let Some(pipeline) = pipeline.expect::<Pipeline>(HERE, "computePipelineState") else { return };
            this.with(HERE, |encoder| encoder.set_compute_pipeline_state(&pipeline.state));
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
            this.with(HERE, |encoder| encoder.set_buffer_offset(index, offset));
        }
        - "setBytes:length:atIndex:" (this, bytes: *const c_void, length: usize, index: usize) {
            forbid!(HERE, index >= BUFFERS, (), "index({index}) must be < {BUFFERS}.");
            forbid!(HERE, length == 0, (), "length must not be 0.");
            forbid!(HERE, length > 4096, (), "length({length}) must be <= 4096.");
            forbid!(HERE, bytes.is_null(), (), "bytes must not be NULL.");
            // SAFETY: the program passes that many bytes.
            let bytes: &[u8] = unsafe { std::slice::from_raw_parts(bytes.cast(), length) };
            this.with(HERE, |encoder| encoder.set_bytes(index, bytes));
        }
        - "setThreadgroupMemoryLength:atIndex:" (this, length: usize, index: usize) {
            forbid!(HERE, index >= BUFFERS, (), "index({index}) must be < {BUFFERS}.");
            forbid!(HERE, !length.is_multiple_of(16), (), "length({length}) must be a multiple of 16 bytes.");
            // A length of 0 takes the memory away.
            if length == 0 {
                return;
            }
            this.with(HERE, |encoder| encoder.set_threadgroup_memory_length(index, length));
        }
        - "setVisibleFunctionTable:atBufferIndex:" (this, table: Id, index: usize) {
            forbid!(HERE, index >= BUFFERS, (), "index({index}) must be < {BUFFERS}.");
            let Some(table) = table.expect::<FunctionTable>(HERE, "visibleFunctionTable") else { return };
            this.with(HERE, |encoder| encoder.set_visible_function_table(index, &table.table));
        }
        - "setVisibleFunctionTables:withBufferRange:" (this, tables: *const Id, range: Range) {
            for (at, table) in objects(tables, range.length).iter().enumerate() {
                let Some(table) = table.expect::<FunctionTable>(HERE, "visibleFunctionTable") else { return };
                this.with(HERE, |encoder| encoder.set_visible_function_table(range.location + at, &table.table));
            }
        }
        - "dispatchThreadgroups:threadsPerThreadgroup:" (this, groups: Size3, threads: Size3) {
            forbid!(HERE, is_empty(threads), (), "(threadsPerThreadgroup.width * height * depth) must be > 0: {threads:?}.");
            forbid!(HERE, is_empty(groups), (), "threadgroupsPerGrid must not be 0 in any dimension: {groups:?}.");
            this.with(HERE, |encoder| encoder.dispatch_threadgroups(size(groups), size(threads)));
        }
        - "dispatchThreads:threadsPerThreadgroup:" (this, grid: Size3, threads: Size3) {
            forbid!(HERE, is_empty(threads), (), "(threadsPerThreadgroup.width * height * depth) must be > 0: {threads:?}.");
            forbid!(HERE, is_empty(grid), (), "threadsPerGrid must not be 0 in any dimension: {grid:?}.");
            this.with(HERE, |encoder| encoder.dispatch_threads(size(grid), size(threads)));
        }
        - "memoryBarrierWithScope:" (this, _scope: usize) { this.with(HERE, |encoder| encoder.memory_barrier()) }
        - "memoryBarrierWithResources:count:" (this, resources: *const Id, count: usize) {
            for resource in objects(resources, count) {
                forbid!(HERE, resource.is_nil(), (), "resources must not be nil.");
            }
            this.with(HERE, |encoder| encoder.memory_barrier());
        }
        - "updateFence:" (_this, _fence: Id) {}
        - "waitForFence:" (_this, _fence: Id) {}
        - "useResource:usage:" (_this, resource: Id, _usage: usize) {
            forbid!(HERE, resource.is_nil(), (), "resource must not be nil.");
        }
        - "useResources:count:usage:" (_this, resources: *const Id, count: usize, _usage: usize) {
            for resource in objects(resources, count) {
                forbid!(HERE, resource.is_nil(), (), "resources must not be nil.");
            }
        }
        - "useHeap:" (_this, heap: Id) { forbid!(HERE, heap.is_nil(), (), "heap must not be nil."); }
        - "useHeaps:count:" (_this, _heaps: *const Id, _count: usize) {}
        - "insertDebugSignpost:" (_this, _name: Id) {}
        - "pushDebugGroup:" (this, _name: Id) { lock(&this.state).groups += 1 }
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
