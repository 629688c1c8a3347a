//! The GPUs of the system.

use super::dynamic_library::LinkedLibrary;
use super::function_table::FunctionTable;
use super::library::Library;
use super::queue::Queue;
use super::{family, pipeline};
use crate::backend::{
    self, Allocation, Capabilities, CompileOptions, DeviceKind, Handler, LibraryContents, Limits, LinkableLibrary,
    NewPipeline, PipelineRequest, PrecompiledLibrary, Properties, Settings, StorageMode, new_domain,
};
use crate::error::Result;
use crate::log;
use crate::size::Size;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::{NSObjectProtocol, ProtocolObject};
use objc2::sel;
use objc2_foundation::{NSOperatingSystemVersion, NSProcessInfo};
use objc2_metal::{MTLCopyAllDevices, MTLCreateSystemDefaultDevice, MTLDevice};
use std::any::Any;
use std::borrow::Cow;
use std::fs::File;
use std::ptr::NonNull;
use std::sync::Arc;

/// Older systems lack methods that are called without a check, which would crash the process.
const OLDEST_SYSTEM: NSOperatingSystemVersion =
    NSOperatingSystemVersion { majorVersion: 14, minorVersion: 0, patchVersion: 0 };

/// A GPU. Metal devices are thread-safe.
pub(crate) struct Device {
    device: Retained<ProtocolObject<dyn MTLDevice>>,
    properties: Properties,
}

/// All GPUs, the system's default first.
pub(crate) fn devices() -> Result<Vec<Arc<dyn backend::Device>>> {
    autoreleasepool(|_| {
        if !NSProcessInfo::processInfo().isOperatingSystemAtLeastVersion(OLDEST_SYSTEM) {
            log::line(format_args!("Metal is not used: it needs macOS {} or newer", OLDEST_SYSTEM.majorVersion));
            return Ok(Vec::new());
        }
        let preferred = MTLCreateSystemDefaultDevice();
        let first = preferred.as_ref().map(|device| device.registryID());
        let others = MTLCopyAllDevices().to_vec().into_iter().filter(|device| Some(device.registryID()) != first);
        let gpus = preferred.into_iter().chain(others).enumerate();
        Ok(gpus.map(|(index, device)| Arc::new(Gpu::new(device, index)) as Arc<dyn backend::Device>).collect())
    })
}

impl Device {
    fn new(device: Retained<ProtocolObject<dyn MTLDevice>>, index: usize) -> Device {
        let most = device.maxThreadsPerThreadgroup();
        let limits = Limits {
            max_threads_per_threadgroup: Size::new(most.width, most.height, most.depth),
            max_threadgroup_memory_length: device.maxThreadgroupMemoryLength(),
            max_buffer_length: device.maxBufferLength(),
            recommended_max_working_set_size: Some(device.recommendedMaxWorkingSetSize()),
        };
        // Pipelines are created on all cores. A virtual GPU lacks some methods.
        if device.respondsToSelector(sel!(setShouldMaximizeConcurrentCompilation:)) {
            device.setShouldMaximizeConcurrentCompilation(true);
        }
        let properties = Properties {
            kind: DeviceKind::Metal,
            id: format!("metal:{index}"),
            name: device.name().to_string(),
            capabilities: family::capabilities(&device),
            limits,
            domain: new_domain(),
        };
        Device { device, properties }
    }

    /// The Metal device.
    pub(super) fn raw(&self) -> &ProtocolObject<dyn MTLDevice> {
        &self.device
    }

    /// The system's ID of the device.
    pub(super) fn registry_id(&self) -> u64 {
        self.device.registryID()
    }

    pub(super) fn name(&self) -> &str {
        &self.properties.name
    }

    pub(super) fn capabilities(&self) -> &Capabilities {
        &self.properties.capabilities
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.properties.limits
    }
}

/// A GPU, shared with all objects created from it.
pub(super) struct Gpu(Arc<Device>);

impl Gpu {
    fn new(device: Retained<ProtocolObject<dyn MTLDevice>>, index: usize) -> Gpu {
        Gpu(Arc::new(Device::new(device, index)))
    }
}

impl backend::Device for Gpu {
    fn properties(&self) -> &Properties {
        &self.0.properties
    }

    fn new_buffer(&self, len: usize, storage: StorageMode) -> Result<Allocation> {
        match storage {
            StorageMode::Shared => self.0.shared_buffer(len),
            StorageMode::Private => self.0.private_buffer(len),
        }
    }

    fn new_buffer_with_file(&self, file: &File, start: u64, len: usize) -> Result<Allocation> {
        self.0.map_file(file, start, len)
    }

    unsafe fn new_buffer_with_bytes_no_copy(
        &self,
        memory: NonNull<[u8]>,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Result<Allocation> {
        self.0.import(memory, owner)
    }

    fn new_library(&self, contents: LibraryContents<'_>) -> Result<Arc<dyn backend::Library>> {
        Ok(Arc::new(Library::open(&self.0, contents)?))
    }

    fn new_checked_library(
        &self,
        metallib: Option<PrecompiledLibrary>,
        source: Cow<'static, str>,
        options: &CompileOptions,
    ) -> Arc<dyn backend::Library> {
        Arc::new(Library::checked(&self.0, metallib, source, options))
    }

    fn new_dynamic_library(&self, library: &Arc<dyn backend::Library>) -> Result<Arc<dyn LinkableLibrary>> {
        Ok(Arc::new(LinkedLibrary::new(&self.0, backend::own(&**library)?)?))
    }

    fn has_function_tables(&self) -> bool {
        self.0.raw().supportsFunctionPointers()
    }

    fn new_function_table(&self, pipeline: &dyn Any, len: usize) -> Result<Option<Allocation>> {
        FunctionTable::allocate(backend::own(pipeline)?, len).map(Some)
    }

    fn new_pipeline(&self, request: &PipelineRequest) -> Result<NewPipeline> {
        pipeline::create(&self.0, request)
    }

    fn new_pipeline_with_completion_handler(&self, request: PipelineRequest, handler: Handler<NewPipeline>) {
        pipeline::create_with_completion_handler(&self.0, request, handler);
    }

    fn new_queue(&self, settings: &Arc<Settings>) -> backend::Queue {
        backend::Queue::Submits(Box::new(Queue::new(self.0.clone(), settings.clone())))
    }
}
