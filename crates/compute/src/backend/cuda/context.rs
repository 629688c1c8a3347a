//! A device's context, and owners of the driver's objects in it.
//!
//! The primary context is kept as long as the process. A thread must make it current before other calls:
//! [`Context::current`] does, and is cheap.
//!
//! An error in a kernel (an access outside of memory, for example) makes the whole context unusable: every later call
//! returns it, and nothing can be run again in this process. The first one is kept ([`Context::lost`]), so that later
//! work fails with the cause.

use super::driver::{
    self, Api, Code, DevicePointer, EVENT_BLOCKING_SYNC, EVENT_DISABLE_TIMING, HOST_ALLOC_PORTABLE, Raw,
    STREAM_NON_BLOCKING, code,
};
use crate::error::{Error, Result};
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The environment variable that waits after every dispatch.
pub(super) const SYNCHRONOUS: &str = "METALWORKS_SYNCHRONOUS";

/// The primary context of a device.
pub(super) struct Context {
    pub(super) api: &'static Api,
    raw: Raw,
    /// The product name, for messages.
    name: String,
    lost: OnceLock<Error>,
    /// Wait after every dispatch, so that an error names its kernel.
    pub(super) is_synchronous: bool,
}

// SAFETY: the driver's functions are thread-safe, and the handle stays valid as long as the process.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

/// True for errors after which the context cannot be used.
fn is_fatal(code: Code) -> bool {
    // Uncorrectable memory errors and the like; a lost device; exceptions in kernels, from the illegal address on.
    matches!(code, 46 | 214 | 220 | 226 | 227 | 700 | 702 | 709 | 710 | 714..=719 | 721 | 999)
}

impl Context {
    pub(super) fn new(api: &'static Api, device: c_int, name: String, is_synchronous: bool) -> Result<Context> {
        let mut raw = null_mut();
        // SAFETY: the device exists.
        let code = unsafe { (api.cuDevicePrimaryCtxRetain)(&mut raw, device) };
        api.check(code, || format!("{name} cannot be used"))?;
        Ok(Context { api, raw, name, lost: OnceLock::new(), is_synchronous })
    }

    /// Makes it the context of this thread, and returns the driver.
    pub(super) fn current(&self) -> Result<&'static Api> {
        self.alive()?;
        // SAFETY: the context is never released.
        self.check(unsafe { (self.api.cuCtxSetCurrent)(self.raw) }, || "a thread cannot use it".into())?;
        Ok(self.api)
    }

    /// Fails if an earlier error has made the context unusable.
    pub(super) fn alive(&self) -> Result<()> {
        self.lost.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Converts a code; `what` is the failed operation.
    pub(super) fn check(&self, code: Code, what: impl FnOnce() -> String) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        let error = self.api.error(code, format!("{}: {}", self.name, what()));
        if !is_fatal(code) {
            return Err(error);
        }
        Err(lost(error, self.is_synchronous, |error| self.lost.get_or_init(|| error).clone()))
    }

    /// The error of an allocation: a full memory is described with its sizes.
    pub(super) fn allocation_error(&self, code: Code, what: &str, bytes: usize) -> Error {
        match (code, self.free_memory()) {
            (code::OUT_OF_MEMORY, Ok((free, total))) => {
                Error::OutOfMemory { what: full(what, &self.name, free, total), bytes: bytes as u64 }
            }
            (code::OUT_OF_MEMORY, Err(_)) => {
                Error::OutOfMemory { what: format!("{what} on {}", self.name), bytes: bytes as u64 }
            }
            (code, _) => match self.check(code, || format!("{what} of {bytes} bytes cannot be allocated")) {
                Err(error) => error,
                Ok(()) => Error::Internal(format!("{what} without memory")),
            },
        }
    }

    /// Free and total memory in bytes.
    pub(super) fn free_memory(&self) -> Result<(usize, usize)> {
        let api = self.current()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: it writes the two numbers.
        let code = unsafe { (api.cuMemGetInfo_v2)(&mut free, &mut total) };
        self.check(code, || "the size of its memory is unknown".into())?;
        Ok((free, total))
    }

    pub(super) fn raw(&self) -> Raw {
        self.raw
    }
}

fn full(what: &str, device: &str, free: usize, total: usize) -> String {
    format!("{device} has {free} of {total} bytes free, too little for {what}")
}

/// Adds the remedy to an error that has made a context unusable.
fn lost(error: Error, is_synchronous: bool, keep: impl FnOnce(Error) -> Error) -> Error {
    let Error::Driver { what, domain, code, description } = error else { return error };
    let advice = match is_synchronous {
        true => "the device cannot be used again by this process",
        false => "the device cannot be used again by this process; to find the kernel, run with",
    };
    let variable = if is_synchronous { String::new() } else { format!(" {SYNCHRONOUS}=1") };
    keep(Error::Driver { what, domain, code, description: format!("{description}; {advice}{variable}") })
}

/// Defines the owner of a handle.
macro_rules! owner {
    ($(#[$attribute:meta])* $name:ident, $destroy:ident) => {
        $(#[$attribute])*
        pub(super) struct $name {
            context: Arc<Context>,
            raw: Raw,
        }

        // SAFETY: the driver's objects may be used by any thread.
        unsafe impl Send for $name {}
        // SAFETY: the driver's functions are thread-safe.
        unsafe impl Sync for $name {}

        impl $name {
            pub(super) fn raw(&self) -> Raw {
                self.raw
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // An unusable context has nothing to release.
                if let Ok(api) = self.context.current() {
                    // SAFETY: the owner's handle is destroyed once. The driver keeps what running work needs.
                    unsafe { (api.$destroy)(self.raw) };
                }
            }
        }
    };
}

owner!(
    /// A sequence of work.
    Stream,
    cuStreamDestroy_v2
);
owner!(
    /// A point in a stream.
    Event,
    cuEventDestroy_v2
);
owner!(
    /// Loaded code.
    Module,
    cuModuleUnload
);
owner!(
    /// A graph that is being built.
    Graph,
    cuGraphDestroy
);
owner!(
    /// A graph that can be launched.
    GraphExec,
    cuGraphExecDestroy
);

impl Module {
    /// Takes a handle.
    ///
    /// # Safety
    ///
    /// The handle is a module of the context, with no other owner.
    pub(super) unsafe fn from_raw(context: Arc<Context>, raw: Raw) -> Module {
        Module { context, raw }
    }
}

impl Graph {
    pub(super) fn new(context: &Arc<Context>) -> Result<Graph> {
        let (api, mut raw) = (context.current()?, null_mut());
        // SAFETY: it writes the handle.
        context.check(unsafe { (api.cuGraphCreate)(&mut raw, 0) }, || "a graph cannot be created".into())?;
        Ok(Graph { context: context.clone(), raw })
    }

    /// Makes the graph ready to be launched.
    pub(super) fn instantiate(&self) -> Result<GraphExec> {
        let (context, mut raw) = (self.context.clone(), null_mut());
        let api = context.current()?;
        // SAFETY: the graph is complete.
        let code = unsafe { (api.cuGraphInstantiateWithFlags)(&mut raw, self.raw, 0) };
        context.check(code, || "a recording cannot be prepared".into())?;
        Ok(GraphExec { context, raw })
    }
}

impl Stream {
    pub(super) fn new(context: &Arc<Context>) -> Result<Stream> {
        let (api, mut raw) = (context.current()?, null_mut());
        // SAFETY: it writes the handle.
        let code = unsafe { (api.cuStreamCreate)(&mut raw, STREAM_NON_BLOCKING) };
        context.check(code, || "a stream cannot be created".into())?;
        Ok(Stream { context: context.clone(), raw })
    }

    /// Waits until all its work is done.
    pub(super) fn synchronize(&self) -> Result<()> {
        let api = self.context.current()?;
        // SAFETY: the stream exists.
        self.context.check(unsafe { (api.cuStreamSynchronize)(self.raw) }, || "work failed".into())
    }

    /// Makes later work of this stream wait for an event.
    pub(super) fn wait_for(&self, event: &Event) -> Result<()> {
        let api = self.context.current()?;
        // SAFETY: both exist.
        let code = unsafe { (api.cuStreamWaitEvent)(self.raw, event.raw, 0) };
        self.context.check(code, || "a stream cannot wait".into())
    }
}

impl Event {
    /// An event with a time.
    pub(super) fn timed(context: &Arc<Context>) -> Result<Event> {
        Event::new(context, EVENT_BLOCKING_SYNC)
    }

    /// An event without a time, which is faster.
    pub(super) fn untimed(context: &Arc<Context>) -> Result<Event> {
        Event::new(context, EVENT_BLOCKING_SYNC | EVENT_DISABLE_TIMING)
    }

    fn new(context: &Arc<Context>, flags: c_uint) -> Result<Event> {
        let (api, mut raw) = (context.current()?, null_mut());
        // SAFETY: it writes the handle.
        let code = unsafe { (api.cuEventCreate)(&mut raw, flags) };
        context.check(code, || "an event cannot be created".into())?;
        Ok(Event { context: context.clone(), raw })
    }

    /// Marks the end of the work that a stream has so far.
    pub(super) fn record(&self, stream: &Stream) -> Result<()> {
        let api = self.context.current()?;
        // SAFETY: both exist.
        let code = unsafe { (api.cuEventRecord)(self.raw, stream.raw) };
        self.context.check(code, || "an event cannot be recorded".into())
    }

    /// Waits until it has happened; `what` is the operation that may have failed before.
    ///
    /// To be woken up takes long beside short work, so that a thread asks for a while first, and gives way to others.
    pub(super) fn wait(&self, what: impl FnOnce() -> String) -> Result<()> {
        let api = self.context.current()?;
        let began = Instant::now();
        while began.elapsed() < ASKING {
            // SAFETY: the event exists.
            match unsafe { (api.cuEventQuery)(self.raw) } {
                code::NOT_READY => std::thread::yield_now(),
                code => return self.context.check(code, what),
            }
        }
        // SAFETY: the event exists.
        self.context.check(unsafe { (api.cuEventSynchronize)(self.raw) }, what)
    }

    /// The time from an earlier event to this one; both have happened, and have times.
    pub(super) fn since(&self, earlier: &Event) -> Option<Duration> {
        let (api, mut milliseconds) = (self.context.current().ok()?, 0.0f32);
        // SAFETY: both exist.
        let code = unsafe { (api.cuEventElapsedTime)(&mut milliseconds, earlier.raw, self.raw) };
        (code == 0).then(|| Duration::try_from_secs_f64(f64::from(milliseconds) * 1e-3).ok()).flatten()
    }
}

/// Time after which a waiting thread sleeps.
const ASKING: Duration = Duration::from_millis(2);

/// Memory of the device.
pub(super) struct DeviceMemory {
    context: Arc<Context>,
    address: DevicePointer,
    len: usize,
}

impl DeviceMemory {
    /// Allocates memory with any contents; `what` names it in messages.
    pub(super) fn new(context: &Arc<Context>, len: usize, what: &str) -> Result<DeviceMemory> {
        let (api, mut address) = (context.current()?, 0);
        // SAFETY: it writes the address.
        match unsafe { (api.cuMemAlloc_v2)(&mut address, len) } {
            0 => Ok(DeviceMemory { context: context.clone(), address, len }),
            code => Err(context.allocation_error(code, what, len)),
        }
    }

    pub(super) fn address(&self) -> DevicePointer {
        self.address
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if let Ok(api) = self.context.current() {
            // SAFETY: the memory is freed once. The driver waits for work that uses it.
            unsafe { (api.cuMemFree_v2)(self.address) };
        }
    }
}

/// Memory of the host that the device can access at the same address.
pub(super) struct PinnedMemory {
    context: Arc<Context>,
    base: NonNull<u8>,
}

// SAFETY: the memory lives as long as the structure; its users order their accesses.
unsafe impl Send for PinnedMemory {}
// SAFETY: as above.
unsafe impl Sync for PinnedMemory {}

impl PinnedMemory {
    /// Allocates zeros.
    pub(super) fn new(context: &Arc<Context>, len: usize) -> Result<PinnedMemory> {
        let (api, mut base) = (context.current()?, null_mut::<c_void>());
        // SAFETY: it writes the address.
        let code = unsafe { (api.cuMemHostAlloc)(&mut base, len, HOST_ALLOC_PORTABLE) };
        match (code, NonNull::new(base.cast::<u8>())) {
            (0, Some(base)) => {
                // SAFETY: `len` bytes were allocated.
                unsafe { base.write_bytes(0, len) };
                Ok(PinnedMemory { context: context.clone(), base })
            }
            (driver::code::OUT_OF_MEMORY, _) => {
                Err(Error::OutOfMemory { what: "pinned memory of the host".into(), bytes: len as u64 })
            }
            (code, _) => Err(context.allocation_error(code, "pinned memory", len)),
        }
    }

    pub(super) fn base(&self) -> NonNull<u8> {
        self.base
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        if let Ok(api) = self.context.current() {
            // SAFETY: the memory is freed once, by its owner, after the work that uses it.
            unsafe { (api.cuMemFreeHost)(self.base.as_ptr().cast()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn illegal_address() -> Error {
        Error::Driver {
            what: "the command buffer 'step' failed in 'gemv'".into(),
            domain: "CUDA".into(),
            code: 700,
            description: "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)".into(),
        }
    }

    #[test]
    fn a_lost_device_is_explained() {
        assert_eq!(
            lost(illegal_address(), false, |error| error).to_string(),
            "the command buffer 'step' failed in 'gemv': an illegal memory access was encountered \
             (CUDA_ERROR_ILLEGAL_ADDRESS); the device cannot be used again by this process; to find the kernel, run with \
             METALWORKS_SYNCHRONOUS=1 (CUDA 700)"
        );
        let named = lost(illegal_address(), true, |error| error).to_string();
        assert!(named.contains("cannot be used again") && !named.contains(SYNCHRONOUS), "{named}");
    }

    #[test]
    fn errors_in_kernels_are_fatal() {
        // An illegal address, a trap, a misaligned address; not: out of memory, an invalid value, not ready.
        assert!([700, 719, 716].into_iter().all(is_fatal));
        assert!(![0, 1, 2, 600, 701].into_iter().any(is_fatal));
    }

    #[test]
    fn a_full_memory_is_described_with_its_sizes() {
        let what = full("a buffer", "NVIDIA H200", 3000, 140_000);
        let error = Error::OutOfMemory { what, bytes: 4000 };
        assert_eq!(
            error.to_string(),
            "out of memory: NVIDIA H200 has 3000 of 140000 bytes free, too little for a buffer of 4000 bytes"
        );
    }
}
