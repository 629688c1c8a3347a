//! The call of a kernel that a signal handler can end.

use super::ThreadRecord;
use abi::{Dispatch, Entry, Simdgroup, Threadgroup};

/// Calls a kernel. Returns 0, or 1 if a signal handler sent the thread to the landing: the label 2, with the stack pointer
/// that is stored in [`ThreadRecord::frame`].
///
/// # Safety
///
/// The arguments are those that the kernel expects. The record is that of this thread.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn call(
    dispatch: *const Dispatch,
    threadgroup: *const Threadgroup,
    simdgroup: *const Simdgroup,
    count: u32,
    entry: Entry,
    record: *const ThreadRecord,
) -> u32 {
    // Seven values and the return address: the stack is aligned to 16 bytes at the call.
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "push r9",
        "lea rax, [rip + 2f]",
        "mov [r9 + 8], rax",
        "mov [r9], rsp",
        "call r8",
        "xor eax, eax",
        "jmp 3f",
        "2:",
        "mov eax, 1",
        "3:",
        "pop r9",
        "mov qword ptr [r9], 0",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// As for x86-64.
///
/// # Safety
///
/// As for x86-64.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
pub(super) unsafe extern "C" fn call(
    dispatch: *const Dispatch,
    threadgroup: *const Threadgroup,
    simdgroup: *const Simdgroup,
    count: u32,
    entry: Entry,
    record: *const ThreadRecord,
) -> u32 {
    std::arch::naked_asm!(
        "stp x29, x30, [sp, #-176]!",
        "mov x29, sp",
        "stp x19, x20, [sp, #16]",
        "stp x21, x22, [sp, #32]",
        "stp x23, x24, [sp, #48]",
        "stp x25, x26, [sp, #64]",
        "stp x27, x28, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "str x5, [sp, #160]",
        "adr x10, 2f",
        "mov x9, sp",
        "str x10, [x5, #8]",
        "str x9, [x5]",
        "blr x4",
        "mov w0, wzr",
        "b 3f",
        "2:",
        "mov w0, #1",
        "3:",
        "ldr x5, [sp, #160]",
        "str xzr, [x5]",
        "ldp x19, x20, [sp, #16]",
        "ldp x21, x22, [sp, #32]",
        "ldp x23, x24, [sp, #48]",
        "ldp x25, x26, [sp, #64]",
        "ldp x27, x28, [sp, #80]",
        "ldp d8, d9, [sp, #96]",
        "ldp d10, d11, [sp, #112]",
        "ldp d12, d13, [sp, #128]",
        "ldp d14, d15, [sp, #144]",
        "ldp x29, x30, [sp], #176",
        "ret",
    )
}

/// A plain call.
///
/// # Safety
///
/// The arguments are those that the kernel expects.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) unsafe fn call(
    dispatch: *const Dispatch,
    threadgroup: *const Threadgroup,
    simdgroup: *const Simdgroup,
    count: u32,
    entry: Entry,
    _: *const ThreadRecord,
) -> u32 {
    // SAFETY: as the caller promises.
    unsafe { entry(dispatch, threadgroup, simdgroup, count) };
    0
}
