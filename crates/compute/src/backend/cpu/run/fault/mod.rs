//! Kernels that fail, and kernels that must stop: neither ends the process.
//!
//! ```text
//! execute ── trampoline ── kernel ── a fault, or the signal of `Stop::cancel`
//!               ▲                      │
//!               └────── signals ◄──────┘  sets the program counter to the trampoline's landing
//! ```
//!
//! [`trampoline::call`] saves the registers that a caller relies on and the stack pointer, then calls the kernel. A signal
//! handler changes the interrupted context so that the thread continues at the trampoline's landing, which restores them
//! and returns "interrupted". The frames in between are those of generated code: they own nothing, and have no
//! destructors.
//!
//! **Invariant:** no Rust frame is abandoned. Functions that kernels call ([`super::fibers::switch`]) are outside of the
//! kernel for the handler ([`ThreadRecord::outside`]), and a thread is stopped only where its program counter is in the
//! kernel's own code.
//!
//! Other systems than Linux and other CPUs have plain calls: a fault ends the process there.

#![cfg_attr(
    not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    allow(dead_code, reason = "there are no handlers on this system")
)]

mod describe;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod signals;
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod signals {
    //! No handlers on this system.

    #[derive(Default)]
    pub(super) struct SignalStack;

    pub(super) fn prepare(_: &super::ThreadRecord) -> SignalStack {
        SignalStack
    }

    pub(super) fn forget(_: &super::ThreadRecord) {}

    pub(super) fn interrupt(_: &super::ThreadRecord) {}
}
mod trampoline;

use signals::SignalStack;
use std::ops::Range;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

pub(crate) use describe::describe;

/// The end of a kernel before its time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) cause: Cause,
    /// The threadgroup that was executed.
    pub(crate) threadgroup: [u32; 3],
    /// Its memory.
    pub(crate) threadgroup_memory: usize,
}

/// The cause of a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cause {
    /// A signal of the CPU.
    Signal {
        signal: i32,
        /// The address that could not be accessed; `None` if the CPU does not say.
        address: Option<usize>,
        access: MemoryAccess,
    },
    /// [`Stop::cancel`].
    Cancelled,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemoryAccess {
    Read,
    Write,
    /// The CPU does not say.
    Unknown,
}

/// A thread that executes kernels, as the signal handler on it and threads that cancel see it.
#[repr(C)]
pub(crate) struct ThreadRecord {
    /// Stack pointer of the trampoline; 0 outside of kernels. The trampoline writes it and the next field by offset.
    frame: AtomicUsize,
    /// Program counter to continue at.
    landing: AtomicUsize,
    /// Addresses of the code of the kernel.
    code: [AtomicUsize; 4],
    /// The execution that the thread works for; 0 for none.
    execution: AtomicU64,
    /// The execution that the thread must leave.
    leave: AtomicU64,
    /// The device that the execution belongs to: the address of its [`Stop`].
    device: AtomicUsize,
    /// The last fault: signal, address and access. The signal is 0 if there was none.
    signal: AtomicI32,
    address: AtomicUsize,
    access: AtomicU32,
    thread: libc::pthread_t,
}

/// The address of an interruption that has none.
const NO_ADDRESS: usize = usize::MAX;

impl ThreadRecord {
    fn new() -> ThreadRecord {
        ThreadRecord {
            frame: AtomicUsize::new(0),
            landing: AtomicUsize::new(0),
            code: [const { AtomicUsize::new(0) }; 4],
            execution: AtomicU64::new(0),
            leave: AtomicU64::new(0),
            device: AtomicUsize::new(0),
            signal: AtomicI32::new(0),
            address: AtomicUsize::new(NO_ADDRESS),
            access: AtomicU32::new(0),
            // SAFETY: it has no preconditions.
            thread: unsafe { libc::pthread_self() },
        }
    }

    /// Sets the code of the kernel that is called next.
    pub(crate) fn set_code(&self, code: [Range<usize>; 2]) {
        let [row, any] = code;
        for (place, address) in self.code.iter().zip([row.start, row.end, any.start, any.end]) {
            place.store(address, Ordering::Relaxed);
        }
    }

    /// True if an address is in the code of the kernel.
    fn is_in_code(&self, address: usize) -> bool {
        let at = |index: usize| self.code[index].load(Ordering::Relaxed);
        (at(0)..at(1)).contains(&address) || (at(2)..at(3)).contains(&address)
    }

    /// Calls generated code; false if it was interrupted.
    ///
    /// # Safety
    ///
    /// The call is one that generated code expects, on the thread of this record.
    pub(crate) unsafe fn call(
        &self,
        entry: abi::Entry,
        dispatch: *const abi::Dispatch,
        threadgroup: *const abi::Threadgroup,
        simdgroup: *const abi::Simdgroup,
        count: u32,
    ) -> bool {
        // SAFETY: as the caller promises.
        unsafe { trampoline::call(dispatch, threadgroup, simdgroup, count, entry, self) == 0 }
    }

    /// Runs code that a kernel has called, which must not be interrupted.
    pub(crate) fn outside<T>(&self, work: impl FnOnce() -> T) -> T {
        let frame = self.frame.swap_relaxed(0);
        let result = work();
        self.frame.store(frame, Ordering::Relaxed);
        result
    }

    /// Prepares for [`ThreadRecord::cause`].
    pub(crate) fn forget_cause(&self) {
        self.signal.store(0, Ordering::Relaxed);
    }

    /// The cause of an interruption.
    pub(crate) fn cause(&self) -> Cause {
        match self.signal.load(Ordering::Relaxed) {
            0 => Cause::Cancelled,
            signal => Cause::Signal {
                signal,
                address: Some(self.address.load(Ordering::Relaxed)).filter(|&address| address != NO_ADDRESS),
                access: match self.access.load(Ordering::Relaxed) {
                    1 => MemoryAccess::Read,
                    2 => MemoryAccess::Write,
                    _ => MemoryAccess::Unknown,
                },
            },
        }
    }

    /// Begins to work for an execution. Kernels may be called if [`Stop::has_cancelled`] is false after this.
    pub(crate) fn begin(&self, stop: &Stop, execution: u64) {
        self.device.store(std::ptr::from_ref(stop).addr(), Ordering::Relaxed);
        // Sequentially consistent, as in `Stop::cancel`: that sees this thread, or this thread sees that it came first.
        self.execution.store(execution, Ordering::SeqCst);
    }

    pub(crate) fn end(&self) {
        self.execution.store(0, Ordering::Release);
    }
}

/// A plain load and store: only the thread itself and its signal handler write the value.
trait SwapRelaxed {
    fn swap_relaxed(&self, value: usize) -> usize;
}

impl SwapRelaxed for AtomicUsize {
    fn swap_relaxed(&self, value: usize) -> usize {
        let before = self.load(Ordering::Relaxed);
        self.store(value, Ordering::Relaxed);
        before
    }
}

/// All threads that have executed kernels and live.
static THREADS: Mutex<Vec<RecordAddress>> = Mutex::new(Vec::new());

struct RecordAddress(*const ThreadRecord);

// SAFETY: a record is removed, under the lock, before it is dropped, and its fields are atomic.
unsafe impl Send for RecordAddress {}

fn threads() -> MutexGuard<'static, Vec<RecordAddress>> {
    // No code that can panic runs under the lock.
    THREADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The record of the current thread, registered. Do not move it to another thread.
pub(crate) struct Registered {
    record: Box<ThreadRecord>,
    _stack: SignalStack,
}

impl Default for Registered {
    fn default() -> Registered {
        let record = Box::new(ThreadRecord::new());
        let stack = signals::prepare(&record);
        threads().push(RecordAddress(&raw const *record));
        Registered { record, _stack: stack }
    }
}

impl std::ops::Deref for Registered {
    type Target = ThreadRecord;

    fn deref(&self) -> &ThreadRecord {
        &self.record
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        threads().retain(|other| !std::ptr::eq(other.0, &raw const *self.record));
        signals::forget(&self.record);
    }
}

/// Stops the executions of a device.
#[derive(Default)]
pub(crate) struct Stop {
    /// The last cancelled execution: those before it are cancelled as well.
    last: AtomicU64,
}

/// Pause between two signals: a thread may be in code that it must not leave.
const PAUSE: Duration = Duration::from_micros(500);

/// Number of the next execution.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Stop {
    /// A number for a new execution.
    pub(crate) fn next_execution() -> u64 {
        NEXT.fetch_add(1, Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn has_cancelled(&self, execution: u64) -> bool {
        self.last.load(Ordering::SeqCst) >= execution
    }

    /// Cancels all executions of the device that have begun; returns when no kernel of theirs is running.
    pub(crate) fn cancel(&self) {
        let last = NEXT.load(Ordering::Relaxed) - 1;
        self.last.fetch_max(last, Ordering::SeqCst);
        while self.interrupt(last) {
            thread::sleep(PAUSE);
        }
    }

    /// Signals the threads of cancelled executions; false if there are none.
    fn interrupt(&self, last: u64) -> bool {
        let mut found = false;
        // Under the lock, which the end of a thread waits for.
        for RecordAddress(record) in &*threads() {
            // SAFETY: records of the list are alive.
            let record = unsafe { &**record };
            let execution = record.execution.load(Ordering::SeqCst);
            let is_ours = record.device.load(Ordering::Relaxed) == std::ptr::from_ref(self).addr();
            if is_ours && (1..=last).contains(&execution) {
                found = true;
                record.leave.store(execution, Ordering::Relaxed);
                signals::interrupt(record);
            }
        }
        found
    }
}
