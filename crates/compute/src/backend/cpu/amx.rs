//! AMX, an extension of x86-64 CPUs with registers of 1 KiB, which a process must ask the system for.
//!
//! The flags of the CPU are not enough: a virtual machine may list AMX and fault at its first instruction. So it is
//! tried, once, in a process of its own.

use std::sync::OnceLock;

/// True if this process may use AMX for products of bytes and of bfloat.
pub(super) fn is_granted() -> bool {
    static GRANTED: OnceLock<bool> = OnceLock::new();
    *GRANTED.get_or_init(|| is_listed() && is_allowed() && works())
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use linux::{is_allowed, is_listed, works};

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod linux {
    use std::arch::asm;
    use std::arch::x86_64::{__cpuid, __cpuid_count};

    /// True if the CPU lists AMX with products of bytes and of bfloat.
    pub(super) fn is_listed() -> bool {
        const LEAF: u32 = 7;
        const TILES: u32 = 1 << 24 | 1 << 25 | 1 << 22;
        __cpuid(0).eax >= LEAF && __cpuid_count(LEAF, 0).edx & TILES == TILES
    }

    /// Asks the system to save the registers of AMX for the threads of this process. True if it does.
    pub(super) fn is_allowed() -> bool {
        const REQUEST_PERMISSION: libc::c_long = 0x1023;
        const TILE_DATA: libc::c_long = 18;
        // SAFETY: the call reads no memory.
        unsafe { libc::syscall(libc::SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0 }
    }

    /// The configuration of three tiles with one row of four bytes.
    #[repr(align(64))]
    struct Configuration(#[expect(dead_code, reason = "the CPU reads it")] [u8; 64]);

    const CONFIGURATION: Configuration = {
        let mut bytes = [0; 64];
        bytes[0] = 1;
        let mut tile = 0;
        while tile < 3 {
            bytes[16 + 2 * tile] = 4;
            bytes[48 + tile] = 1;
            tile += 1;
        }
        Configuration(bytes)
    };

    /// Runs the instructions of a product in a child process. True if it survives.
    pub(super) fn works() -> bool {
        let configuration = CONFIGURATION;
        // SAFETY: as `fork`, but the program is sent no signal at the end of the child. That makes system calls and
        // runs the instructions below, which is allowed whatever the other threads of this process were doing.
        let child = unsafe { libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0) };
        if child == 0 {
            // SAFETY: the child has a copy of this memory. A fault ends it, without a handler of the program and
            // without a file.
            unsafe {
                libc::syscall(libc::SYS_prctl, libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
                libc::signal(libc::SIGILL, libc::SIG_DFL);
                libc::signal(libc::SIGSEGV, libc::SIG_DFL);
                asm!(
                    "ldtilecfg [{configuration}]",
                    "tilezero tmm0",
                    "tilezero tmm1",
                    "tilezero tmm2",
                    "tdpbsud tmm0, tmm1, tmm2",
                    "tdpbf16ps tmm0, tmm1, tmm2",
                    "tilerelease",
                    configuration = in(reg) &raw const configuration,
                    out("tmm0") _, out("tmm1") _, out("tmm2") _,
                    options(nostack)
                );
                libc::syscall(libc::SYS_exit_group, 0);
            }
        }
        let mut status = -1;
        let is_child = |pid: libc::pid_t| libc::c_long::from(pid) == child;
        // SAFETY: `status` outlives the call.
        let wait = || unsafe { libc::waitpid(child as libc::pid_t, &raw mut status, libc::__WALL) };
        child > 0 && is_child(retried(wait)) && status == 0
    }

    /// Repeats a call that a signal interrupts.
    fn retried(mut call: impl FnMut() -> libc::pid_t) -> libc::pid_t {
        loop {
            let result = call();
            if result != -1 || std::io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
                return result;
            }
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
use elsewhere::{is_allowed, is_listed, works};

/// On other systems it is not used.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod elsewhere {
    pub(super) fn is_listed() -> bool {
        false
    }

    pub(super) fn is_allowed() -> bool {
        false
    }

    pub(super) fn works() -> bool {
        false
    }
}
