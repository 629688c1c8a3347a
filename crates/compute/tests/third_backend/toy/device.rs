//! The device: its limits, and the connection of the other parts.

use super::buffer::Transfers;
use super::counts::{Counters, Counts};
use super::library::Library;
use super::queue::Queue;
use super::recording::Recording;
use super::{buffer, pipeline};
use compute::backend::{
    self, Allocation, Artifact, Capabilities, CompileOptions, DeviceKind, LibraryContents, Limits, NewPipeline,
    PipelineRequest, PrecompiledLibrary, Properties, Settings, StorageMode, Table,
};
use compute::reflect::Kernel;
use compute::{CpuOptions, Error, Result, Size};
use std::any::Any;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

/// The toy, from the outside: a device like any other, its counts, and fault injection.
pub(crate) struct Toy {
    device: compute::Device,
    state: Arc<State>,
}

/// Options of a toy.
#[derive(Clone, Debug)]
pub(crate) struct ToyOptions {
    /// Largest threadgroup.
    pub(crate) max_threads: usize,
    /// Threadgroup memory limit in bytes.
    pub(crate) max_threadgroup_memory: usize,
    /// Host threads that execute kernels; `None` is one per core.
    pub(crate) host_threads: Option<usize>,
}

impl Default for ToyOptions {
    /// Lower limits than all other devices, to catch code that assumes theirs.
    fn default() -> ToyOptions {
        ToyOptions { max_threads: 256, max_threadgroup_memory: 16 << 10, host_threads: None }
    }
}

/// A fault to inject into a submission.
pub(crate) enum Fault {
    /// Drop it.
    Lost,
    /// Fail it with an error.
    Failed(Error),
}

/// State that the parts of a toy share.
pub(super) struct State {
    /// The device that does the work.
    pub(super) inner: compute::Device,
    pub(super) counters: Arc<Counters>,
    /// The fault for the next submission.
    fault: Mutex<Option<Fault>>,
}

impl State {
    pub(super) fn take_fault(&self) -> Option<Fault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Toy {
    pub(crate) fn new(options: &ToyOptions) -> Result<Toy> {
        let inner = compute::Device::cpu_with_options(&CpuOptions { threads: options.host_threads })?;
        let counters = Arc::new(Counters::default());
        let transfers = Arc::new(Transfers::new(&inner, counters.clone())?);
        let properties = properties(options, &inner);
        let state = Arc::new(State { inner, counters, fault: Mutex::new(None) });
        let device = Device { properties, state: state.clone(), transfers };
        Ok(Toy { device: compute::Device::with_backend(Arc::new(device))?, state })
    }

    pub(crate) fn device(&self) -> &compute::Device {
        &self.device
    }

    pub(crate) fn counts(&self) -> Counts {
        *self.state.counters.lock()
    }

    /// Injects a fault into the next submission.
    pub(crate) fn break_next_submission(&self, fault: Fault) {
        *self.state.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }
}

struct Device {
    properties: Properties,
    state: Arc<State>,
    transfers: Arc<Transfers>,
}

fn properties(options: &ToyOptions, inner: &compute::Device) -> Properties {
    let most = options.max_threads;
    Properties {
        kind: DeviceKind::Other("toy"),
        id: "toy".into(),
        name: format!("Toy on {}", inner.name()),
        capabilities: Capabilities { unified_memory: false, family: "toy".into(), ..inner.capabilities() },
        limits: Limits {
            // Flat, as on other GPUs.
            max_threads_per_threadgroup: Size::new(most, most, most.min(64)),
            max_threadgroup_memory_length: options.max_threadgroup_memory,
            ..inner.limits()
        },
        domain: backend::new_domain(),
    }
}

impl backend::Device for Device {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn new_buffer(&self, len: usize, storage: StorageMode) -> Result<Allocation> {
        buffer::allocate(&self.state.inner, &self.transfers, len, storage)
    }

    fn new_library(&self, contents: LibraryContents<'_>) -> Result<Arc<dyn backend::Library>> {
        Ok(Arc::new(Library::open(&self.state.inner, contents)?))
    }

    fn new_checked_library(
        &self,
        metallib: Option<PrecompiledLibrary>,
        source: Cow<'static, str>,
        options: &CompileOptions,
    ) -> Arc<dyn backend::Library> {
        Arc::new(Library::checked(&self.state.inner, metallib, source, options))
    }

    fn new_pipeline(&self, request: &PipelineRequest) -> Result<NewPipeline> {
        let made = pipeline::new(&self.state.inner, &self.properties.limits, request)?;
        self.state.counters.lock().pipelines += 1;
        Ok(made)
    }

    unsafe fn new_pipeline_with_artifacts(&self, kernel: &Kernel, artifacts: &[Artifact]) -> Result<NewPipeline> {
        // SAFETY: as the caller promises.
        let made =
            unsafe { pipeline::of_artifacts(&self.state.inner, &self.properties.limits, kernel, artifacts)? };
        self.state.counters.lock().pipelines += 1;
        Ok(made)
    }

    fn archived_reflection(&self, request: &PipelineRequest) -> Option<Kernel> {
        pipeline::archived_reflection(&self.state.inner, request)
    }

    fn new_queue(&self, _: &Arc<Settings>) -> backend::Queue {
        backend::Queue::Submits(Box::new(Queue::new(&self.state)))
    }

    fn record(&self, table: &Table) -> Result<Box<dyn Any + Send + Sync>> {
        self.state.counters.lock().recordings += 1;
        Ok(Box::new(Recording::new(table)))
    }

    fn is_adverse(&self) -> bool {
        self.state.inner.is_adverse()
    }

    fn set_adverse(&self, on: bool) {
        self.state.inner.set_adverse(on);
    }
}
