//! The device: the CPU, with the properties of an Apple GPU of the family whose compute features it has.

use super::buffer::{self, Buffer, NewBuffer};
use super::descriptors::{
    ArchiveFields, ComputePipelineFields, CounterFields, HeapFields, QueueFields, ResidencyFields,
};
use super::log::LogFields;
use super::metal4::arguments::ArgumentTableFields;
use super::metal4::commands::AllocatorFields;
use super::metal4::queue::Queue4Fields;
use super::{archive, argument_encoder, counters, event, heap, library, log, metal4, pipeline, queue, residency};
use crate::foundation::array::Items;
use crate::foundation::error;
use crate::foundation::object::NS_OBJECT;
use crate::foundation::process::{nanoseconds, physical_memory};
use crate::foundation::string::{self, NS_STRING};
use crate::runtime::block::{Block, Kept};
use crate::runtime::encode::SizeAndAlign;
use crate::runtime::{Fields, Flag, Id, Object, Size3, Strong, pool};
use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// The device.
pub(crate) struct Device {
    pub(crate) device: compute::Device,
    /// Compiled kernels of this process and of the user, as Metal keeps them.
    pub(crate) compiled: Vec<compute::BinaryArchive>,
    /// Bytes of all buffers and heaps.
    pub(crate) allocated: AtomicUsize,
    maximizes: AtomicBool,
    /// The queue of all work of Metal 4.
    queue4: OnceLock<Strong>,
}

/// The only device, made on first use; `None`, with a message, if the CPU cannot be used.
fn shared() -> Option<Id> {
    static SHARED: OnceLock<Option<Id>> = OnceLock::new();
    *SHARED.get_or_init(|| {
        crate::debug::leaks::watch();
        match compute::Device::cpu() {
            Ok(device) => {
                // Arguments that no kernel uses are no mistake in Metal.
                device.set_validation(false);
                let compiled = compiled();
                let (allocated, maximizes) = (AtomicUsize::new(0), AtomicBool::new(false));
                let device =
                    Strong::new(Device { device, compiled, allocated, maximizes, queue4: OnceLock::new() })
                        .into_id();
                // It lives as long as the process: it is no leak.
                DEVICE.data.live.fetch_sub(1, Ordering::Relaxed);
                Some(device)
            }
            Err(problem) => {
                crate::debug::fail("MTLCreateSystemDefaultDevice", format_args!("{problem}"));
                None
            }
        }
    })
}

/// The archives that kernels are looked for in, and added to: of this process, and in the folder `METALWORKS_CACHE`.
fn compiled() -> Vec<compute::BinaryArchive> {
    let own = compute::BinaryArchive::new();
    match compute::BinaryArchive::user_cache() {
        Ok(shared) => vec![own, shared],
        Err(problem) => {
            crate::debug::fail("MTLCreateSystemDefaultDevice", format_args!("{problem}"));
            vec![own]
        }
    }
}

/// A new reference to the default device.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn MTLCreateSystemDefaultDevice() -> Id {
    shared().map_or(Id::NIL, |device| Strong::retain(device).into_id())
}

/// A new array with all devices.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn MTLCopyAllDevices() -> Id {
    Items::strong(shared().map(Strong::retain).into_iter().collect()).into_id()
}

/// Families: an M1 (Apple7), and Metal 3. Newer ones have features that are missing.
const FAMILIES: [std::ops::RangeInclusive<isize>; 4] = [1001..=1007, 2001..=2002, 3001..=3003, 5001..=5001];

impl Device {
    pub(crate) fn allocate(&self, bytes: usize) {
        self.allocated.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn release(&self, bytes: usize) {
        self.allocated.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The queue of all work of Metal 4, made on first use.
    pub(crate) fn queue4(&self) -> &Strong {
        self.queue4.get_or_init(|| {
            let device = shared().and_then(Id::cast::<Device>);
            let queue = device.map(|device| queue::create(device, QueueFields::default()));
            // It lives as long as the device: it is no leak.
            queue::COMMAND_QUEUE.data.live.fetch_sub(isize::from(queue.is_some()), Ordering::Relaxed);
            queue.unwrap_or_default()
        })
    }
}

/// The family of a device by name.
pub(crate) struct Architecture;

class! {
    ARCHITECTURE = "MTLArchitecture": NS_OBJECT, new Architecture, ["NSCopying"]
    methods {
        - "name" (_this) -> Id { string::new("metalworks_cpu").autorelease() }
        - "copyWithZone:" (this, _zone: *mut c_void) -> Id { this.strong().into_id() }
    }
}

fn new_buffer(this: Object<Device>, here: &str, new: NewBuffer) -> Id {
    Buffer::create(this, here, new).map_or(Id::NIL, Strong::into_id)
}

/// Passes the result of `make` to a block with an object, a second one and an error, on another thread.
fn asynchronously(
    this: Object<Device>,
    handler: Block,
    keep: Vec<Strong>,
    make: impl FnOnce(Object<Device>, *mut Id, *mut Id) -> Id + Send + 'static,
    takes_three: bool,
) {
    let (Some(handler), device) = (Kept::new(handler), this.strong()) else { return };
    std::thread::spawn(move || {
        pool::with(|| {
            let (mut second, mut error) = (Id::NIL, Id::NIL);
            let made = device.cast().map_or(Id::NIL, |device| make(device, &raw mut second, &raw mut error));
            let made = Strong::owned(made);
            // SAFETY: the methods take blocks with these parameters.
            unsafe {
                match takes_three {
                    true => handler.call3(made.id(), second, error),
                    false => handler.call2(made.id(), error),
                }
            }
            drop((made, handler, keep));
        });
    });
}

class! {
    DEVICE = "MTLDebugDevice": NS_OBJECT, new Device, ["MTLDevice"]
    refused {
        "newRenderPipelineStateWithDescriptor:error:" "this device computes only: it has no render pipelines",
        "newRenderPipelineStateWithDescriptor:options:reflection:error:" "this device computes only: it has no render pipelines",
        "newRenderPipelineStateWithDescriptor:completionHandler:" "this device computes only: it has no render pipelines",
        "newRenderPipelineStateWithDescriptor:options:completionHandler:" "this device computes only: it has no render pipelines",
        "newRenderPipelineStateWithTileDescriptor:options:reflection:error:" "this device computes only: it has no render pipelines",
        "newRenderPipelineStateWithMeshDescriptor:options:reflection:error:" "this device computes only: it has no render pipelines",
        "newDepthStencilStateWithDescriptor:" "this device computes only: it has no depth and stencil tests",
        "newTextureWithDescriptor:" "this device has no textures",
        "newTextureWithDescriptor:iosurface:plane:" "this device has no textures",
        "newSharedTextureWithDescriptor:" "this device has no textures",
        "newSamplerStateWithDescriptor:" "this device has no textures",
        "newIndirectCommandBufferWithDescriptor:maxCommandCount:options:" "this device has no indirect command buffers",
        "newAccelerationStructureWithDescriptor:" "this device has no ray tracing (supportsRaytracing is NO)",
        "newAccelerationStructureWithSize:" "this device has no ray tracing (supportsRaytracing is NO)",
        "newDynamicLibrary:error:" "this device has no dynamic libraries (supportsDynamicLibraries is NO)",
        "newDynamicLibraryWithURL:error:" "this device has no dynamic libraries (supportsDynamicLibraries is NO)",
        "newIOCommandQueueWithDescriptor:error:" "this device has no I/O command queues",
        "newIOFileHandleWithURL:error:" "this device has no I/O command queues",
        "newTensorWithDescriptor:error:" "this device has no tensors (supportsFamily:MTLGPUFamilyMetal4 returns NO)",
        "newSharedEventWithHandle:" "events are not shared between processes",
        "newBufferWithLength:options:placementSparsePageSize:" "this device has no sparse buffers",
    }
    absent {
        "accelerationStructureSizesWithDescriptor:", "areBarycentricCoordsSupported", "convertSparsePixelRegions:toTileRegions:withTileSize:alignmentMode:numRegions:",
        "convertSparseTileRegions:toPixelRegions:withTileSize:numRegions:", "functionHandleWithBinaryFunction:",
        "functionHandleWithFunction:", "getDefaultSamplePositions:count:",
        "heapAccelerationStructureSizeAndAlignWithDescriptor:", "heapAccelerationStructureSizeAndAlignWithSize:",
        "heapTextureSizeAndAlignWithDescriptor:", "minimumLinearTextureAlignmentForPixelFormat:",
        "minimumTextureBufferAlignmentForPixelFormat:", "newArchiveWithURL:error:",
        "newCompilerWithDescriptor:error:", "newCounterHeapWithDescriptor:error:",
        "newIOFileHandleWithURL:compressionMethod:error:", "newIOHandleWithURL:compressionMethod:error:",
        "newIOHandleWithURL:error:", "newLibraryWithStitchedDescriptor:completionHandler:",
        "newLibraryWithStitchedDescriptor:error:",
        "newPipelineDataSetSerializerWithDescriptor:", "newRasterizationRateMapWithDescriptor:",
        "newRenderPipelineStateWithMeshDescriptor:options:completionHandler:",
        "newRenderPipelineStateWithTileDescriptor:options:completionHandler:", "newSharedTextureWithHandle:",
        "newTextureViewPoolWithDescriptor:error:", "queryTimestampFrequency", "sizeOfCounterHeapEntry:",
        "sparseTileSizeInBytes", "sparseTileSizeInBytesForSparsePageSize:",
        "sparseTileSizeWithTextureType:pixelFormat:sampleCount:", "sparseTileSizeWithTextureType:pixelFormat:sampleCount:sparsePageSize:",
        "supportsFeatureSet:", "tensorSizeAndAlignWithDescriptor:",
    }
    methods {
        - "name" (this) -> Id { string::new(&this.device.name()).autorelease() }
        - "architecture" (_this) -> Id { Strong::new(Architecture).autorelease() }
        - "registryID" (_this) -> u64 { 0x1_0000_0001 }
        - "location" (_this) -> usize { 0 }
        - "locationNumber" (_this) -> usize { 0 }
        - "maxTransferRate" (_this) -> u64 { 0 }
        - "peerGroupID" (_this) -> u64 { 0 }
        - "peerIndex" (_this) -> u32 { 0 }
        - "peerCount" (_this) -> u32 { 0 }
        - "isLowPower" (_this) -> bool { false }
        - "isHeadless" (_this) -> bool { true }
        - "isRemovable" (_this) -> bool { false }
        - "hasUnifiedMemory" (_this) -> bool { true }
        - "recommendedMaxWorkingSetSize" (_this) -> u64 { physical_memory() / 4 * 3 }
        - "maxBufferLength" (this) -> usize { this.device.max_buffer_length() }
        - "maxThreadgroupMemoryLength" (this) -> usize { this.device.max_threadgroup_memory_length() }
        - "maxThreadsPerThreadgroup" (this) -> Size3 {
            let most = this.device.max_threads_per_threadgroup();
            Size3 { width: most.width, height: most.height, depth: most.depth }
        }
        - "maxArgumentBufferSamplerCount" (_this) -> usize { 0 }
        - "currentAllocatedSize" (this) -> usize { this.allocated.load(Ordering::Relaxed) }
        - "argumentBuffersSupport" (_this) -> usize { 1 }
        - "readWriteTextureSupport" (_this) -> usize { 0 }
        - "supportsFamily:" (_this, family: isize) -> bool { FAMILIES.iter().any(|known| known.contains(&family)) }
        - "supportsFunctionPointers" (_this) -> bool { true }
        - "supportsFunctionPointersFromRender" (_this) -> bool { false }
        - "supportsDynamicLibraries" (_this) -> bool { false }
        - "supportsRenderDynamicLibraries" (_this) -> bool { false }
        - "supportsRaytracing" (_this) -> bool { false }
        - "supportsRaytracingFromRender" (_this) -> bool { false }
        - "supportsPrimitiveMotionBlur" (_this) -> bool { false }
        - "supportsShaderBarycentricCoordinates" (_this) -> bool { false }
        - "supportsPullModelInterpolation" (_this) -> bool { false }
        - "supports32BitFloatFiltering" (_this) -> bool { false }
        - "supports32BitMSAA" (_this) -> bool { false }
        - "supportsBCTextureCompression" (_this) -> bool { false }
        - "supportsQueryTextureLOD" (_this) -> bool { false }
        - "supportsTextureSampleCount:" (_this, _count: usize) -> bool { false }
        - "supportsVertexAmplificationCount:" (_this, _count: usize) -> bool { false }
        - "supportsRasterizationRateMapWithLayerCount:" (_this, _count: usize) -> bool { false }
        // As on Apple's GPUs, between encoders only.
        - "supportsCounterSampling:" (_this, point: usize) -> bool { point == 0 }
        - "isDepth24Stencil8PixelFormatSupported" (_this) -> bool { false }
        - "areRasterOrderGroupsSupported" (_this) -> bool { false }
        - "areProgrammableSamplePositionsSupported" (_this) -> bool { false }
        - "counterSets" (_this) -> Id { counters::sets().autorelease() }
        - "sampleTimestamps:gpuTimestamp:" (_this, cpu: *mut u64, gpu: *mut u64) {
            let now = nanoseconds(Instant::now());
            // SAFETY: the caller passes places for both.
            unsafe { (cpu.write(now), gpu.write(now)) };
        }
        - "shouldMaximizeConcurrentCompilation" (this) -> bool { this.maximizes.load(Ordering::Relaxed) }
        - "setShouldMaximizeConcurrentCompilation:" (this, on: Flag) { this.maximizes.store(on != 0, Ordering::Relaxed) }
        - "maximumConcurrentCompilationTaskCount" (_this) -> usize {
            std::thread::available_parallelism().map_or(1, usize::from)
        }

        - "newBufferWithLength:options:" (this, length: usize, options: usize) -> Id {
            new_buffer(this, HERE, NewBuffer { length, options, contents: buffer::Contents::Zeros })
        }
        - "newBufferWithBytes:length:options:" (this, bytes: *const c_void, length: usize, options: usize) -> Id {
            new_buffer(this, HERE, NewBuffer { length, options, contents: buffer::Contents::Copy(bytes) })
        }
        - "newBufferWithBytesNoCopy:length:options:deallocator:" (
            this, bytes: *mut c_void, length: usize, options: usize, deallocator: Block
        ) -> Id {
            let contents = buffer::Contents::Share(bytes, Kept::new(deallocator));
            new_buffer(this, HERE, NewBuffer { length, options, contents })
        }
        - "heapBufferSizeAndAlignWithLength:options:" (_this, length: usize, _options: usize) -> SizeAndAlign {
            SizeAndAlign { size: length.next_multiple_of(heap::ALIGNMENT), align: heap::ALIGNMENT }
        }
        - "newHeapWithDescriptor:" (this, descriptor: Id) -> Id {
            let Some(descriptor) = descriptor.expect::<Fields<HeapFields>>(HERE, "descriptor") else { return Id::NIL };
            heap::create(this, HERE, &descriptor.lock().clone()).map_or(Id::NIL, Strong::into_id)
        }
        - "newResidencySetWithDescriptor:error:" (this, descriptor: Id, _error: *mut Id) -> Id {
            let label = descriptor.cast::<Fields<ResidencyFields>>().map(|fields| fields.lock().label.clone());
            residency::create(this, label.unwrap_or_default()).into_id()
        }
        - "newEvent" (this) -> Id { event::create(this, false).into_id() }
        - "newSharedEvent" (this) -> Id { event::create(this, true).into_id() }
        - "newFence" (this) -> Id { event::fence(this).into_id() }

        - "newLibraryWithSource:options:error:" (this, source: Id, options: Id, error: *mut Id) -> Id {
            let _ = &NS_STRING;
            library::with_source(this, HERE, source, options, error)
        }
        - "newLibraryWithSource:options:completionHandler:" (this, source: Id, options: Id, handler: Block) {
            let keep = vec![Strong::retain(source), Strong::retain(options)];
            let make = move |device, _: *mut Id, error| library::with_source(device, HERE, source, options, error);
            asynchronously(this, handler, keep, make, false);
        }
        - "newLibraryWithData:error:" (this, data: Id, error: *mut Id) -> Id { library::with_data(this, HERE, data, error) }
        - "newLibraryWithURL:error:" (this, url: Id, error: *mut Id) -> Id {
            library::with_file(this, &crate::foundation::url::path(url), error)
        }
        - "newLibraryWithFile:error:" (this, path: Id, error: *mut Id) -> Id {
            library::with_file(this, &string::describe(path), error)
        }
        - "newDefaultLibrary" (this) -> Id { library::default(this, Id::NIL, std::ptr::null_mut()) }
        - "newDefaultLibraryWithBundle:error:" (this, bundle: Id, error: *mut Id) -> Id {
            library::default(this, bundle, error)
        }

        - "newComputePipelineStateWithFunction:error:" (this, function: Id, error: *mut Id) -> Id {
            pipeline::with_function(this, HERE, function, 0, std::ptr::null_mut(), error)
        }
        - "newComputePipelineStateWithFunction:options:reflection:error:" (
            this, function: Id, options: usize, reflection: *mut Id, error: *mut Id
        ) -> Id {
            pipeline::with_function(this, HERE, function, options, reflection, error)
        }
        - "newComputePipelineStateWithFunction:completionHandler:" (this, function: Id, handler: Block) {
            let make = move |device, _: *mut Id, error| {
                pipeline::with_function(device, HERE, function, 0, std::ptr::null_mut(), error)
            };
            asynchronously(this, handler, vec![Strong::retain(function)], make, false);
        }
        - "newComputePipelineStateWithFunction:options:completionHandler:" (
            this, function: Id, options: usize, handler: Block
        ) {
            let make = move |device, reflection, error| {
                pipeline::with_function(device, HERE, function, options, reflection, error)
            };
            asynchronously(this, handler, vec![Strong::retain(function)], make, true);
        }
        - "newComputePipelineStateWithDescriptor:options:reflection:error:" (
            this, descriptor: Id, options: usize, reflection: *mut Id, error: *mut Id
        ) -> Id {
            let Some(fields) = descriptor.expect::<Fields<ComputePipelineFields>>(HERE, "descriptor") else {
                return Id::NIL;
            };
            let fields = fields.lock().clone();
            pipeline::create(this, HERE, &fields, options, reflection, error)
        }
        - "newComputePipelineStateWithDescriptor:options:completionHandler:" (
            this, descriptor: Id, options: usize, handler: Block
        ) {
            let Some(fields) = descriptor.expect::<Fields<ComputePipelineFields>>(HERE, "descriptor") else { return };
            let fields = fields.lock().clone();
            let make = move |device, reflection, error| {
                pipeline::create(device, HERE, &fields, options, reflection, error)
            };
            asynchronously(this, handler, Vec::new(), make, true);
        }
        - "newArgumentEncoderWithArguments:" (this, arguments: Id) -> Id {
            argument_encoder::of_descriptors(this, HERE, arguments)
        }
        - "newArgumentEncoderWithBufferBinding:" (this, binding: Id) -> Id {
            argument_encoder::of_binding(this, HERE, binding)
        }
        - "newBinaryArchiveWithDescriptor:error:" (this, descriptor: Id, error: *mut Id) -> Id {
            let Some(fields) = descriptor.expect::<Fields<ArchiveFields>>(HERE, "descriptor") else { return Id::NIL };
            let url = fields.lock().url.clone();
            archive::open(this, &url, error)
        }

        - "newCommandQueue" (this) -> Id { queue::create(this, QueueFields::default()).into_id() }
        - "newCommandQueueWithMaxCommandBufferCount:" (this, most: usize) -> Id {
            forbid!(HERE, most == 0, Id::NIL, "maxCommandBufferCount must be > 0.");
            queue::create(this, QueueFields { most, ..QueueFields::default() }).into_id()
        }
        - "newCommandQueueWithDescriptor:" (this, descriptor: Id) -> Id {
            let Some(fields) = descriptor.expect::<Fields<QueueFields>>(HERE, "descriptor") else { return Id::NIL };
            let fields = fields.lock().clone();
            queue::create(this, fields).into_id()
        }
        - "newMTL4CommandQueue" (this) -> Id { metal4::queue::create(this, Strong::default()).into_id() }
        - "newMTL4CommandQueueWithDescriptor:error:" (this, descriptor: Id, _error: *mut Id) -> Id {
            let Some(fields) = descriptor.expect::<Fields<Queue4Fields>>(HERE, "descriptor") else { return Id::NIL };
            let label = fields.lock().label.clone();
            metal4::queue::create(this, label).into_id()
        }
        - "newCommandAllocator" (this) -> Id { metal4::commands::allocator(this, Strong::default()).into_id() }
        - "newCommandAllocatorWithDescriptor:error:" (this, descriptor: Id, _error: *mut Id) -> Id {
            let Some(fields) = descriptor.expect::<Fields<AllocatorFields>>(HERE, "descriptor") else { return Id::NIL };
            let label = fields.lock().label.clone();
            metal4::commands::allocator(this, label).into_id()
        }
        - "newCommandBuffer" (this) -> Id { metal4::commands::create(this).into_id() }
        - "newArgumentTableWithDescriptor:error:" (this, descriptor: Id, _error: *mut Id) -> Id {
            let Some(fields) = descriptor.expect::<Fields<ArgumentTableFields>>(HERE, "descriptor") else { return Id::NIL };
            let fields = fields.lock().clone();
            metal4::arguments::create(this, HERE, &fields).map_or(Id::NIL, Strong::into_id)
        }
        - "newCounterSampleBufferWithDescriptor:error:" (this, descriptor: Id, error: *mut Id) -> Id {
            let Some(fields) = descriptor.expect::<Fields<CounterFields>>(HERE, "descriptor") else { return Id::NIL };
            let fields = fields.lock().clone();
            counters::create(this, HERE, &fields, error)
        }
        - "newLogStateWithDescriptor:error:" (this, descriptor: Id, _error: *mut Id) -> Id {
            let Some(fields) = descriptor.expect::<Fields<LogFields>>(HERE, "descriptor") else { return Id::NIL };
            let fields = fields.lock().clone();
            log::create(this, HERE, &fields).map_or(Id::NIL, Strong::into_id)
        }
    }
}

/// Stores an error and returns nil.
pub(crate) fn failed(problem: Strong, error: *mut Id) -> Id {
    let _ = &error::NS_ERROR;
    problem.autorelease().store(error);
    Id::NIL
}
