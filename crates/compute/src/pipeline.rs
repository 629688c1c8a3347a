//! Pipeline states: kernels that are ready to run.

mod create;

use crate::archive::BinaryArchive;
use crate::arguments::ArgumentTable;
use crate::cache::Phase;
use crate::cpu;
use crate::device::{Backend, CPU_DOMAIN, Device, MAX_THREADGROUP_MEMORY, MAX_THREADS_PER_THREADGROUP};
use crate::error::{Error, Result, usage};
#[cfg(target_os = "macos")]
use crate::metal;
use crate::recipe::Recipe;
use crate::size::Size;
use abi::{Lanes, WaveKernel};
use msl::reflect::{ArgumentKind, Kernel};
use std::sync::Arc;

/// What to make of a function.
#[derive(Clone, Default, Debug)]
pub struct ComputePipelineDescriptor {
    /// A name for messages and timings.
    pub label: Option<String>,
    /// Promises that the volume of every threadgroup is a multiple of 32, also at the edges of a grid that is given in
    /// threads: no simdgroup is partial. A dispatch that breaks the promise is an error.
    pub thread_group_size_is_multiple_of_thread_execution_width: bool,
    /// Where its code is looked for, in this order, before it is compiled. What is compiled is added to those that take new
    /// entries; that goes for code that is compiled later, by a dispatch that needs it, too.
    pub binary_archives: Vec<BinaryArchive>,
    /// The size of the threadgroups: what they need is compiled now, and nothing else. Without it, that is the code for full
    /// simdgroups.
    pub threads_per_threadgroup: Option<Size>,
    /// Fails where no archive has the code, instead of compiling it.
    pub fail_on_binary_archive_miss: bool,
}

/// Where the code of a pipeline state came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PipelineOrigin {
    /// Some of it was compiled for it.
    Compiled,
    /// All of it was compiled before, and kept in an archive or by the caller.
    Archive,
}

/// A kernel that was compiled before, for processors.
#[derive(Clone, Debug)]
pub struct CompiledKernel {
    /// Its interface.
    pub reflection: Kernel,
    /// The code for full simdgroups ([`abi::Lanes::Row`]).
    pub row: Option<WaveKernel>,
    /// The code for all others ([`abi::Lanes::Any`]).
    pub any: Option<WaveKernel>,
}

/// A kernel compiled for a device. A clone is the same pipeline state.
#[derive(Clone)]
pub struct ComputePipelineState {
    inner: Arc<Inner>,
}

struct Inner {
    label: Option<Arc<str>>,
    name: Arc<str>,
    reflection: Kernel,
    arguments: ArgumentTable,
    only_full_simdgroups: bool,
    max_total_threads: usize,
    most_threadgroup_memory: usize,
    code: Code,
}

/// What the back end made of it.
#[allow(clippy::large_enum_variant, reason = "there is one in each pipeline state, behind its Arc")]
pub(crate) enum Code {
    Cpu(cpu::Pipeline),
    #[cfg(target_os = "macos")]
    Metal(metal::Pipeline),
}

impl Code {
    /// That for processors.
    pub(crate) fn cpu(&self) -> Result<&cpu::Pipeline> {
        match self {
            Code::Cpu(pipeline) => Ok(pipeline),
            #[cfg(target_os = "macos")]
            Code::Metal(_) => usage("a pipeline state of a Metal device for the processor"),
        }
    }

    /// Which devices can run it: [`Backend::domain`].
    pub(crate) fn domain(&self) -> u32 {
        match self {
            Code::Cpu(_) => CPU_DOMAIN,
            #[cfg(target_os = "macos")]
            Code::Metal(pipeline) => pipeline.domain(),
        }
    }

    /// The largest threadgroup, as far as the device is concerned.
    fn max_total_threads(&self) -> usize {
        match self {
            Code::Cpu(_) => MAX_THREADS_PER_THREADGROUP,
            #[cfg(target_os = "macos")]
            Code::Metal(pipeline) => pipeline.max_total_threads(),
        }
    }
}

impl ComputePipelineState {
    pub(crate) fn with_recipe(
        device: &Device,
        recipe: Recipe,
        descriptor: &ComputePipelineDescriptor,
    ) -> Result<ComputePipelineState> {
        match device.backend() {
            Backend::Cpu(_) => {}
            #[cfg(target_os = "macos")]
            Backend::Metal(gpu) => return metal::create_pipeline(gpu, &recipe, descriptor, device.is_validating()),
        }
        let needed = match descriptor.threads_per_threadgroup {
            Some(size) if size.width == 0 || size.height == 0 || size.depth == 0 => {
                return usage(format!("threads_per_threadgroup is {size:?}: no extent can be 0"));
            }
            Some(size) => cpu::Pipeline::lanes(size),
            None => vec![Lanes::Row],
        };
        let mut reflection = None;
        let mut codes = Vec::new();
        for lanes in needed {
            let provided = recipe.code(lanes)?;
            reflection.get_or_insert_with(|| provided.entry.reflection.clone());
            codes.push(provided);
        }
        let reflection = reflection.ok_or_else(|| Error::Internal("a threadgroup without simdgroups".into()))?;
        let code = Code::Cpu(cpu::Pipeline::new(codes, recipe)?);
        ComputePipelineState::new(reflection, code, descriptor, MAX_THREADGROUP_MEMORY)
    }

    pub(crate) fn with_binary(
        device: &Device,
        kernel: CompiledKernel,
        descriptor: &ComputePipelineDescriptor,
    ) -> Result<ComputePipelineState> {
        let code = match device.backend() {
            Backend::Cpu(_) => Code::Cpu(cpu::Pipeline::with_binary(kernel.row, kernel.any)?),
            #[cfg(target_os = "macos")]
            Backend::Metal(_) => return usage("machine code of a processor for a Metal device"),
        };
        ComputePipelineState::new(kernel.reflection, code, descriptor, MAX_THREADGROUP_MEMORY)
    }

    /// `most_threadgroup_memory` is the device's limit.
    pub(crate) fn new(
        reflection: Kernel,
        code: Code,
        descriptor: &ComputePipelineDescriptor,
        most_threadgroup_memory: usize,
    ) -> Result<ComputePipelineState> {
        let name = reflection.name.clone();
        let unsupported = |what: String| Error::Unsupported { kernel: name.clone(), what };
        for argument in &reflection.arguments {
            let what = match argument.kind {
                ArgumentKind::Buffer | ArgumentKind::ThreadgroupMemory if argument.index < 31 => continue,
                ArgumentKind::Buffer | ArgumentKind::ThreadgroupMemory => "an index above 30",
                ArgumentKind::Texture => "a texture",
                ArgumentKind::Sampler => "a sampler",
                ArgumentKind::Other => "an argument that is no buffer",
            };
            return Err(unsupported(format!("{what} (the argument '{}')", argument.name)));
        }
        let static_memory = match &code {
            Code::Cpu(pipeline) => pipeline.static_threadgroup_memory(),
            #[cfg(target_os = "macos")]
            Code::Metal(pipeline) => pipeline.static_threadgroup_memory(),
        };
        let most = code.max_total_threads();
        let own = reflection.max_total_threads_per_threadgroup;
        let inner = Inner {
            max_total_threads: own.map_or(most, |own| most.min(own as usize)),
            most_threadgroup_memory,
            arguments: ArgumentTable::new(&reflection, static_memory),
            label: descriptor.label.as_deref().map(Arc::from),
            name: name.as_str().into(),
            reflection,
            only_full_simdgroups: descriptor.thread_group_size_is_multiple_of_thread_execution_width,
            code,
        };
        let pipeline = ComputePipelineState { inner: Arc::new(inner) };
        let memory = pipeline.static_threadgroup_memory_length();
        if memory > most_threadgroup_memory {
            return Err(unsupported(format!(
                "{memory} bytes of threadgroup memory (the limit is {most_threadgroup_memory})"
            )));
        }
        Ok(pipeline)
    }

    /// What the host binds.
    pub fn reflection(&self) -> &Kernel {
        &self.inner.reflection
    }

    /// The label that its descriptor gave it.
    pub fn label(&self) -> Option<&str> {
        self.inner.label.as_deref()
    }

    /// The number of threads in a simdgroup: 32 on processors and Apple's GPUs.
    pub fn thread_execution_width(&self) -> usize {
        match &self.inner.code {
            Code::Cpu(_) => abi::LANES,
            #[cfg(target_os = "macos")]
            Code::Metal(pipeline) => pipeline.thread_execution_width(),
        }
    }

    /// The largest threadgroup that it can run with: 1,024, or less where the kernel says so or a GPU has too few registers.
    pub fn max_total_threads_per_threadgroup(&self) -> usize {
        self.inner.max_total_threads
    }

    /// Bytes of threadgroup memory for the kernel's own variables.
    pub fn static_threadgroup_memory_length(&self) -> usize {
        match &self.inner.code {
            Code::Cpu(pipeline) => pipeline.static_threadgroup_memory(),
            #[cfg(target_os = "macos")]
            Code::Metal(pipeline) => pipeline.static_threadgroup_memory(),
        }
    }

    /// Where its code came from, as far as it has been needed so far.
    pub fn origin(&self) -> PipelineOrigin {
        match &self.inner.code {
            Code::Cpu(pipeline) => pipeline.origin(),
            #[cfg(target_os = "macos")]
            Code::Metal(pipeline) => pipeline.origin(),
        }
    }

    /// Bytes of machine code that are loaded for it.
    pub fn code_size(&self) -> usize {
        match &self.inner.code {
            Code::Cpu(pipeline) => pipeline.code_size(),
            // Metal does not say.
            #[cfg(target_os = "macos")]
            Code::Metal(_) => 0,
        }
    }

    /// Compiles now what threadgroups of this size need; without it, that is compiled by the first dispatch that needs
    /// it. A smaller threadgroup at the edge of a grid that is given in threads counts as one of its own size.
    pub fn prepare(&self, threads_per_threadgroup: Size) -> Result<()> {
        let most = self.max_total_threads_per_threadgroup();
        if !threads_per_threadgroup.volume().is_some_and(|volume| (1..=most).contains(&volume)) {
            let kernel = self.shared_name();
            return usage(format!(
                "kernel '{kernel}': threadgroups of {threads_per_threadgroup}: they must have 1 to {most} threads"
            ));
        }
        match &self.inner.code {
            Code::Cpu(pipeline) => pipeline.prepare(threads_per_threadgroup),
            // One piece of code serves all threadgroups.
            #[cfg(target_os = "macos")]
            Code::Metal(_) => Ok(()),
        }
    }

    /// Has it keep to the phases of a cache: once that is sealed, no dispatch has code compiled.
    pub(crate) fn keep_to(&self, phase: &Arc<Phase>) {
        match &self.inner.code {
            Code::Cpu(pipeline) => pipeline.keep_to(phase),
            #[cfg(target_os = "macos")]
            Code::Metal(_) => {}
        }
    }

    /// Has the archives that keep its code write what they have not written yet.
    pub(crate) fn flush_archives(&self) {
        match &self.inner.code {
            // What is compiled for processors is written at once.
            Code::Cpu(_) => {}
            #[cfg(target_os = "macos")]
            Code::Metal(pipeline) => pipeline.flush_archives(),
        }
    }

    /// Bytes of threadgroup memory that its device has.
    pub(crate) fn most_threadgroup_memory(&self) -> usize {
        self.inner.most_threadgroup_memory
    }

    /// What to bind.
    pub(crate) fn arguments(&self) -> &ArgumentTable {
        &self.inner.arguments
    }

    /// Tells it from others.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.inner).addr()
    }

    pub(crate) fn code(&self) -> &Code {
        &self.inner.code
    }

    /// Whether the descriptor promised that there is no partial simdgroup.
    pub(crate) fn only_full_simdgroups(&self) -> bool {
        self.inner.only_full_simdgroups
    }

    pub(crate) fn shared_name(&self) -> &Arc<str> {
        &self.inner.name
    }

    pub(crate) fn shared_label(&self) -> Option<&Arc<str>> {
        self.inner.label.as_ref()
    }
}

impl std::fmt::Debug for ComputePipelineState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ComputePipelineState").field("kernel", &self.inner.name).finish_non_exhaustive()
    }
}
