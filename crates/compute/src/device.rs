//! Devices: where everything else comes from.

use crate::buffer::{Buffer, StorageMode};
use crate::cpu;
#[cfg(target_os = "macos")]
use crate::error::Error;
use crate::error::{Result, usage};
use crate::queue::CommandQueue;
use crate::settings::Settings;
use crate::submission::Submitter;
use crate::timing::DispatchTiming;
use crate::work::Work;
use std::any::Any;
use std::num::NonZero;
use std::ops::RangeBounds;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

#[cfg(target_os = "macos")]
use crate::metal;

/// Threads in a threadgroup at most, as on every Apple GPU.
pub(crate) const MAX_THREADS_PER_THREADGROUP: usize = 1024;

/// Bytes of threadgroup memory at most, as on every Apple GPU.
pub(crate) const MAX_THREADGROUP_MEMORY: usize = 32 << 10;

/// More threads than this are a mistake.
const MAX_THREADS: usize = 1024;

/// Something that runs kernels. A clone is the same device.
#[derive(Clone)]
pub struct Device {
    backend: Backend,
    settings: Arc<Settings>,
}

/// What runs the kernels of a device.
#[derive(Clone)]
pub(crate) enum Backend {
    /// The processor of this machine.
    Cpu(Arc<cpu::Device>),
    /// A GPU of Apple's.
    #[cfg(target_os = "macos")]
    Metal(Arc<metal::Device>),
}

impl Backend {
    /// Whose memory buffers have, and who runs pipeline states. All processors have the same, and each GPU its own.
    pub(crate) fn domain(&self) -> u32 {
        match self {
            Backend::Cpu(_) => CPU_DOMAIN,
            #[cfg(target_os = "macos")]
            Backend::Metal(device) => device.domain(),
        }
    }
}

/// [`Backend::domain`] of processors.
pub(crate) const CPU_DOMAIN: u32 = 0;

/// What can be chosen about the device that is the processor.
#[derive(Clone, Default, Debug)]
pub struct CpuOptions {
    /// Threads that execute kernels. When it is `None`, the environment variable `METALWORKS_THREADS` says how many,
    /// and without it there is one for each core.
    pub threads: Option<usize>,
}

impl Device {
    /// The processor of this machine: one device, with one set of threads, however often it is asked for.
    /// Kernels are compiled for what it can do; `METALWORKS_CPU=haswell` takes it for another one, here without AVX-512.
    pub fn cpu() -> Result<Device> {
        static DEVICE: OnceLock<Device> = OnceLock::new();
        if let Some(device) = DEVICE.get() {
            return Ok(device.clone());
        }
        let device = Device::cpu_with_options(&CpuOptions::default())?;
        Ok(DEVICE.get_or_init(|| device).clone())
    }

    /// The processor of this machine as a device of its own, with options.
    pub fn cpu_with_options(options: &CpuOptions) -> Result<Device> {
        let settings = Arc::new(Settings::from_environment()?);
        Ok(Device { backend: Backend::Cpu(Arc::new(cpu::Device::new(options)?)), settings })
    }

    #[cfg(target_os = "macos")]
    pub(crate) fn with_metal(device: metal::Device) -> Result<Device> {
        let settings = Arc::new(Settings::from_environment()?);
        Ok(Device { backend: Backend::Metal(Arc::new(device)), settings })
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn is_same(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.settings, &other.settings)
    }

    pub(crate) fn backend(&self) -> &Backend {
        &self.backend
    }

    /// A queue of the device's own, where it executes by itself.
    pub(crate) fn submitter(&self) -> Option<Box<dyn Submitter>> {
        match &self.backend {
            Backend::Cpu(_) => None,
            #[cfg(target_os = "macos")]
            Backend::Metal(device) => Some(Box::new(metal::Queue::new(device.clone(), self.settings.clone()))),
        }
    }

    /// Executes what was recorded, and says when each dispatch ran if that is asked for.
    pub(crate) fn execute(&self, work: &Work, timings: Option<&mut Vec<DispatchTiming>>) -> Result<()> {
        match &self.backend {
            Backend::Cpu(device) => device.execute(work, timings),
            #[cfg(target_os = "macos")]
            Backend::Metal(_) => Err(Error::Internal("Metal executes by itself".into())),
        }
    }

    /// What it is.
    pub fn name(&self) -> String {
        match &self.backend {
            Backend::Cpu(device) => device.name(),
            #[cfg(target_os = "macos")]
            Backend::Metal(device) => device.name().into(),
        }
    }

    /// A buffer of zeros, which the host and the device share.
    pub fn new_buffer(&self, len: usize) -> Result<Buffer> {
        self.new_buffer_with_storage_mode(len, StorageMode::Shared)
    }

    /// A buffer. What a private one holds at first is not specified.
    pub fn new_buffer_with_storage_mode(&self, len: usize, storage_mode: StorageMode) -> Result<Buffer> {
        Buffer::zeroed(&self.backend, len, storage_mode)
    }

    /// A buffer with a copy of `bytes`.
    pub fn new_buffer_with_bytes(&self, bytes: &[u8]) -> Result<Buffer> {
        Buffer::with_bytes(&self.backend, bytes)
    }

    /// A buffer that is a part of a file, mapped into memory and not copied; `..` is all of it.
    ///
    /// On the processor, what kernels or the host write stays in memory; on a GPU it can only be read
    /// ([`Buffer::is_read_only`]). The file does not change. It must not be shortened while it is in use: reading what is gone
    /// kills the process.
    pub fn new_buffer_with_file(&self, path: impl AsRef<Path>, range: impl RangeBounds<u64>) -> Result<Buffer> {
        Buffer::with_file(&self.backend, path.as_ref(), range)
    }

    /// A buffer over memory that the caller has, such as a mapped file: nothing is copied. `owner` is kept as long as the device
    /// or anybody else uses the buffer, and then dropped, on any thread.
    ///
    /// # Safety
    ///
    /// As long as `owner` is not dropped, the memory must be there, and stay where it is; on a GPU, all of the pages that it has
    /// a part in. It is read and written as that of any buffer, so that no references to it may be in use while kernels work on
    /// it; what can only be read (a mapping for reading) must be bound as [`Buffer::read_only`]. No other buffer may be over the
    /// same memory if something writes it: GPUs know no order between buffers that share memory.
    pub unsafe fn new_buffer_with_bytes_no_copy(
        &self,
        memory: NonNull<[u8]>,
        owner: impl Any + Send + Sync,
    ) -> Result<Buffer> {
        // SAFETY: the caller keeps to it.
        unsafe { Buffer::with_bytes_no_copy(&self.backend, memory, Box::new(owner)) }
    }

    /// A queue of command buffers.
    pub fn new_command_queue(&self) -> CommandQueue {
        CommandQueue::new(self.clone())
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// The number of threads that `options` and the environment ask for.
pub(crate) fn threads(options: &CpuOptions) -> Result<usize> {
    let wanted = match (options.threads, std::env::var("METALWORKS_THREADS")) {
        (Some(threads), _) => Some(threads),
        (None, Ok(text)) => match text.trim().parse() {
            Ok(threads) => Some(threads),
            Err(_) => return usage(format!("METALWORKS_THREADS is '{text}': it must be a number of threads")),
        },
        (None, Err(_)) => None,
    };
    match wanted {
        Some(0) => usage("a device with 0 threads: it needs one at least"),
        Some(threads) => Ok(threads.min(MAX_THREADS)),
        None => Ok(std::thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS)),
    }
}
