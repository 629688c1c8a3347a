//! Pipeline states: compiled kernels, ready to run.

use crate::archive::BinaryArchive;
use crate::backend::{
    self, Artifact, CompileTarget, Executable, Handler, NewPipeline, PipelineOrigin, PipelineRequest, Promises,
    Simdgroups,
};
use crate::device::Device;
use crate::error::{Result, usage};
use crate::functions::LinkedFunctions;
use crate::library::{Function, FunctionDescriptor};
use crate::program::DynamicLibrary;
use crate::size::Size;
use msl::reflect::Kernel;
use std::sync::Arc;

/// Options of a pipeline state.
#[derive(Clone, Default, Debug)]
pub struct ComputePipelineDescriptor {
    /// The name for messages and timings.
    pub label: Option<String>,
    /// Promises that the volume of every threadgroup is a multiple of 32, including those at the edges of a grid given
    /// in threads: no simdgroup is partial. A dispatch that breaks the promise is an error.
    pub thread_group_size_is_multiple_of_thread_execution_width: bool,
    /// Promises that the width of every threadgroup is a multiple of 32, including those at the edges of a grid given
    /// in threads: each simdgroup is 32 adjacent threads. The CPU then compiles half as much code. A dispatch that
    /// breaks the promise is an error.
    pub thread_group_width_is_multiple_of_thread_execution_width: bool,
    /// Promises that all dispatches consist of whole threadgroups of this size, as Metal's
    /// `requiredThreadsPerThreadgroup`: the CPU compiles code for that size only. A dispatch that breaks the promise is
    /// an error.
    pub threads_per_threadgroup: Option<Size>,
    /// Functions that the kernel can call through visible function tables.
    pub linked_functions: LinkedFunctions,
    /// Dynamic libraries to search for the functions that the kernel declares and its library does not define, before
    /// those that the library was compiled with.
    pub preloaded_libraries: Vec<DynamicLibrary>,
    /// Archives to search, in this order, before compiling. Compiled code is added to those that accept new entries.
    pub binary_archives: Vec<BinaryArchive>,
    /// Fail if no archive has the code, instead of compiling it.
    pub fail_on_binary_archive_miss: bool,
}

impl ComputePipelineDescriptor {
    fn promises(&self) -> Promises {
        Promises { simdgroups: self.simdgroups(), threads_per_threadgroup: self.threads_per_threadgroup }
    }

    fn simdgroups(&self) -> Simdgroups {
        if self.thread_group_width_is_multiple_of_thread_execution_width {
            Simdgroups::Rows
        } else if self.thread_group_size_is_multiple_of_thread_execution_width {
            Simdgroups::Full
        } else {
            Simdgroups::Any
        }
    }
}

/// A kernel compiled for a device, with all code for dispatches of any size that its descriptor allows. A clone is the
/// same pipeline state.
#[derive(Clone)]
pub struct ComputePipelineState {
    executable: Arc<Executable>,
    device: Device,
    /// The names of the functions that are linked to it.
    linked: Arc<[Arc<str>]>,
}

impl Device {
    /// Compiles a function for this device.
    pub fn new_compute_pipeline_state(&self, function: &Function) -> Result<ComputePipelineState> {
        self.new_compute_pipeline_state_with_descriptor(function, &ComputePipelineDescriptor::default())
    }

    /// Compiles a function for this device, with options.
    pub fn new_compute_pipeline_state_with_descriptor(
        &self,
        function: &Function,
        descriptor: &ComputePipelineDescriptor,
    ) -> Result<ComputePipelineState> {
        let Function { library, name, constants, function } = function;
        let request = self.request(&FunctionDescriptor { library, name, constants }, descriptor)?;
        self.create(&PipelineRequest { function: Some(function.clone()), ..request })
    }

    /// Takes a kernel from the descriptor's archives, or compiles it. If an archive has it, the library's source is not
    /// parsed.
    pub fn new_compute_pipeline_state_with_function_descriptor(
        &self,
        function: &FunctionDescriptor,
        descriptor: &ComputePipelineDescriptor,
    ) -> Result<ComputePipelineState> {
        self.create(&self.request(function, descriptor)?)
    }

    /// Creates a pipeline state and passes it to a handler, on this thread or on one of the driver's.
    pub(crate) fn create_with_handler(
        &self,
        function: &FunctionDescriptor,
        descriptor: &ComputePipelineDescriptor,
        handler: Handler<ComputePipelineState>,
    ) {
        let request = match self.request(function, descriptor) {
            Ok(request) => request,
            Err(error) => return handler.call(Err(error)),
        };
        let (device, own) = (self.clone(), request.clone());
        let created = Handler::new(move |made: Result<NewPipeline>| {
            handler.call(made.and_then(|made| device.pipeline_state(made, &own)));
        });
        self.backend().new_pipeline_with_completion_handler(request, created);
    }

    /// Creates a pipeline state from compiled code.
    ///
    /// # Safety
    ///
    /// The code runs unchecked: it must come from this version's compiler, and be for this kernel.
    pub unsafe fn new_compute_pipeline_state_with_artifacts(
        &self,
        kernel: &Kernel,
        artifacts: &[Artifact],
        descriptor: &ComputePipelineDescriptor,
    ) -> Result<ComputePipelineState> {
        // SAFETY: as the caller promises.
        let made = unsafe { self.backend().new_pipeline_with_artifacts(kernel, artifacts)? };
        let properties = self.backend().properties();
        let (label, promises) = (descriptor.label.as_deref(), descriptor.promises());
        let executable = Executable::new(made, properties, label, promises, Vec::new())?;
        Ok(ComputePipelineState { executable: Arc::new(executable), device: self.clone(), linked: Arc::default() })
    }

    /// The reflection of a kernel whose code for this device is in one of `archives`. Compiles nothing and creates no
    /// pipeline state.
    pub fn archived_reflection(&self, function: &FunctionDescriptor, archives: &[BinaryArchive]) -> Option<Kernel> {
        let descriptor = ComputePipelineDescriptor { binary_archives: archives.to_vec(), ..Default::default() };
        self.backend().archived_reflection(&self.request(function, &descriptor).ok()?)
    }

    fn request(
        &self,
        function: &FunctionDescriptor,
        descriptor: &ComputePipelineDescriptor,
    ) -> Result<PipelineRequest> {
        if let Some(size) = descriptor.threads_per_threadgroup
            && size.volume().is_none_or(|threads| threads == 0)
        {
            return usage(format!("threads_per_threadgroup is {size}: no dimension may be 0"));
        }
        let library = function.library.for_device(self, function.name)?;
        let linked = descriptor.linked_functions.for_device(self, function.name)?;
        self.check_libraries(&descriptor.preloaded_libraries)?;
        Ok(PipelineRequest { linked, validate: self.is_validating(), ..request(function, library, descriptor) })
    }

    fn create(&self, request: &PipelineRequest) -> Result<ComputePipelineState> {
        self.pipeline_state(self.backend().new_pipeline(request)?, request)
    }

    fn pipeline_state(&self, made: NewPipeline, request: &PipelineRequest) -> Result<ComputePipelineState> {
        let (label, archives) = (request.label.as_deref(), request.archives.clone());
        let properties = self.backend().properties();
        let PipelineRequest { simdgroups, threads_per_threadgroup, .. } = *request;
        let promises = Promises { simdgroups, threads_per_threadgroup };
        let executable = Executable::new(made, properties, label, promises, archives)?;
        let linked = request.linked.iter().map(|linked| linked.name.clone()).collect();
        Ok(ComputePipelineState { executable: Arc::new(executable), device: self.clone(), linked })
    }
}

fn request(
    function: &FunctionDescriptor,
    library: &Arc<dyn backend::Library>,
    descriptor: &ComputePipelineDescriptor,
) -> PipelineRequest {
    let Promises { simdgroups, threads_per_threadgroup } = descriptor.promises();
    PipelineRequest {
        library: library.clone(),
        kernel: function.name.into(),
        constants: Arc::new(function.constants.clone()),
        function: None,
        linked: Vec::new(),
        preloaded: descriptor.preloaded_libraries.clone(),
        label: descriptor.label.clone(),
        simdgroups,
        threads_per_threadgroup,
        archives: descriptor.binary_archives.clone(),
        fail_on_archive_miss: descriptor.fail_on_binary_archive_miss,
        validate: false,
    }
}

impl BinaryArchive {
    /// Compiles a kernel for a machine, this one or another, and adds the code for threadgroups of any size. The
    /// function's library must have been opened for the same kind of device.
    pub fn add_compute_pipeline_function(
        &self,
        function: &FunctionDescriptor,
        target: &CompileTarget,
    ) -> Result<()> {
        if !self.takes_entries() {
            return usage(format!("{} does not accept new entries", self.describe()));
        }
        target.compile(self, &request(function, function.library.backend(), &ComputePipelineDescriptor::default()))
    }
}

impl ComputePipelineState {
    #[inline]
    pub(crate) fn executable(&self) -> &Arc<Executable> {
        &self.executable
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// The names of the functions that are linked to it.
    pub(crate) fn linked(&self) -> &[Arc<str>] {
        &self.linked
    }

    /// Its reflection: the arguments that the host binds.
    pub fn reflection(&self) -> &Kernel {
        &self.executable.reflection
    }

    /// The label of its descriptor.
    pub fn label(&self) -> Option<&str> {
        self.executable.label()
    }

    /// Number of threads in a simdgroup: 32 on CPUs and Apple GPUs.
    pub fn thread_execution_width(&self) -> usize {
        self.executable.pipeline.thread_execution_width()
    }

    /// Largest threadgroup that it can run: 1,024, or less if the kernel says so or a GPU has too few registers.
    pub fn max_total_threads_per_threadgroup(&self) -> usize {
        self.executable.max_total_threads
    }

    /// Bytes of threadgroup memory for the kernel's own variables.
    pub fn static_threadgroup_memory_length(&self) -> usize {
        self.executable.pipeline.static_threadgroup_memory()
    }

    /// Origin of its code.
    pub fn origin(&self) -> PipelineOrigin {
        self.executable.origin
    }

    /// Bytes of machine code loaded for it; 0 if the driver does not report them.
    pub fn code_size(&self) -> usize {
        self.executable.pipeline.code_size()
    }

    /// Lets the archives of its code write pending entries.
    pub(crate) fn flush_archives(&self) {
        self.executable.archives.iter().for_each(BinaryArchive::flush);
    }
}

impl std::fmt::Debug for ComputePipelineState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ComputePipelineState").field("kernel", &self.executable.name).finish_non_exhaustive()
    }
}
