//! Runs untrusted code in a child process, with bounds on processor time, memory and stack.
//!
//! The template engine counts instructions, but one instruction can double a string, compare lists that share their
//! elements, or recurse natively. No hook bounds all of these, and memory and stack overflow end a process. So the work is
//! done in a fork of this process, which the system ends at its limits:
//!
//! ```text
//! caller ── thread with the stack of the work ── fork ── limits ── work ── length, bytes ── pipe ── caller
//! ```
//!
//! A fork has one thread. Locks that other threads hold stay locked in it: the work must take none but those of the C
//! library's allocator, which the C library releases. A child that waits forever is killed.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Bounds of the work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Processor time.
    pub(super) time: Duration,
    /// Time on the clock, for a child that waits forever.
    pub(super) patience: Duration,
    /// Bytes of memory beyond those of this process.
    pub(super) memory: u64,
    /// Bytes of the stack.
    pub(super) stack: usize,
    /// Bytes of the result.
    pub(super) result: usize,
}

/// Reason for which there is no result.
#[derive(Debug)]
pub(super) enum Stopped {
    Time,
    Memory,
    Stack,
    /// The result is longer than its limit.
    Result,
    Panic,
    /// The child was ended otherwise.
    Signal(i32),
    /// No child could be started.
    Start(io::Error),
}

/// Runs `work` in a child process and returns its result.
pub(super) fn run(limits: Limits, work: impl FnOnce() -> Vec<u8> + Send) -> Result<Vec<u8>, Stopped> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(limits.stack);
        let thread = thread.spawn_scoped(scope, || run_here(limits, work)).map_err(Stopped::Start)?;
        thread.join().unwrap_or(Err(Stopped::Panic))
    })
}

fn run_here(limits: Limits, work: impl FnOnce() -> Vec<u8>) -> Result<Vec<u8>, Stopped> {
    let (reader, writer) = pipe().map_err(Stopped::Start)?;
    let memory = mapped_bytes().saturating_add(limits.memory);
    // SAFETY: the child calls nothing but the work, which takes no locks, and ends without returning.
    match unsafe { libc::fork() } {
        -1 => Err(Stopped::Start(io::Error::last_os_error())),
        0 => be_child(limits, memory, writer, work),
        child => {
            drop(writer);
            Child(child).receive(reader, limits)
        }
    }
}

/// A pipe that programs started meanwhile do not inherit; its reader does not block.
fn pipe() -> io::Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: the pointer is to two numbers.
    if unsafe { libc::pipe(ends.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptors are new, and belong to no one else.
    let [reader, writer] = ends.map(|end| unsafe { File::from_raw_fd(end) });
    for end in [&reader, &writer] {
        // SAFETY: the descriptor is open.
        unsafe { libc::fcntl(end.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    // SAFETY: the descriptor is open.
    unsafe { libc::fcntl(reader.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    Ok((reader, writer))
}

/// Bytes of the address space in use; 0 where the system does not tell.
fn mapped_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = text.split(' ').next().and_then(|pages| pages.parse().ok()).unwrap_or(0);
    // SAFETY: the call cannot fail for the size of a page.
    pages.saturating_mul(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.unsigned_abs())
}

/// Result of the child's work, before its length and its bytes.
const DONE: u8 = 0;
const PANICKED: u8 = 1;
const TOO_LONG: u8 = 2;

fn be_child(limits: Limits, memory: u64, mut writer: File, work: impl FnOnce() -> Vec<u8>) -> ! {
    restrict(limits, memory);
    let result = catch_unwind(AssertUnwindSafe(|| {
        // The hook of this process may take locks and print.
        std::panic::set_hook(Box::new(|_| {}));
        work()
    }));
    let (outcome, bytes) = match result {
        Ok(bytes) if bytes.len() > limits.result => (TOO_LONG, Vec::new()),
        Ok(bytes) => (DONE, bytes),
        Err(_) => (PANICKED, Vec::new()),
    };
    // A result that does not arrive whole is none.
    let _ = writer
        .write_all(&[outcome])
        .and_then(|()| writer.write_all(&(bytes.len() as u64).to_le_bytes()))
        .and_then(|()| writer.write_all(&bytes));
    // SAFETY: ends the process without its destructors, which belong to the parent.
    unsafe { libc::_exit(0) }
}

/// Sets the limits of this process, which has one thread, and undoes handlers that belong to the parent.
fn restrict(limits: Limits, memory: u64) {
    // SAFETY: these calls take numbers and pointers to initialized values that live as long as they do.
    unsafe {
        let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
        for signal in [
            libc::SIGSEGV,
            libc::SIGBUS,
            libc::SIGABRT,
            libc::SIGFPE,
            libc::SIGILL,
            libc::SIGINT,
            libc::SIGTERM,
            libc::SIGHUP,
            libc::SIGPROF,
            libc::SIGXCPU,
            libc::SIGPIPE,
        ] {
            libc::signal(signal, libc::SIG_DFL);
        }
        #[cfg(target_os = "linux")]
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for stream in 0..=2 {
            libc::dup2(null, stream);
        }
        set_limit(libc::RLIMIT_CORE, 0);
        #[cfg(target_os = "linux")]
        set_limit(libc::RLIMIT_AS, memory);
        #[cfg(not(target_os = "linux"))]
        let _ = memory;
        // The limit counts whole seconds, the timer parts of them.
        set_limit(libc::RLIMIT_CPU, limits.time.as_secs() + 1);
        let time = libc::timeval {
            tv_sec: limits.time.as_secs() as libc::time_t,
            tv_usec: limits.time.subsec_micros() as libc::suseconds_t,
        };
        let timer = libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, it_value: time };
        libc::setitimer(libc::ITIMER_PROF, &timer, std::ptr::null_mut());
    }
}

#[cfg(target_os = "linux")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_os = "linux"))]
type Resource = libc::c_int;

fn set_limit(resource: Resource, value: u64) {
    let mut old = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointers are to initialized structures.
    unsafe {
        libc::getrlimit(resource, &mut old);
        let value = old.rlim_max.min(value);
        libc::setrlimit(resource, &libc::rlimit { rlim_cur: value, rlim_max: value });
    }
}

/// A child process, ended and waited for on drop.
struct Child(libc::pid_t);

impl Child {
    fn receive(self, mut reader: File, limits: Limits) -> Result<Vec<u8>, Stopped> {
        let end = Instant::now() + limits.patience;
        let mut bytes = Vec::new();
        let mut status = None;
        loop {
            // Look first: what a child wrote is there once it has ended.
            status = status.or_else(|| self.status());
            let is_closed = read_available(&mut reader, &mut bytes);
            if let Some(result) = parse(&bytes, limits) {
                return result;
            }
            match status {
                Some(status) => return Err(reason(status)),
                None if Instant::now() > end => return Err(Stopped::Time),
                // It closed the pipe and ends now.
                None if is_closed => std::thread::sleep(Duration::from_millis(1)),
                None => wait_for(&reader),
            }
        }
    }

    /// The status of an ended child.
    fn status(&self) -> Option<libc::c_int> {
        let mut status = 0;
        // SAFETY: the pointer is to a number.
        match unsafe { libc::waitpid(self.0, &mut status, libc::WNOHANG) } {
            0 => None,
            // Someone else has waited for it; what it wrote must do.
            -1 => Some(0),
            _ => Some(status),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: a process that was waited for is not there any more under this number, unless the number was given
        // out again in between, which takes as many processes as there are numbers.
        unsafe {
            if libc::waitpid(self.0, std::ptr::null_mut(), libc::WNOHANG) == 0 {
                libc::kill(self.0, libc::SIGKILL);
                libc::waitpid(self.0, std::ptr::null_mut(), 0);
            }
        }
    }
}

/// Reads what is there; true at the end.
fn read_available(reader: &mut File, bytes: &mut Vec<u8>) -> bool {
    let mut part = [0; 1 << 16];
    loop {
        match reader.read(&mut part) {
            Ok(0) => return true,
            Ok(len) => bytes.extend_from_slice(&part[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return error.kind() != io::ErrorKind::WouldBlock,
        }
    }
}

/// Waits a moment for something to read.
fn wait_for(reader: &File) {
    let mut wanted = libc::pollfd { fd: reader.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the pointer is to one structure.
    unsafe { libc::poll(&mut wanted, 1, 20) };
}

/// The result, once it is whole.
fn parse(bytes: &[u8], limits: Limits) -> Option<Result<Vec<u8>, Stopped>> {
    let (&outcome, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first_chunk()?;
    match outcome {
        PANICKED => Some(Err(Stopped::Panic)),
        DONE if u64::from_le_bytes(*length) <= limits.result as u64 => {
            (rest.len() as u64 == u64::from_le_bytes(*length)).then(|| Ok(rest.to_vec()))
        }
        _ => Some(Err(Stopped::Result)),
    }
}

/// The reason for the end of a child without a result.
fn reason(status: libc::c_int) -> Stopped {
    match libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)) {
        Some(libc::SIGPROF | libc::SIGXCPU) => Stopped::Time,
        // Rust aborts where there is no memory. Panics do not get there.
        Some(libc::SIGABRT) => Stopped::Memory,
        Some(libc::SIGSEGV | libc::SIGBUS) => Stopped::Stack,
        Some(signal) => Stopped::Signal(signal),
        None => Stopped::Signal(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        time: Duration::from_millis(200),
        patience: Duration::from_secs(100),
        memory: 64 << 20,
        stack: 1 << 20,
        result: 1 << 20,
    };

    #[test]
    fn returns_the_result_of_the_work() {
        let given = vec![7; 1 << 20];
        assert_eq!(run(LIMITS, || given.clone()).unwrap(), given);
        assert!(run(LIMITS, Vec::new).unwrap().is_empty());
        assert!(matches!(run(LIMITS, || vec![0; (1 << 20) + 1]), Err(Stopped::Result)));
    }

    #[test]
    fn ends_at_its_limits() {
        let endless = || loop {
            std::hint::spin_loop();
        };
        assert!(matches!(run(LIMITS, endless), Err(Stopped::Time)));
        let greedy = || {
            let mut all = Vec::new();
            while all.len() < 1 << 20 {
                all.push(vec![1u8; 1 << 20]);
            }
            all.concat()
        };
        #[cfg(target_os = "linux")]
        {
            let limits = Limits { time: Duration::from_secs(20), ..LIMITS };
            let stopped = run(limits, greedy).unwrap_err();
            assert!(matches!(stopped, Stopped::Memory), "{stopped:?}");
        }
        #[cfg(not(target_os = "linux"))]
        let _ = greedy;
        assert!(matches!(run(LIMITS, || vec![deep(1 << 40)]), Err(Stopped::Stack)));
        assert!(matches!(run(LIMITS, || panic!("a panic that is not printed")), Err(Stopped::Panic)));
        let idle = || loop {
            std::thread::park();
        };
        let limits = Limits { patience: Duration::from_millis(50), ..LIMITS };
        assert!(matches!(run(limits, idle), Err(Stopped::Time)));
    }

    fn deep(depth: u64) -> u8 {
        let frame = std::hint::black_box([depth as u8; 64]);
        if depth == 0 { frame[0] } else { deep(depth - 1).wrapping_add(std::hint::black_box(frame)[63]) }
    }
}
