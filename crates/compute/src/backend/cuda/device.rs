//! The GPUs of the system.

use super::context::{Context, SYNCHRONOUS};
use super::driver::{Api, attribute};
use super::queue::Queue;
use super::recording::Recording;
use super::target::CudaTarget;
use super::transfers::Transfers;
use super::{driver, library};
use crate::backend::air_dynamic::AirDynamicLibrary;
use crate::backend::air_library::AirLibrary;
use crate::backend::{
    self, Allocation, Artifact, Capabilities, CompileOptions, DeviceKind, Library, LibraryContents, Limits,
    LinkableLibrary, MetalSource, NewPipeline, PipelineRequest, PrecompiledLibrary, Properties, Settings,
    StorageMode, Table, new_domain,
};
use crate::error::{Error, Result};
use crate::settings;
use crate::size::Size;
use msl::reflect::Kernel;
use std::any::Any;
use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_int};
use std::fs::File;
use std::sync::{Arc, OnceLock};

/// A GPU. Its context is created when it is first used: that takes memory, and a part of a second.
pub(crate) struct Device {
    properties: Properties,
    pub(super) target: CudaTarget,
    api: &'static Api,
    device: c_int,
    is_synchronous: bool,
    opened: OnceLock<Result<Opened>>,
}

/// A GPU in use.
pub(super) struct Opened {
    pub(super) context: Arc<Context>,
    pub(super) transfers: Arc<Transfers>,
}

/// All GPUs, in the driver's order. None without a driver: [`why_none`] has the reason.
pub(crate) fn devices() -> Result<Vec<Arc<dyn backend::Device>>> {
    let Ok(api) = Api::get() else { return Ok(Vec::new()) };
    let is_synchronous = settings::switch(SYNCHRONOUS, false)?;
    let mut count = 0;
    // SAFETY: it writes the number. Without a device, the driver reports an error.
    if unsafe { (api.cuDeviceGetCount)(&mut count) } != 0 {
        return Ok(Vec::new());
    }
    (0..count)
        .map(|index| Ok(Arc::new(Device::new(api, index, is_synchronous)?) as Arc<dyn backend::Device>))
        .collect()
}

/// The reason why there are no GPUs.
pub(crate) fn why_none() -> String {
    match Api::get() {
        Err(problem) => problem,
        Ok(_) => "NVIDIA's driver finds no GPU; check with nvidia-smi, and CUDA_VISIBLE_DEVICES".into(),
    }
}

impl Device {
    fn new(api: &'static Api, index: c_int, is_synchronous: bool) -> Result<Device> {
        let mut device = 0;
        // SAFETY: the index is below the count.
        let code = unsafe { (api.cuDeviceGet)(&mut device, index) };
        api.check(code, || format!("the GPU cuda:{index}"))?;
        let name = name(api, device).unwrap_or_else(|| "NVIDIA GPU".into());
        let number = |attribute: c_int| {
            let mut value = 0;
            // SAFETY: the device exists, and it writes the number.
            let code = unsafe { (api.cuDeviceGetAttribute)(&mut value, attribute, device) };
            api.check(code, || format!("{name}: the attribute {attribute} is unknown"))?;
            usize::try_from(value).map_err(|_| Error::Internal(format!("the attribute {attribute} is {value}")))
        };
        let capability = (
            number(attribute::COMPUTE_CAPABILITY_MAJOR)? as u32,
            number(attribute::COMPUTE_CAPABILITY_MINOR)? as u32,
        );
        let multiprocessors = number(attribute::MULTIPROCESSOR_COUNT)?;
        let target = CudaTarget::of(capability);
        let mut memory = 0;
        // SAFETY: the device exists, and it writes the number.
        let code = unsafe { (api.cuDeviceTotalMem_v2)(&mut memory, device) };
        api.check(code, || format!("{name}: the size of its memory is unknown"))?;
        let extents = [attribute::MAX_BLOCK_DIM_X, attribute::MAX_BLOCK_DIM_Y, attribute::MAX_BLOCK_DIM_Z];
        let [width, height, depth] = extents.map(number);
        let most_shared = number(attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let properties = Properties {
            kind: DeviceKind::Cuda,
            id: format!("cuda:{index}"),
            name,
            capabilities: Capabilities {
                simd_reductions: true,
                simdgroup_matrix: true,
                bfloat: true,
                nonuniform_threadgroups: true,
                unified_memory: false,
                apple_family: None,
                compute_units: Some(multiprocessors),
                family: target.to_string(),
            },
            limits: Limits {
                max_threads_per_threadgroup: Size::new(width?, height?, depth?),
                max_threadgroup_memory_length: most_shared,
                max_buffer_length: memory,
                recommended_max_working_set_size: Some(memory as u64),
            },
            domain: new_domain(),
        };
        Ok(Device { properties, target, api, device, is_synchronous, opened: OnceLock::new() })
    }

    /// The GPU in use.
    pub(super) fn open(&self) -> Result<&Opened> {
        let open = || {
            let name = self.properties.name.clone();
            let context = Arc::new(Context::new(self.api, self.device, name, self.is_synchronous)?);
            let transfers = Arc::new(Transfers::new(&context)?);
            Ok(Opened { context, transfers })
        };
        self.opened.get_or_init(open).as_ref().map_err(Clone::clone)
    }
}

fn name(api: &Api, device: c_int) -> Option<String> {
    let mut name = [0 as c_char; 256];
    // SAFETY: it writes at most that many characters, and ends them with a 0.
    let code = unsafe { (api.cuDeviceGetName)(name.as_mut_ptr(), name.len() as c_int, device) };
    // SAFETY: as above.
    (code == 0).then(|| unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
}

impl backend::Device for Device {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn new_buffer(&self, len: usize, storage: StorageMode) -> Result<Allocation> {
        self.allocate(len, storage)
    }

    fn new_buffer_with_file(&self, file: &File, start: u64, len: usize) -> Result<Allocation> {
        self.allocate_with_file(file, start, len)
    }

    fn new_library(&self, contents: LibraryContents<'_>) -> Result<Arc<dyn Library>> {
        Ok(Arc::new(AirLibrary::open(contents)?))
    }

    fn new_checked_library(
        &self,
        metallib: Option<PrecompiledLibrary>,
        source: Cow<'static, str>,
        options: &CompileOptions,
    ) -> Arc<dyn Library> {
        Arc::new(AirLibrary::checked(metallib, MetalSource::deferred(source, options)))
    }

    fn new_dynamic_library(&self, library: &Arc<dyn Library>) -> Result<Arc<dyn LinkableLibrary>> {
        Ok(Arc::new(AirDynamicLibrary::new(library)?))
    }

    fn has_function_tables(&self) -> bool {
        true
    }

    fn new_pipeline(&self, request: &PipelineRequest) -> Result<NewPipeline> {
        library::new_pipeline(self, request)
    }

    unsafe fn new_pipeline_with_artifacts(&self, kernel: &Kernel, artifacts: &[Artifact]) -> Result<NewPipeline> {
        library::pipeline_of_artifacts(self, kernel, artifacts)
    }

    fn archived_reflection(&self, request: &PipelineRequest) -> Option<Kernel> {
        library::archived_reflection(self, request)
    }

    fn new_queue(&self, _: &Arc<Settings>) -> backend::Queue {
        backend::Queue::Submits(Box::new(Queue::new(self)))
    }

    fn record(&self, table: &Table) -> Result<Box<dyn Any + Send + Sync>> {
        Ok(Box::new(Recording::new(&self.open()?.context, table)?))
    }
}

/// The version of the driver's API for display: `CUDA 12.4`.
pub(super) fn driver_version(api: &driver::Api) -> String {
    let version = api.version();
    format!("CUDA {}.{}", version / 1000, version % 1000 / 10)
}
