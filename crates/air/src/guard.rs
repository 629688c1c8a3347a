//! A place where LLVM may fail without taking the process along.
//!
//! LLVM was made for compilers that own their process. Its bitcode reader trusts its input (two of a hundred damaged
//! modules make LLVM 22 follow a wild pointer), and its code generators call `abort` on code that they cannot select.
//! So work on a module runs on a thread of its own. When that thread gets a deadly signal, or LLVM reports a fatal
//! error there, it is parked for good with all that it holds, and the caller gets an error, as in clang's library for
//! editors.
//!
//! This is not a sandbox: a signal handler does not stop a module that was written to take over the process. The hashes
//! of [`crate::metallib`] are there against accidental damage.

use std::cell::{Cell, UnsafeCell};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::Read;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, Once};

/// Signals by which a thread dies of its own fault.
const SIGNALS: [c_int; 6] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGTRAP, libc::SIGFPE, libc::SIGABRT];

/// Expressions nest, and LLVM's passes recurse.
const STACK_SIZE: usize = 256 << 20;

/// State that a guarded thread and its caller share. It lives in the caller's frame: the caller waits for a byte from
/// the pipe, and the thread touches nothing of the caller's after it sent one.
struct Guard {
    pipe: RawFd,
    signal: AtomicI32,
    message: Mutex<Option<String>>,
}

thread_local! {
    /// The guard of this thread; null where there is none. Without a destructor, so that a signal handler may read it.
    static GUARD: Cell<*const Guard> = const { Cell::new(std::ptr::null()) };
}

/// Does `work` on a thread of its own; the error says how LLVM failed.
pub(crate) fn run<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(install);
    let cannot = |error: std::io::Error| format!("cannot start a thread for LLVM: {error}");
    let (mut reader, writer) = std::io::pipe().map_err(cannot)?;
    let guard = Guard { pipe: writer.as_raw_fd(), signal: AtomicI32::new(0), message: Mutex::new(None) };
    let mut result: Option<std::thread::Result<T>> = None;
    {
        let (guard, result) = (Shared(&raw const guard), Shared(&raw mut result));
        let body: Box<dyn FnOnce() + Send + '_> = Box::new(move || {
            let (guard, result) = (guard, result);
            GUARD.set(guard.0);
            let done = catch_unwind(AssertUnwindSafe(work));
            GUARD.set(std::ptr::null());
            // SAFETY: the caller waits for the byte that is sent after this, and does not look before.
            unsafe {
                result.0.write(Some(done));
                send((*guard.0).pipe);
            }
        });
        // SAFETY: what the closure borrows is alive until the caller goes on, and it goes on only when the closure is
        // at its end, or its thread is parked.
        let body: Box<dyn FnOnce() + Send + 'static> = unsafe { std::mem::transmute(body) };
        std::thread::Builder::new().name("llvm".into()).stack_size(STACK_SIZE).spawn(body).map_err(cannot)?;
    }
    let mut byte = [0];
    while let Err(error) = reader.read_exact(&mut byte) {
        // The other end stays open until this function returns: nothing but an interruption is possible.
        assert_eq!(error.kind(), std::io::ErrorKind::Interrupted, "{error}");
    }
    // The thread wrote the result before the byte, or will never write it.
    match result.take() {
        Some(Ok(value)) => Ok(value),
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => Err(failure(&guard)),
    }
}

fn failure(guard: &Guard) -> String {
    let message = guard.message.lock().map(|mut message| message.take()).unwrap_or_default();
    match (message, guard.signal.load(Ordering::Acquire)) {
        (Some(message), _) => format!("LLVM failed: {}", message.trim()),
        (None, signal) => format!("LLVM crashed with signal {signal}"),
    }
}

/// A pointer into the frame of a caller that waits.
struct Shared<P>(P);

// SAFETY: caller and thread take turns: see `Guard`.
unsafe impl<P> Send for Shared<P> {}

/// Wakes the caller.
///
/// # Safety
///
/// `pipe` is open for writing.
unsafe fn send(pipe: RawFd) {
    // SAFETY: one byte of a constant. A pipe that nothing was written to has room for it.
    unsafe { libc::write(pipe, c"!".as_ptr().cast(), 1) };
}

/// Wakes the caller and never returns: neither locks nor memory of this thread are given back.
fn park(guard: &Guard) -> ! {
    // SAFETY: the caller closes the pipe after it got the byte. `write` and `pause` may be called in signal handlers.
    unsafe {
        send(guard.pipe);
        loop {
            libc::pause();
        }
    }
}

/// Installs the handlers, once for the process. Signals of other threads go to the handlers that were there before.
fn install() {
    // SAFETY: the handlers are functions of the right types, and stay.
    unsafe {
        inkwell::llvm_sys::error_handling::LLVMInstallFatalErrorHandler(Some(fatal_error));
        for (signal, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = deadly_signal as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            libc::sigaction(signal, &action, (*previous.0.get()).as_mut_ptr());
        }
    }
}

/// The handlers that were installed before, in the order of `SIGNALS`.
static PREVIOUS: [Previous; SIGNALS.len()] =
    [const { Previous(UnsafeCell::new(MaybeUninit::zeroed())) }; SIGNALS.len()];

struct Previous(UnsafeCell<MaybeUninit<libc::sigaction>>);

// SAFETY: written once, by `install`, before the handler that reads it is in place.
unsafe impl Sync for Previous {}

/// LLVM's own errors: it would end the process after this.
extern "C" fn fatal_error(reason: *const c_char) {
    let guard = GUARD.get();
    if guard.is_null() {
        return;
    }
    // SAFETY: the guard is alive as long as its caller waits; LLVM gives us a string.
    unsafe {
        let text = CStr::from_ptr(reason).to_string_lossy().into_owned();
        if let Ok(mut message) = (*guard).message.lock() {
            *message = Some(text);
        }
        park(&*guard)
    }
}

/// Calls only functions that a signal handler may call.
extern "C" fn deadly_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let guard = GUARD.get();
    if !guard.is_null() {
        // SAFETY: the guard is alive as long as its caller waits.
        let guard = unsafe { &*guard };
        guard.signal.store(signal, Ordering::Release);
        park(guard);
    }
    let Some(index) = SIGNALS.iter().position(|known| *known == signal) else { return };
    // SAFETY: `install` has filled it in. The handler that was there before takes what we were given.
    unsafe {
        let previous = (*PREVIOUS[index].0.get()).assume_init();
        match previous.sa_sigaction {
            // It will be raised again, and have its default effect.
            libc::SIG_DFL | libc::SIG_IGN => {
                libc::signal(signal, libc::SIG_DFL);
            }
            handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
                let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = std::mem::transmute(handler);
                handler(signal, info, context);
            }
            handler => {
                let handler: extern "C" fn(c_int) = std::mem::transmute(handler);
                handler(signal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::run;

    #[test]
    fn results_come_back() {
        let text = String::from("borrowed");
        assert_eq!(run(|| text.len()), Ok(8));
    }

    #[test]
    fn a_crash_is_an_error() {
        // SAFETY: there is nothing at the address 8, which is what this is about.
        let wild = run(|| unsafe { std::ptr::without_provenance::<u64>(8).read_volatile() });
        assert_eq!(wild, Err(format!("LLVM crashed with signal {}", libc::SIGSEGV)));
        let aborted: Result<(), String> = run(|| std::process::abort());
        assert_eq!(aborted, Err(format!("LLVM crashed with signal {}", libc::SIGABRT)));
    }

    #[test]
    fn running_out_of_stack_is_an_error() {
        #[allow(unconditional_recursion, reason = "until there is no stack left")]
        fn deeper(depth: u64) -> u64 {
            std::hint::black_box(deeper(std::hint::black_box(depth + 1)) + 1)
        }
        assert!(run(|| deeper(0)).is_err());
    }

    #[test]
    fn an_error_of_llvm_is_an_error() {
        use inkwell::llvm_sys::target::LLVMCreateTargetData;
        // SAFETY: a string; that it is no data layout is what this is about.
        let failed = run(|| unsafe { LLVMCreateTargetData(c"no data layout".as_ptr()).is_null() });
        let message = failed.expect_err("LLVM does not accept it");
        assert!(message.starts_with("LLVM failed: ") && message.lines().count() == 1, "{message}");
    }

    #[test]
    fn panics_go_through() {
        let caught = std::panic::catch_unwind(|| run(|| -> u32 { panic!("as it should") }));
        assert!(caught.is_err());
    }

    #[test]
    fn many_threads_may_fail_at_once() {
        std::thread::scope(|scope| {
            for number in 0..4u64 {
                scope.spawn(move || {
                    for _ in 0..5 {
                        // SAFETY: there is nothing at the address 8, which is what this is about.
                        let wild = run(|| unsafe { std::ptr::without_provenance::<u64>(8).read_volatile() });
                        assert!(wild.is_err());
                        assert_eq!(run(|| number), Ok(number));
                    }
                });
            }
        });
    }
}
