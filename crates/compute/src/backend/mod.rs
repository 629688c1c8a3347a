//! Back ends: everything that is different from one kind of device to the next, behind a few traits.
//!
//! ```text
//! Device ─┬─ Buffer ───────────────────────── Memory: a buffer as everything above sees it
//!         ├─ Library ── Function ── Pipeline ─ Executable: a pipeline as everything above sees it
//!         ├─ Queue: Execute or Submit ──────── Work: tables of dispatches, replays, copies
//!         └─ recordings: tables made ready once
//! registry    the back ends that there are, and the names of their devices
//! artifacts   for back ends that compile AIR themselves: archives first, then the compiler
//! air_library their libraries
//! driver      for back ends whose driver compiles and executes: commands of encoders, reflection, times
//! cpu, metal  the back ends; each has the files device, buffer, library, pipeline, queue, recording
//! ```
//!
//! A back end holds memory, turns programs into code of its own, and executes flat tables of dispatches. It decides nothing that
//! can be decided without a device: validation, hazards, recording, caching and the order of submission are above it, written
//! once. A back end reports only what its caller could not foresee: memory, a lost device, a driver's compiler.
//!
//! The traits are public for those who write a back end ([`crate::Device::with_backend`]); they change with every version.

pub(crate) mod air_library;
pub(crate) mod artifacts;
pub(crate) mod cpu;
pub mod driver;
mod executable;
mod handler;
mod memory;
#[cfg(target_os = "macos")]
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
    CompileOptions, LibraryCompiler, LibraryContents, LibraryOrigin, MathMode, PrecompiledLibrary,
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
use crate::size::Size;
use crate::timing::DispatchTiming;
use abi::Constants;
use msl::reflect::Kernel;
use std::any::Any;
use std::borrow::Cow;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::ptr::NonNull;
use std::sync::Arc;

/// Something that runs kernels.
pub trait Device: Any + Send + Sync {
    /// Everything that never changes about it.
    fn properties(&self) -> &Properties;

    /// Memory for a buffer of `len` bytes, at least 1: zeros, unless it is private.
    fn new_buffer(&self, len: usize, storage: StorageMode) -> Result<Allocation>;

    /// Memory that holds `len` bytes of a file, from `start` on, mapped where that is possible.
    ///
    /// A device with memory of its own has them copied there.
    fn new_buffer_with_file(&self, file: &File, start: u64, len: usize) -> Result<Allocation> {
        copy_of_file(self.new_buffer(len, StorageMode::Shared)?, file, start, len)
    }

    /// Memory of the caller's, in place.
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
        Err(Error::Usage(format!("{name} has memory of its own: buffers cannot use the host's in place; copy it")))
    }

    /// Opens a library.
    fn new_library(&self, contents: LibraryContents<'_>) -> Result<Arc<dyn Library>>;

    /// Takes source that was checked when the program was built, and perhaps what was compiled from it then. Nothing is read or
    /// compiled before a kernel is needed.
    fn new_checked_library(
        &self,
        metallib: Option<PrecompiledLibrary>,
        source: Cow<'static, str>,
        options: &CompileOptions,
    ) -> Arc<dyn Library>;

    /// Makes a pipeline. When this returns, all its code is compiled: no dispatch compiles anything.
    fn new_pipeline(&self, request: &PipelineRequest) -> Result<NewPipeline>;

    /// Makes a pipeline, and calls `handler` with it, on this thread or another.
    fn new_pipeline_with_completion_handler(&self, request: PipelineRequest, handler: Handler<NewPipeline>) {
        handler.call(self.new_pipeline(&request));
    }

    /// Makes a pipeline of artifacts.
    ///
    /// # Safety
    ///
    /// The code is run as it is: it must come from this version's compiler.
    unsafe fn new_pipeline_with_artifacts(&self, kernel: &Kernel, artifacts: &[Artifact]) -> Result<NewPipeline> {
        let _ = artifacts;
        let what = format!("an artifact for {}, whose driver compiles,", self.properties().name);
        Err(Error::Unsupported { kernel: kernel.name.clone(), what })
    }

    /// The interface of a kernel that an archive has code of. Nothing is compiled, and no pipeline is made.
    fn archived_reflection(&self, request: &PipelineRequest) -> Option<Kernel> {
        let _ = request;
        None
    }

    /// A queue.
    fn new_queue(&self, settings: &Arc<Settings>) -> Queue;

    /// Makes a table ready to be replayed. The back end finds its result again in [`Recorded::prepared`].
    fn record(&self, table: &Table) -> Result<Box<dyn Any + Send + Sync>> {
        let _ = table;
        Ok(Box::new(()))
    }

    /// Whether kernels run in the order that is least expected.
    fn is_adverse(&self) -> bool {
        false
    }

    /// Runs kernels in the order that is least expected, where that can be chosen.
    fn set_adverse(&self, on: bool) {
        let _ = on;
    }
}

/// Memory that a back end has made for a buffer.
pub struct Allocation {
    /// A number for the first byte, by which the device or its kernels know it. Those of a device's buffers overlap where their
    /// memory does, and are aligned as it is.
    pub address: usize,
    /// Where the host finds the first byte, if it reaches the memory.
    pub host: Option<NonNull<u8>>,
    /// Nobody may write it.
    pub is_read_only: bool,
    /// Back-end state, which keeps the memory.
    pub buffer: Box<dyn Buffer>,
}

/// The memory of a buffer.
pub trait Buffer: Any + Send + Sync {
    /// Names it in tools.
    fn set_label(&self, label: &str) {
        let _ = label;
    }

    /// Gives the memory back, although it may still be in use: what is there reads as zeros or as it was. It is called once.
    fn release(&self) {}

    /// Copies bytes to the host. Called where the host does not reach the memory, for buffers that are not private; the range was
    /// checked.
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
    Error::Internal("a shared buffer that the host does not reach".into())
}

/// Functions to make pipelines of.
pub trait Library: Any + Send + Sync {
    /// The names of its kernels; none where it has mistakes, which a pipeline then tells.
    fn function_names(&self) -> Vec<String>;

    /// The interface of a kernel with these constants by its source alone; `None` where there is no such kernel.
    fn reflection(&self, kernel: &str, constants: &Constants) -> Result<Option<Kernel>>;

    /// A kernel with its constants set; `None` where there is no such kernel.
    fn new_function(&self, kernel: &str, constants: &Constants) -> Result<Option<Arc<dyn Function>>>;

    /// Of everything that decides the code of a kernel; `None` where that cannot be known, or where archives are not ours.
    fn digest(&self, kernel: &str) -> Option<[u8; 32]>;

    /// Where its kernels come from.
    fn origin(&self) -> LibraryOrigin;
}

/// A kernel with its constants set.
pub trait Function: Any + Send + Sync {
    /// Its interface.
    fn reflection(&self) -> &Kernel;
}

/// A pipeline that is wanted.
#[derive(Clone)]
pub struct PipelineRequest {
    /// The library that has the kernel, of this back end.
    pub library: Arc<dyn Library>,
    /// The kernel's name.
    pub kernel: Arc<str>,
    /// Values for its function constants.
    pub constants: Arc<Constants>,
    /// The function, where it is made already.
    pub function: Option<Arc<dyn Function>>,
    /// A name for tools.
    pub label: Option<String>,
    /// The promise about the simdgroups of all dispatches.
    pub simdgroups: Simdgroups,
    /// The size of all threadgroups, each of them whole, where that is promised.
    pub threads_per_threadgroup: Option<Size>,
    /// Where code is looked for, in this order, and then kept.
    pub archives: Vec<BinaryArchive>,
    /// Nothing is compiled.
    pub fail_on_archive_miss: bool,
    /// The driver's reflection is compared with the front end's.
    pub validate: bool,
}

impl PipelineRequest {
    /// The error for a kernel that the library does not have.
    pub fn no_function(&self) -> Error {
        no_function(&*self.library, &self.kernel)
    }
}

/// The error for a kernel that a library does not have.
pub(crate) fn no_function(library: &dyn Library, kernel: &str) -> Error {
    let similar = |candidate: &String| {
        let (a, b) = (candidate.to_lowercase(), kernel.to_lowercase());
        a == b || (b.len() >= 3 && (a.contains(&b) || b.contains(&a)))
    };
    Error::NoFunction { name: kernel.into(), similar: library.function_names().into_iter().find(similar) }
}

/// A promise about the simdgroups of every dispatch, also in the smaller threadgroups at the edges of a grid.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Simdgroups {
    /// Nothing: simdgroups may be partial.
    #[default]
    Any,
    /// The volume of every threadgroup is a multiple of 32.
    Full,
    /// The width of every threadgroup is a multiple of 32, so that each simdgroup is 32 threads side by side.
    Rows,
}

/// A pipeline that a back end has made.
pub struct NewPipeline {
    /// The kernel's interface.
    pub reflection: Kernel,
    /// Where its code came from.
    pub origin: PipelineOrigin,
    /// Back-end state.
    pub pipeline: Box<dyn Pipeline>,
}

/// Where the code of a pipeline state came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PipelineOrigin {
    /// Some of it was compiled for it.
    Compiled,
    /// All of it was compiled before, and kept in an archive or by the caller.
    Archive,
}

/// A kernel that is ready to run.
pub trait Pipeline: Any + Send + Sync {
    /// The number of threads in a simdgroup.
    fn thread_execution_width(&self) -> usize;

    /// The largest threadgroup that it can run with, as far as the device is concerned.
    fn max_total_threads(&self) -> usize;

    /// Bytes of threadgroup memory for the kernel's own variables.
    fn static_threadgroup_memory(&self) -> usize;

    /// Bytes of machine code that are loaded for it; 0 where the driver does not say.
    fn code_size(&self) -> usize {
        0
    }
}

/// How the work of a queue is executed.
pub enum Queue {
    /// By whoever waits for it, or by the queue's own thread.
    Executes(Box<dyn Execute>),
    /// By the device, which completes it on any thread.
    Submits(Box<dyn Submit>),
}

/// Executes work on the thread that calls it.
pub trait Execute: Send + Sync {
    /// Executes everything, one step after the other; notes when each dispatch ran if that is asked for.
    fn execute(&self, work: &Work, timings: Option<&mut Vec<DispatchTiming>>) -> Result<()>;
}

/// Takes work over.
pub trait Submit: Send + Sync {
    /// Takes work over. It begins after all that was submitted by calls which have returned, and is completed on any thread,
    /// perhaps before this returns.
    fn submit(&self, submission: Submission);
}

/// A number that tells the memory of one device from that of others. All CPUs have one in common.
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
            // SAFETY: the allocation has `len` bytes, and nobody else has it yet.
            Some(host) => unsafe { host.add(done).as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) },
            None => allocation.buffer.write(done, bytes)?,
        }
        done += bytes.len();
    }
    Ok(Allocation { is_read_only: true, ..allocation })
}

/// The error for a file that cannot be read or mapped; the caller knows its path.
pub(crate) fn file_error(error: &std::io::Error) -> Error {
    Error::File { path: String::new(), reason: error.to_string() }
}

/// A back end's own state behind one of the traits, which it made itself.
pub fn own<T: Any>(state: &dyn Any) -> Result<&T> {
    state.downcast_ref().ok_or_else(|| Error::Internal("an object of another back end".into()))
}
