//! Devices: where everything else comes from.

use crate::buffer::Buffer;
use crate::cpu;
use crate::error::{Result, usage};
use crate::queue::CommandQueue;
use crate::settings::Settings;
use crate::timing::DispatchTiming;
use crate::work::Work;
use std::num::NonZero;
use std::ops::RangeBounds;
use std::path::Path;
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

    /// Executes what was recorded, and says when each dispatch ran if that is asked for.
    pub(crate) fn execute(&self, work: &Work, timings: Option<&mut Vec<DispatchTiming>>) -> Result<()> {
        match &self.backend {
            Backend::Cpu(device) => device.execute(work, timings),
            #[cfg(target_os = "macos")]
            Backend::Metal(_) => usage("Metal devices execute nothing yet"),
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

    /// A buffer of zeros.
    pub fn new_buffer(&self, len: usize) -> Result<Buffer> {
        Buffer::zeroed(len)
    }

    /// A buffer with a copy of `bytes`.
    pub fn new_buffer_with_bytes(&self, bytes: &[u8]) -> Result<Buffer> {
        Buffer::with_bytes(bytes)
    }

    /// A buffer that is a part of a file, mapped into memory and not copied; `..` is all of it.
    ///
    /// What kernels or the host write stays in memory: the file does not change. The file must not be shortened while it
    /// is in use: reading what is gone kills the process.
    pub fn new_buffer_with_file(&self, path: impl AsRef<Path>, range: impl RangeBounds<u64>) -> Result<Buffer> {
        Buffer::with_file(path.as_ref(), range)
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
