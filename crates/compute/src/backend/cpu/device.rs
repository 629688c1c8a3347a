//! The CPU device: its threads and its limits.

#[cfg(target_os = "linux")]
use super::arena::Arena;
use super::run::pool::Pool;
use super::{library, queue, recording, target};
use crate::backend::air_dynamic::AirDynamicLibrary;
use crate::backend::air_library::AirLibrary;
use crate::backend::pages;
use crate::backend::{
    self, Allocation, Artifact, CPU_DOMAIN, Capabilities, CompileOptions, DeviceKind, Library, LibraryContents,
    Limits, LinkableLibrary, MetalSource, NewPipeline, PipelineRequest, PrecompiledLibrary, Properties, Queue,
    Settings, StorageMode, Table,
};
use crate::error::{Result, usage};
use crate::finding::{Finding, ShaderValidation};
use crate::message::LogHandler;
use crate::settings;
use crate::size::Size;
use msl::reflect::Kernel;
use std::any::Any;
use std::borrow::Cow;
use std::fs::File;
use std::num::NonZero;
use std::ptr::NonNull;
use std::sync::Arc;

/// Largest threadgroup, as on Apple silicon.
pub(super) const MAX_THREADS_PER_THREADGROUP: usize = 1024;

/// Threadgroup memory limit in bytes, as on Apple silicon.
pub(super) const MAX_THREADGROUP_MEMORY: usize = 32 << 10;

/// Sanity limit for the number of threads.
const MAX_THREADS: usize = 1024;

/// Options of the CPU device.
#[derive(Clone, Default, Debug)]
pub struct CpuOptions {
    /// Number of threads that execute kernels. `None` means the environment variable `METALWORKS_THREADS`, or one per
    /// core if it is not set.
    pub threads: Option<usize>,
}

impl CpuOptions {
    /// The number of threads of a device with these options.
    pub fn thread_count(&self) -> Result<usize> {
        threads(self)
    }
}

/// The CPU of this machine, with its thread pool.
pub(crate) struct Device {
    properties: Properties,
    pool: Arc<Pool>,
    #[cfg(target_os = "linux")]
    arena: Arena,
}

impl Device {
    pub(crate) fn new(options: &CpuOptions) -> Result<Device> {
        target::check_environment()?;
        let pool = Pool::new(threads(options)?);
        pool.set_adverse(settings::switch("METALWORKS_ADVERSE", false)?);
        if let Some(validation) = settings::shader_validation()? {
            pool.validator().set_options(Some(validation));
            pool.validator().log();
        }
        Ok(Device {
            properties: properties(pool.threads()),
            pool: Arc::new(pool),
            #[cfg(target_os = "linux")]
            arena: Arena::default(),
        })
    }

    #[cfg(target_os = "linux")]
    pub(super) fn arena(&self) -> &Arena {
        &self.arena
    }
}

fn properties(threads: usize) -> Properties {
    let plural = if threads == 1 { "" } else { "s" };
    let most = MAX_THREADS_PER_THREADGROUP;
    Properties {
        kind: DeviceKind::Cpu,
        id: "cpu".into(),
        name: format!("CPU ({}, {threads} thread{plural})", std::env::consts::ARCH),
        capabilities: Capabilities {
            simd_reductions: true,
            simdgroup_matrix: true,
            bfloat: true,
            nonuniform_threadgroups: true,
            unified_memory: true,
            apple_family: None,
            compute_units: None,
            family: std::env::consts::ARCH.into(),
        },
        limits: Limits {
            max_threads_per_threadgroup: Size::new(most, most, most),
            max_threadgroup_memory_length: MAX_THREADGROUP_MEMORY,
            max_buffer_length: pages::physical_memory(),
            recommended_max_working_set_size: None,
        },
        domain: CPU_DOMAIN,
    }
}

impl backend::Device for Device {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn threads(&self) -> Option<usize> {
        Some(self.pool.threads())
    }

    #[cfg(llvm)]
    fn prefers_bfloats(&self) -> bool {
        super::compiler::CompilerTarget::host().is_ok_and(|target| target.prefers_bfloats())
    }

    fn new_buffer(&self, len: usize, storage: StorageMode) -> Result<Allocation> {
        self.allocate(len, storage)
    }

    fn new_buffer_with_file(&self, file: &File, start: u64, len: usize) -> Result<Allocation> {
        self.map_file(file, start, len)
    }

    unsafe fn new_buffer_with_bytes_no_copy(
        &self,
        memory: NonNull<[u8]>,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Result<Allocation> {
        self.import(memory, owner)
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
        library::new_pipeline(request, self.shader_validation().map(|validation| validation.checks))
    }

    unsafe fn new_pipeline_with_artifacts(&self, kernel: &Kernel, artifacts: &[Artifact]) -> Result<NewPipeline> {
        library::pipeline_of_artifacts(kernel, artifacts)
    }

    fn archived_reflection(&self, request: &PipelineRequest) -> Option<Kernel> {
        library::archived_reflection(request)
    }

    fn new_queue(&self, _: &Arc<Settings>) -> Queue {
        Queue::Executes(Box::new(queue::Queue::new(self.pool.clone())))
    }

    fn record(&self, table: &Table) -> Result<Box<dyn Any + Send + Sync>> {
        Ok(Box::new(recording::Recording::new(table)?))
    }

    fn set_log_handler(&self, handler: Option<LogHandler>) {
        self.pool.log().set_handler(handler);
    }

    fn cancel(&self) {
        self.pool.stop().cancel();
    }

    fn shader_validation(&self) -> Option<ShaderValidation> {
        self.pool.validator().options()
    }

    fn set_shader_validation(&self, validation: Option<ShaderValidation>) -> Result<()> {
        self.pool.validator().set_options(validation);
        Ok(())
    }

    fn declare_uninitialized(&self, memory: &Arc<backend::Memory>) {
        self.pool.validator().declare_uninitialized(memory);
    }

    fn take_findings(&self) -> Vec<Finding> {
        self.pool.validator().take_findings()
    }

    fn is_adverse(&self) -> bool {
        self.pool.is_adverse()
    }

    fn set_adverse(&self, on: bool) {
        self.pool.set_adverse(on);
    }
}

/// The number of threads, from `options` and the environment.
fn threads(options: &CpuOptions) -> Result<usize> {
    let wanted = match (options.threads, std::env::var("METALWORKS_THREADS")) {
        (Some(threads), _) => Some(threads),
        (None, Ok(text)) => match text.trim().parse() {
            Ok(threads) => Some(threads),
            Err(_) => return usage(format!("METALWORKS_THREADS is '{text}': it must be a number of threads")),
        },
        (None, Err(_)) => None,
    };
    match wanted {
        Some(0) => usage("a device with 0 threads: it needs at least 1"),
        Some(threads) => Ok(threads.min(MAX_THREADS)),
        None => Ok(std::thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS)),
    }
}
