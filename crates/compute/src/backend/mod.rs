//! Back ends: the parts that differ between kinds of devices, behind a few traits.
//!
//! ```text
//! Device ─┬─ Buffer ───────────────────────── Memory: a buffer as the layers above see it
//!         ├─ Library ── Function ── Pipeline ─ Executable: a pipeline as the layers above see it
//!         ├─ Queue: Execute or Submit ──────── Work: tables of dispatches, replays, copies
//!         └─ recordings: tables prepared once
//! registry    the list of back ends, and the names of their devices
//! artifacts   for back ends that compile AIR themselves: archives first, then the compiler
//! air_library their libraries
//! air_dynamic their dynamic libraries
//! driver      for back ends whose driver compiles and executes: encoder commands, reflection, times
//! cpu, cuda, metal  the back ends; each has the files device, buffer, library, pipeline, queue, recording
//! ```
//!
//! A back end owns memory, compiles programs, and executes flat tables of dispatches. Device-independent work is above
//! it, written once: validation, hazards, recording, caching, and the order of submission. A back end reports only
//! errors that its caller could not foresee: out of memory, a lost device, a failing driver compiler.
//!
//! The traits are public for back ends in other crates ([`crate::Device::with_backend`]); they change with every
//! version.

#[cfg_attr(not(llvm), allow(unused_imports, reason = "only a compiler links"))]
pub(crate) mod air_dynamic;
pub(crate) mod air_library;
pub(crate) mod artifacts;
pub(crate) mod cpu;
#[cfg(cuda)]
mod cuda;
pub mod driver;
mod executable;
mod handler;
mod memory;
#[cfg(metal)]
mod metal;
pub mod pages;
mod properties;
pub(crate) mod registry;
mod submission;
mod table;
mod work;

pub use crate::archive::BinaryArchive;
pub use crate::archive::artifact::{Artifact, ArtifactTarget};
pub use crate::program::source::MetalSource;
pub use crate::program::{
    CompileOptions, DynamicLibrary, LibraryCompiler, LibraryContents, LibraryOrigin, LibraryType, LinkableLibrary,
    MathFunctions, MathMode, PrecompiledLibrary,
};
pub use crate::settings::{CaptureSettings, Settings};
pub use executable::Executable;
pub(crate) use executable::Promises;
pub use handler::Handler;
pub(crate) use memory::releases;
pub use memory::{Memory, StorageMode};
pub use properties::{Capabilities, DeviceKind, Limits, Properties};
pub use registry::CompileTarget;
pub use submission::{Complete, Outcome, Submission};
pub(crate) use table::{ArgumentMemory, BYTES_ALIGNMENT, Binding, Dispatch, block_bytes, block_bytes_mut};
pub use table::{Block, Table};
pub use work::{Copy, Fill, Patches, Recorded, Step, Work};

use crate::error::{Error, Result};
use crate::finding::{Finding, ShaderValidation};
use crate::message::LogHandler;
use crate::size::Size;
use crate::timing::DispatchTiming;
use abi::Constants;
use msl::reflect::{Kernel, Reflection};
use std::any::Any;
use std::borrow::Cow;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use std::sync::Arc;

/// A device that runs kernels.
pub trait Device: Any + Send + Sync {
    /// Its immutable properties.
    fn properties(&self) -> &Properties;

    /// Number of the host's threads that execute kernels; `None` for a device with its own processors.
    fn threads(&self) -> Option<usize> {
        None
    }

    /// True if products of matrices of `bfloat` are faster than those of `float`, in kernels that are compiled here.
    fn prefers_bfloats(&self) -> bool {
        false
    }

    /// Allocates a buffer of `len` bytes, at least 1, filled with zeros unless it is private.
    fn new_buffer(&self, len: usize, storage: StorageMode) -> Result<Allocation>;

    /// Allocates a buffer with `len` bytes of a file from `start` on, mapped where possible.
    ///
    /// A device with its own memory copies them there.
    fn new_buffer_with_file(&self, file: &File, start: u64, len: usize) -> Result<Allocation> {
        copy_of_file(self.new_buffer(len, StorageMode::Shared)?, file, start, len)
    }

    /// Wraps the caller's memory without a copy.
    ///
    /// # Safety
    ///
    /// As [`crate::Device::new_buffer_with_bytes_no_copy`].
    unsafe fn new_buffer_with_bytes_no_copy(
        &self,
        memory: NonNull<[u8]>,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Result<Allocation> {
        let _ = (memory, owner);
        let name = &self.properties().name;
        Err(Error::Usage(format!("{name} has its own memory: a buffer cannot wrap host memory; copy it")))
    }

    /// Opens a library.
    fn new_library(&self, contents: LibraryContents<'_>) -> Result<Arc<dyn Library>>;

    /// Takes source that was checked when the program was built, optionally with a library compiled from it. Nothing is
    /// parsed or compiled before a kernel is needed.
    fn new_checked_library(
        &self,
        metallib: Option<PrecompiledLibrary>,
        source: Cow<'static, str>,
        options: &CompileOptions,
    ) -> Arc<dyn Library>;

    /// Makes a dynamic library of one that was compiled as such.
    fn new_dynamic_library(&self, library: &Arc<dyn Library>) -> Result<Arc<dyn LinkableLibrary>> {
        let _ = library;
        Err(Error::Usage(format!("{} has no dynamic libraries", self.properties().name)))
    }

    /// True if kernels can have visible function tables.
    fn has_function_tables(&self) -> bool {
        false
    }

    /// Allocates a visible function table for a pipeline. It is written as a buffer of `u32`: the number of its entries,
    /// then the entries, each the number of a linked function or 0. `None` if it is such a buffer.
    fn new_function_table(&self, pipeline: &dyn Any, len: usize) -> Result<Option<Allocation>> {
        let _ = (pipeline, len);
        Ok(None)
    }

    /// Creates a pipeline. All its code is compiled when this returns: a dispatch never compiles.
    fn new_pipeline(&self, request: &PipelineRequest) -> Result<NewPipeline>;

    /// Creates a pipeline and passes it to `handler`, on this thread or another.
    fn new_pipeline_with_completion_handler(&self, request: PipelineRequest, handler: Handler<NewPipeline>) {
        handler.call(self.new_pipeline(&request));
    }

    /// Creates a pipeline from artifacts.
    ///
    /// # Safety
    ///
    /// The code runs unchecked: it must come from this version's compiler.
    unsafe fn new_pipeline_with_artifacts(&self, kernel: &Kernel, artifacts: &[Artifact]) -> Result<NewPipeline> {
        let _ = artifacts;
        let what = format!("an artifact for {}, whose driver compiles kernels itself,", self.properties().name);
        Err(Error::Unsupported { kernel: kernel.name.clone(), what })
    }

    /// The reflection of a kernel whose code is archived. Compiles nothing and creates no pipeline.
    fn archived_reflection(&self, request: &PipelineRequest) -> Option<Kernel> {
        let _ = request;
        None
    }

    /// Creates a queue.
    fn new_queue(&self, settings: &Arc<Settings>) -> Queue;

    /// Prepares a table for replays. The back end finds its result in [`Recorded::prepared`].
    fn record(&self, table: &Table) -> Result<Box<dyn Any + Send + Sync>> {
        let _ = table;
        Ok(Box::new(()))
    }

    /// Sets the function that takes the messages of kernels, where the back end has them.
    fn set_log_handler(&self, _: Option<LogHandler>) {}

    /// Stops the command buffers that are being executed, where the back end supports it.
    fn cancel(&self) {}

    /// The options of shader validation, if it is on.
    fn shader_validation(&self) -> Option<ShaderValidation> {
        None
    }

    /// Turns shader validation on or off, for pipelines created from now on.
    fn set_shader_validation(&self, validation: Option<ShaderValidation>) -> Result<()> {
        match validation {
            Some(_) => {
                let name = &self.properties().name;
                Err(Error::Usage(format!("{name} does not validate shaders: use the CPU")))
            }
            None => Ok(()),
        }
    }

    /// Makes reads of memory that nothing has written findings of shader validation, where the back end has it.
    fn declare_uninitialized(&self, memory: &Arc<Memory>) {
        let _ = memory;
    }

    /// The findings of shader validation since the last call.
    fn take_findings(&self) -> Vec<Finding> {
        Vec::new()
    }

    /// True if kernels run in adverse order.
    fn is_adverse(&self) -> bool {
        false
    }

    /// Runs kernels in adverse order, the one most likely to expose missing barriers, where the back end supports it.
    fn set_adverse(&self, on: bool) {
        let _ = on;
    }
}

/// Memory allocated by a back end for a buffer.
pub struct Allocation {
    /// The device's address of the first byte, or a number that stands for it. Addresses of a device's buffers overlap
    /// where their memory does, and have its alignment.
    pub address: usize,
    /// Host address of the first byte, if the host can access the memory.
    pub host: Option<NonNull<u8>>,
    /// True if neither the host nor kernels may write it.
    pub is_read_only: bool,
    /// Back-end state, which owns the memory.
    pub buffer: Box<dyn Buffer>,
}

/// The memory of a buffer.
pub trait Buffer: Any + Send + Sync {
    /// Sets the name shown in tools.
    fn set_label(&self, label: &str) {
        let _ = label;
    }

    /// Releases the memory while it may still be in use: it then reads as zeros or as before. Called once.
    fn release(&self) {}

    /// Copies bytes to the host. Called only for memory that the host cannot access and that is not private, with a
    /// checked range.
    fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        let _ = (offset, bytes);
        Err(unreachable_memory())
    }

    /// Copies bytes from the host, as [`Buffer::read`].
    fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        let _ = (offset, bytes);
        Err(unreachable_memory())
    }
}

fn unreachable_memory() -> Error {
    Error::Internal("a shared buffer that the host cannot access".into())
}

/// Functions to create pipelines from.
pub trait Library: Any + Send + Sync {
    /// Names of its kernels; empty if it has errors, which creating a pipeline reports.
    fn function_names(&self) -> Vec<String>;

    /// The reflection of a kernel with these constants, from its source alone; `None` if there is no such kernel.
    fn reflection(&self, kernel: &str, constants: &Constants) -> Result<Option<Kernel>>;

    /// The interface of all functions, from the source alone; `None` without a source, or if it has errors.
    fn source_reflection(&self) -> Option<Reflection> {
        None
    }

    /// A kernel with its constants set; `None` if there is no such kernel.
    fn new_function(&self, kernel: &str, constants: &Constants) -> Result<Option<Arc<dyn Function>>>;

    /// A visible function with its constants set; `None` if there is no such function.
    fn new_visible_function(&self, name: &str, constants: &Constants) -> Result<Option<Arc<dyn VisibleFunction>>> {
        let _ = constants;
        let what = "a visible function in a library of this device".into();
        Err(Error::Unsupported { kernel: name.into(), what })
    }

    /// Digest of everything that decides the code of a kernel; `None` if that is not known, or if the driver keeps the
    /// archives.
    fn digest(&self, kernel: &str) -> Option<[u8; 32]>;

    /// Origin of its kernels.
    fn origin(&self) -> LibraryOrigin;

    /// The dynamic libraries that it was compiled with.
    fn linked_libraries(&self) -> Vec<DynamicLibrary> {
        Vec::new()
    }
}

/// A kernel with its constants set.
pub trait Function: Any + Send + Sync {
    /// Its interface.
    fn reflection(&self) -> &Kernel;
}

/// A function that kernels call through visible function tables, with its constants set.
pub trait VisibleFunction: Any + Send + Sync {}

/// A visible function that is linked to a kernel.
#[derive(Clone)]
pub struct LinkedFunction {
    /// Its name.
    pub name: Arc<str>,
    /// The function, of the same back end.
    pub function: Arc<dyn VisibleFunction>,
    /// Digest of everything that decides its code, if that is known.
    pub digest: Option<[u8; 32]>,
}

/// A request for a pipeline.
#[derive(Clone)]
pub struct PipelineRequest {
    /// The library with the kernel, from the same back end.
    pub library: Arc<dyn Library>,
    /// The kernel's name.
    pub kernel: Arc<str>,
    /// Values for its function constants.
    pub constants: Arc<Constants>,
    /// The function, if it already exists.
    pub function: Option<Arc<dyn Function>>,
    /// The functions that the kernel can call through tables: an entry of a table is the number of one, from 1. Empty
    /// unless [`Device::has_function_tables`].
    pub linked: Vec<LinkedFunction>,
    /// Dynamic libraries to search for functions before those that the kernel's library was compiled with.
    pub preloaded: Vec<DynamicLibrary>,
    /// The name shown in tools.
    pub label: Option<String>,
    /// The promise about the simdgroups of all dispatches.
    pub simdgroups: Simdgroups,
    /// The promised size of all threadgroups, all of them whole, if any.
    pub threads_per_threadgroup: Option<Size>,
    /// Archives to search, in this order, and to add compiled code to.
    pub archives: Vec<BinaryArchive>,
    /// Fail instead of compiling.
    pub fail_on_archive_miss: bool,
    /// Compare the driver's reflection with the front end's.
    pub validate: bool,
}

impl PipelineRequest {
    /// The error for a kernel that is missing from the library.
    pub fn no_function(&self) -> Error {
        no_function(&*self.library, &self.kernel)
    }
}

/// The error for a kernel that is missing from a library.
pub(crate) fn no_function(library: &dyn Library, kernel: &str) -> Error {
    let similar = |candidate: &String| {
        let (a, b) = (candidate.to_lowercase(), kernel.to_lowercase());
        a == b || (b.len() >= 3 && (a.contains(&b) || b.contains(&a)))
    };
    Error::NoFunction { name: kernel.into(), similar: library.function_names().into_iter().find(similar) }
}

/// A promise about the simdgroups of every dispatch, including the smaller threadgroups at the edges of a grid.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Simdgroups {
    /// No promise: simdgroups may be partial.
    #[default]
    Any,
    /// The volume of every threadgroup is a multiple of 32.
    Full,
    /// The width of every threadgroup is a multiple of 32, so that each simdgroup is 32 threads side by side.
    Rows,
}

/// A pipeline created by a back end.
pub struct NewPipeline {
    /// The kernel's interface.
    pub reflection: Kernel,
    /// Origin of its code.
    pub origin: PipelineOrigin,
    /// Back-end state.
    pub pipeline: Box<dyn Pipeline>,
}

/// Origin of the code of a pipeline state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PipelineOrigin {
    /// Some of it was compiled for this pipeline.
    Compiled,
    /// All of it was compiled before, and came from an archive or from the caller.
    Archive,
}

/// A kernel that is ready to run.
pub trait Pipeline: Any + Send + Sync {
    /// The number of threads in a simdgroup.
    fn thread_execution_width(&self) -> usize;

    /// Largest threadgroup that the device supports for this kernel.
    fn max_total_threads(&self) -> usize;

    /// Bytes of threadgroup memory for the kernel's own variables.
    fn static_threadgroup_memory(&self) -> usize;

    /// Bytes of machine code loaded for it; 0 if the driver does not report them.
    fn code_size(&self) -> usize {
        0
    }
}

/// The way a queue's work is executed.
pub enum Queue {
    /// By a thread that waits for it, or by the queue's own thread.
    Executes(Box<dyn Execute>),
    /// By the device, which completes it on any thread.
    Submits(Box<dyn Submit>),
}

/// Executes work on the calling thread.
pub trait Execute: Send + Sync {
    /// Executes all steps in order, and appends the time of each dispatch to `timings`, if given.
    fn execute(&self, work: &Work, timings: Option<&mut Vec<DispatchTiming>>) -> Result<()>;
}

/// Submits work to a device that executes it.
pub trait Submit: Send + Sync {
    /// Submits work. It begins after all work of earlier calls that have returned, and completes on any thread, perhaps
    /// before this returns.
    fn submit(&self, submission: Submission);
}

/// A number that identifies the memory of one device. All CPU devices share one.
pub fn new_domain() -> u32 {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(CPU_DOMAIN + 1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// [`Properties::domain`] of CPUs.
pub(crate) const CPU_DOMAIN: u32 = 0;

/// Fills an allocation with a part of a file.
fn copy_of_file(allocation: Allocation, file: &File, start: u64, len: usize) -> Result<Allocation> {
    const CHUNK: usize = 4 << 20;
    let failed = |error: std::io::Error| file_error(&error);
    let mut chunk = vec![0; CHUNK.min(len)];
    let mut done = 0;
    while done < len {
        let bytes = &mut chunk[..CHUNK.min(len - done)];
        file.read_exact_at(bytes, start + done as u64).map_err(failed)?;
        match allocation.host {
            // SAFETY: the allocation has `len` bytes, and no other reference to it exists yet.
            Some(host) => unsafe { host.add(done).as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) },
            None => allocation.buffer.write(done, bytes)?,
        }
        done += bytes.len();
    }
    Ok(Allocation { is_read_only: true, ..allocation })
}

/// The error for a file that cannot be read or mapped; the caller adds the path.
pub(crate) fn file_error(error: &std::io::Error) -> Error {
    Error::File { path: String::new(), reason: error.to_string() }
}

/// Downcasts a back end's own state from behind a trait.
pub fn own<T: Any>(state: &dyn Any) -> Result<&T> {
    state.downcast_ref().ok_or_else(|| Error::Internal("an object of another back end".into()))
}
