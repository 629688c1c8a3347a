//! The device that runs a model, with its command queue, its libraries and its pipelines.

use super::pipeline::{self, Libraries, PipelineSet};
use super::{Tuning, kernels, library::Shader};
use compute::{
    BinaryArchive, CommandBuffer, CommandQueue, CompileOptions, CompileTarget, ComputePipelineState, CpuOptions,
    Device, DeviceKind, Error, FunctionDescriptor, KernelConstants, Library, LibraryOrigin, PendingPipelines,
    PipelineCache, PipelineCacheStats, PipelineConfig, PipelineProgress, Result,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A device with the shader library and a cache of pipelines. A clone is the same device.
///
/// ```
/// use metalworks_inference::metal::{MetalDevice, PipelineSet};
///
/// # let in_memory = compute::BinaryArchive::new();
/// # let device = MetalDevice::with_device(compute::Device::system_default()?, in_memory)?;
/// # /*
/// let device = MetalDevice::system_default()?;
/// # */
/// let mut plan = PipelineSet::new();
/// plan.declare("add_f32", ());
/// device.load(&plan, |progress| assert!(progress.done <= progress.total))?;
/// // From here on, a pipeline that the plan has not declared is a bug.
/// let pipeline = device.get_or_create_pso("add_f32", ())?;
/// assert_eq!(pipeline.label(), Some("add_f32"));
/// # Ok::<(), compute::Error>(())
/// ```
#[derive(Clone)]
pub struct MetalDevice {
    device: Device,
    queue: CommandQueue,
    libraries: Arc<Libraries>,
    archive: Option<BinaryArchive>,
    cache: PipelineCache,
    tuning: Tuning,
}

impl MetalDevice {
    /// The best device of this machine. Compiled pipelines are kept for the next process
    /// ([`BinaryArchive::user_cache`]); `METALWORKS_CACHE` names another folder, or turns that off.
    pub fn system_default() -> Result<MetalDevice> {
        MetalDevice::with_device(Device::system_default()?, BinaryArchive::user_cache()?)
    }

    /// A device, and the archive of its compiled pipelines.
    pub fn with_device(device: Device, archive: impl Into<Option<BinaryArchive>>) -> Result<MetalDevice> {
        let tuning = Tuning::of(&device);
        MetalDevice::with_tuning(device, archive, tuning)
    }

    /// A device with a given tuning, which may be that of another device.
    pub fn with_tuning(
        device: Device,
        archive: impl Into<Option<BinaryArchive>>,
        tuning: Tuning,
    ) -> Result<MetalDevice> {
        let (libraries, archive) = (Arc::new(Libraries::default()), archive.into());
        for shader in kernels::SHADERS {
            libraries.add(shader.name, &shader_library(&device, shader), pipeline::kernel_names(shader))?;
        }
        let cache = PipelineCache::new(pipeline::creator(device.clone(), libraries.clone(), archive.clone()));
        Ok(MetalDevice { queue: device.new_command_queue(), device, libraries, archive, cache, tuning })
    }

    /// Adds the kernels of the caller's own library; `name` is for messages. If the device has a kernel of the same
    /// name, this is an error, and no kernel is added.
    pub fn add_library(&self, name: &str, library: &Library) -> Result<()> {
        self.libraries.add(name, library, library.function_names())
    }

    /// The pipeline of a kernel with these function constants, for threadgroups of any size: from the cache, or created
    /// on a cache miss.
    #[inline]
    pub fn get_or_create_pso(
        &self,
        kernel: &str,
        constants: impl KernelConstants,
    ) -> Result<&ComputePipelineState> {
        self.cache.get_or_create_pso(kernel, constants)
    }

    /// Creates the pipelines that a plan declares, in parallel on all cores, and seals the cache: from here on, a cache
    /// miss is a bug, which debug builds report ([`PipelineCache::seal`]). The error lists all failures; after one, the
    /// cache is not sealed.
    ///
    /// May be called again for another model, also while the first one runs.
    pub fn load(&self, plan: &PipelineSet, progress: impl FnMut(&PipelineProgress<'_>)) -> Result<()> {
        let configs: Vec<PipelineConfig> = plan.iter().cloned().collect();
        self.cache.create_all(&configs, progress).into_pipelines()?;
        self.seal();
        Ok(())
    }

    /// Starts to create the pipelines that a plan declares, on other threads, and returns at once: the caller can read
    /// weights meanwhile. [`PendingLoad::finish`] waits and seals the cache.
    pub fn begin_load(&self, plan: &PipelineSet) -> PendingLoad {
        let configs: Vec<PipelineConfig> = plan.iter().cloned().collect();
        PendingLoad { cache: self.cache.clone(), pending: self.cache.create_all_async(&configs) }
    }

    /// Compiles the pipelines that a plan declares into an archive, for a machine that need not be this one.
    pub fn compile(&self, plan: &PipelineSet, archive: &BinaryArchive, target: &CompileTarget) -> Result<()> {
        plan.iter().try_for_each(|config| {
            let key = config.key();
            let (library, constants) = (self.libraries.find(key.kernel())?, key.constants()?);
            let function = FunctionDescriptor { library: &library, name: key.kernel(), constants: &constants };
            archive.add_compute_pipeline_function(&function, target)
        })
    }

    /// Seals the cache: from here on, a cache miss is a bug.
    pub fn seal(&self) {
        self.cache.seal();
    }

    /// Allows cache misses again.
    pub fn unseal(&self) {
        self.cache.unseal();
    }

    /// The counters of the cache.
    pub fn stats(&self) -> PipelineCacheStats {
        self.cache.stats()
    }

    /// A new command buffer of this device's queue.
    pub fn command_buffer(&self) -> CommandBuffer {
        self.queue.new_command_buffer()
    }

    /// The device of `compute`.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The tuning of this device.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// The command queue.
    pub fn queue(&self) -> &CommandQueue {
        &self.queue
    }

    /// The cache of pipelines.
    pub fn pipelines(&self) -> &PipelineCache {
        &self.cache
    }

    /// The archive of compiled pipelines.
    pub fn archive(&self) -> Option<&BinaryArchive> {
        self.archive.as_ref()
    }

    /// Origin of each shader or added library, by name: source that is compiled at run time, or a `.metallib` that was
    /// compiled before.
    pub fn library_origins(&self) -> BTreeMap<String, LibraryOrigin> {
        self.libraries.origins()
    }

    /// The names of all kernels, sorted.
    pub fn kernel_names(&self) -> Vec<String> {
        self.libraries.kernel_names()
    }
}

/// Pipelines of a plan that are being created. Dropping it does not stop their creation; the cache is not sealed then.
#[derive(Debug)]
#[must_use = "the loading ends when it is finished"]
pub struct PendingLoad {
    cache: PipelineCache,
    pending: PendingPipelines,
}

impl PendingLoad {
    /// True once every pipeline is created, or has failed.
    pub fn is_done(&self) -> bool {
        self.pending.is_done()
    }

    /// Waits for all pipelines, helping to create them, and seals the cache as [`MetalDevice::load`] does. `progress`
    /// is called on this thread, also for pipelines that were created before the call.
    pub fn finish(self, progress: impl FnMut(&PipelineProgress<'_>)) -> Result<()> {
        self.pending.wait_with_progress(progress).into_pipelines()?;
        self.cache.seal();
        Ok(())
    }
}

/// The device of this name ([`Device::named`]), or the default one. Only the CPU takes a number of threads; the default
/// is that of the environment.
pub fn find_device(name: Option<&str>, threads: Option<usize>) -> Result<Device> {
    let device = match name {
        Some(name) => Device::named(name)?,
        None => Device::system_default()?,
    };
    match (device.kind(), threads) {
        (_, None) => Ok(device),
        (DeviceKind::Cpu, Some(_)) => Device::cpu_with_options(&CpuOptions { threads }),
        (kind, Some(threads)) => Err(Error::Usage(format!(
            "{threads} threads: only the device 'cpu' can be given any, and '{}' is one of {kind}",
            device.id()
        ))),
    }
}

/// The source was checked when this crate was built. It is read only if one of its kernels has to be compiled.
fn shader_library(device: &Device, shader: &Shader) -> Library {
    let options = CompileOptions { name: format!("{}.metal", shader.name), ..CompileOptions::default() };
    device.new_library_with_metallib_or_source(shader.metallib, shader.source, &options)
}

impl std::fmt::Debug for MetalDevice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (device, cache) = (&self.device, &self.cache);
        f.debug_struct("MetalDevice").field("device", device).field("cache", cache).finish_non_exhaustive()
    }
}
