//! Kills a program as it begins one of its calls that change files, with the debugger's interface.

use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::libc;

/// Calls that change a file or a folder.
const CALLS: &[i64] = &[
    libc::SYS_openat,
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_writev,
    libc::SYS_ftruncate,
    libc::SYS_fchmod,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_unlinkat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
];

/// Kills a program before the call with this number, counted from the one that first creates a file. True if it ended
/// before, with success. The program must belong to this thread alone: no other may wait for it.
pub(crate) fn kill_at(number: usize, command: &mut Command) -> bool {
    // SAFETY: the call allocates nothing, and is allowed after a fork.
    unsafe {
        command.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    let process = command.spawn().expect("the system lets processes be traced").id() as i32;
    let (mut seen, mut creates) = (0, false);
    let (_, status) = wait(process);
    assert!(libc::WIFSTOPPED(status), "it stops when it starts");
    let options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_TRACECLONE | libc::PTRACE_O_EXITKILL;
    trace(libc::PTRACE_SETOPTIONS, process, options);
    trace(libc::PTRACE_SYSCALL, process, 0);
    loop {
        // Any of its threads.
        let (thread, status) = wait(-1);
        if !libc::WIFSTOPPED(status) {
            if thread == process {
                assert!(
                    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
                    "it failed by itself: {status:x}"
                );
                return true;
            }
            continue;
        }
        let mut signal = libc::WSTOPSIG(status);
        if signal == libc::SIGTRAP | 0x80 {
            signal = 0;
            if let Some((call, flags)) = begun(thread)
                && CALLS.contains(&call)
            {
                let is_open = call == libc::SYS_openat;
                creates |= is_open && flags & libc::O_CREAT != 0;
                let changes = creates && (!is_open || flags & libc::O_CREAT != 0);
                if changes && seen == number {
                    // SAFETY: the process is a child that nobody has waited for.
                    unsafe { libc::kill(process, libc::SIGKILL) };
                    while wait(-1).0 != process {}
                    return false;
                }
                seen += usize::from(changes);
            }
        } else if matches!(signal, libc::SIGTRAP | libc::SIGSTOP) {
            // A new thread.
            signal = 0;
        }
        trace(libc::PTRACE_SYSCALL, thread, signal);
    }
}

/// Waits for a stop or the end of a thread that this one traces.
fn wait(thread: i32) -> (i32, i32) {
    let mut status = 0;
    // SAFETY: the status is written.
    let stopped = unsafe { libc::waitpid(thread, &mut status, libc::__WALL | libc::__WNOTHREAD) };
    assert!(stopped > 0, "there is a process to wait for");
    (stopped, status)
}

/// A thread that was killed meanwhile is not continued.
fn trace(request: libc::c_uint, thread: i32, data: i32) {
    // SAFETY: these requests take numbers.
    unsafe { libc::ptrace(request, thread, 0, i64::from(data)) };
}

/// The call that a stopped thread begins, with its third argument, the flags of `openat`.
fn begun(thread: i32) -> Option<(i64, i32)> {
    // SAFETY: zeros are a value of the structure, whose size is given.
    let mut info: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
    let size = size_of_val(&info);
    // SAFETY: as above.
    let written = unsafe { libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, thread, size, &raw mut info) };
    if written <= 0 || info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
        return None;
    }
    // SAFETY: `op` says that this is the member.
    let entry = unsafe { info.u.entry };
    Some((entry.nr as i64, entry.args[2] as i32))
}
