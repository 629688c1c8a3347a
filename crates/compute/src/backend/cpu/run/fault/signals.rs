//! Signal handlers: they send a thread from a kernel to the trampoline's landing.
//!
//! Handlers call nothing but functions that may be called in handlers, on a stack of their own: a kernel may have used up
//! its stack. Signals that do not come from a kernel go to the handlers that were installed before.

use super::{NO_ADDRESS, ThreadRecord};
use libc::{c_int, c_void, siginfo_t, ucontext_t};
use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};
use std::sync::Once;
use std::sync::atomic::Ordering;

/// Signals by which a kernel fails.
const FAULTS: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];

/// The signal that stops a kernel. By default it has no effect, and hardly any program uses it.
const LEAVE: c_int = libc::SIGURG;

const SIGNALS: [c_int; 6] = [FAULTS[0], FAULTS[1], FAULTS[2], FAULTS[3], FAULTS[4], LEAVE];

/// Room for the registers of large CPUs (11 KiB with AMX), and for handlers that were installed before.
const STACK_SIZE: usize = 64 << 10;

thread_local! {
    /// The record of this thread; null where there is none. Without a destructor, so that a signal handler may read it.
    static RECORD: Cell<*const ThreadRecord> = const { Cell::new(null()) };
}

/// Prepares the current thread: its handlers, and their stack.
pub(super) fn prepare(record: &ThreadRecord) -> SignalStack {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(install);
    RECORD.set(record);
    SignalStack::new()
}

/// Ends the use of a record on the current thread.
pub(super) fn forget(record: &ThreadRecord) {
    if std::ptr::eq(RECORD.get(), record) {
        RECORD.set(null());
    }
}

/// Asks a thread to leave its kernel. It must not end meanwhile.
pub(super) fn interrupt(record: &ThreadRecord) {
    // SAFETY: the caller keeps the thread alive.
    unsafe { libc::pthread_kill(record.thread, LEAVE) };
}

/// A stack for the handlers of one thread, if it had none that is large enough.
pub(super) struct SignalStack {
    memory: *mut c_void,
    before: libc::stack_t,
}

impl SignalStack {
    fn new() -> SignalStack {
        let mut before = libc::stack_t { ss_sp: null_mut(), ss_flags: 0, ss_size: 0 };
        // SAFETY: asks for the stack at hand, maps memory, and makes it the stack of this thread's handlers. Nobody has
        // a pointer into the memory.
        unsafe {
            libc::sigaltstack(null(), &mut before);
            if before.ss_flags & libc::SS_DISABLE == 0 && before.ss_size >= STACK_SIZE {
                return SignalStack { memory: null_mut(), before };
            }
            let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let memory = libc::mmap(null_mut(), STACK_SIZE, access, kind, -1, 0);
            if memory == libc::MAP_FAILED {
                return SignalStack { memory: null_mut(), before };
            }
            let stack = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: STACK_SIZE };
            libc::sigaltstack(&stack, null_mut());
            SignalStack { memory, before }
        }
    }
}

impl Drop for SignalStack {
    fn drop(&mut self) {
        if self.memory.is_null() {
            return;
        }
        let mut now = libc::stack_t { ss_sp: null_mut(), ss_flags: 0, ss_size: 0 };
        // SAFETY: on the thread that made it, which is not in a handler. If its stack is still this one, the one before
        // is valid: its owner would have replaced this one when it ended.
        unsafe {
            libc::sigaltstack(null(), &mut now);
            if now.ss_sp == self.memory {
                libc::sigaltstack(&self.before, null_mut());
            }
            libc::munmap(self.memory, STACK_SIZE);
        }
    }
}

/// Installs the handlers, once for the process.
fn install() {
    for (signal, previous) in SIGNALS.into_iter().zip(&PREVIOUS) {
        // SAFETY: the handler is a function of the right type, and stays.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handle as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigaction(signal, null(), (*previous.0.get()).as_mut_ptr());
            libc::sigaction(signal, &action, null_mut());
        }
    }
}

/// The handlers that were installed before, in the order of `SIGNALS`.
static PREVIOUS: [PreviousAction; SIGNALS.len()] =
    [const { PreviousAction(UnsafeCell::new(MaybeUninit::zeroed())) }; SIGNALS.len()];

struct PreviousAction(UnsafeCell<MaybeUninit<libc::sigaction>>);

// SAFETY: written once, by `install`, before the handler that reads it is in place.
unsafe impl Sync for PreviousAction {}

extern "C" fn handle(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives a handler valid pointers. The record of this thread is alive, or was forgotten.
    let (sent, leaves) = unsafe {
        let sent = (*info).si_code <= 0;
        (sent, RECORD.get().as_ref().is_some_and(|record| leave(record, signal, &*info, &mut *context.cast())))
    };
    if leaves || (signal == LEAVE && sent && is_own(info)) {
        return;
    }
    let Some(index) = SIGNALS.iter().position(|known| *known == signal) else { return };
    // SAFETY: `install` has filled it in. The handler that was there before takes what we were given.
    unsafe {
        let previous = (*PREVIOUS[index].0.get()).assume_init();
        match previous.sa_sigaction {
            // Ignored by default.
            libc::SIG_DFL | libc::SIG_IGN if signal == LEAVE => {}
            libc::SIG_IGN if sent => {}
            // A fault is raised again and has its default effect. A signal that was sent is not.
            libc::SIG_DFL | libc::SIG_IGN => {
                libc::signal(signal, libc::SIG_DFL);
                if sent {
                    libc::raise(signal);
                }
            }
            handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
                let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = std::mem::transmute(handler);
                handler(signal, info, context);
            }
            handler => {
                let handler: extern "C" fn(c_int) = std::mem::transmute(handler);
                handler(signal);
            }
        }
    }
}

/// True if this process sent the signal to one of its threads.
fn is_own(info: *const siginfo_t) -> bool {
    // SAFETY: a signal that was sent has a sender.
    unsafe { (*info).si_code == libc::SI_TKILL && (*info).si_pid() == libc::getpid() }
}

/// Lets the thread continue at the trampoline's landing, if it is in a kernel and the signal means that kernel.
fn leave(record: &ThreadRecord, signal: c_int, info: &siginfo_t, context: &mut ucontext_t) -> bool {
    let frame = record.frame.load(Ordering::Relaxed);
    if frame == 0 {
        return false;
    }
    if signal == LEAVE {
        let execution = record.execution.load(Ordering::Relaxed);
        let is_meant = execution != 0 && record.leave.load(Ordering::Relaxed) == execution;
        if !is_meant || !record.is_in_code(registers::program_counter(context)) {
            return false;
        }
    } else {
        // Signals that others send are not faults of the kernel.
        if info.si_code <= 0 {
            return false;
        }
        // SAFETY: signals of the CPU have an address, which is that of the instruction if no memory is involved.
        let address = unsafe { info.si_addr() }.addr();
        let of_memory = matches!(signal, libc::SIGSEGV | libc::SIGBUS) && info.si_code != SI_KERNEL;
        record.signal.store(signal, Ordering::Relaxed);
        record.address.store(if of_memory { address } else { NO_ADDRESS }, Ordering::Relaxed);
        record.access.store(if of_memory { registers::access(context) } else { 0 }, Ordering::Relaxed);
    }
    registers::go_to(context, record.landing.load(Ordering::Relaxed), frame);
    true
}

/// `si_code` of a fault without an address, such as one that is no address of this CPU.
const SI_KERNEL: c_int = 0x80;

#[cfg(target_arch = "x86_64")]
mod registers {
    use libc::{REG_EFL, REG_ERR, REG_RIP, REG_RSP, ucontext_t};

    pub(super) fn program_counter(context: &ucontext_t) -> usize {
        context.uc_mcontext.gregs[REG_RIP as usize] as usize
    }

    /// 1 for a read, 2 for a write.
    pub(super) fn access(context: &ucontext_t) -> u32 {
        // Bit 1 of a page fault's error code.
        1 + (context.uc_mcontext.gregs[REG_ERR as usize] >> 1 & 1) as u32
    }

    pub(super) fn go_to(context: &mut ucontext_t, landing: usize, frame: usize) {
        let registers = &mut context.uc_mcontext.gregs;
        registers[REG_RIP as usize] = landing as i64;
        registers[REG_RSP as usize] = frame as i64;
        // The direction flag: code expects it to be clear.
        registers[REG_EFL as usize] &= !(1 << 10);
    }
}

#[cfg(target_arch = "aarch64")]
mod registers {
    use libc::ucontext_t;

    pub(super) fn program_counter(context: &ucontext_t) -> usize {
        context.uc_mcontext.pc as usize
    }

    /// Not known.
    pub(super) fn access(_: &ucontext_t) -> u32 {
        0
    }

    pub(super) fn go_to(context: &mut ucontext_t, landing: usize, frame: usize) {
        context.uc_mcontext.pc = landing as u64;
        context.uc_mcontext.sp = frame as u64;
    }
}
