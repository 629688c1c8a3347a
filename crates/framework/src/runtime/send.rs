//! Messages: `objc_msgSend` and `objc_msg_lookup`.
//!
//! The common case is a few loads: the class of the receiver, its table, the entry of the selector.

use super::class::INITIALIZED;
use super::object::Id;
use super::{Class, Sel, initialize};
use crate::debug::{self, zombie};
use crate::foundation::error;
use std::cell::Cell;

/// The code for a message; never null.
#[inline]
pub(crate) fn code(receiver: Id, selector: Sel) -> *mut () {
    let Some(class) = receiver.class() else { return nothing as *mut () };
    match class.cached(selector.index()) {
        code if code.is_null() => look_up(receiver, class, selector),
        code => code,
    }
}

/// The code of a message that is not in the table yet, or not understood.
#[cold]
fn look_up(receiver: Id, class: &'static Class, selector: Sel) -> *mut () {
    if zombie::is_zombie(receiver) {
        zombie::report(receiver, selector.name());
        return nothing as *mut ();
    }
    if !class.has(INITIALIZED) {
        initialize::class(class);
    }
    match class.look_up(selector) {
        code if code.is_null() => {
            match class.refusal(selector.name()) {
                Some(why) => debug::refuse(class, selector.name(), why),
                None if debug::ends_process() => {
                    UNRECOGNIZED.set((receiver, selector));
                    return throw_unrecognized as *mut ();
                }
                None => debug::unrecognized(class, selector.name(), receiver),
            }
            nothing as *mut ()
        }
        code => code,
    }
}

thread_local! {
    /// The receiver and the selector of a message that was not understood: where they are among the arguments depends on
    /// the result.
    static UNRECOGNIZED: Cell<(Id, Sel)> = const { Cell::new((Id::NIL, Sel(std::ptr::null()))) };
}

/// The code of a message that is not understood. It throws in the place of the method, because the frame of a look-up has
/// no tables for the unwinder.
extern "C-unwind" fn throw_unrecognized() -> usize {
    let (receiver, selector) = UNRECOGNIZED.get();
    let class = receiver.class().unwrap_or(&crate::foundation::object::NS_OBJECT);
    error::raise(&error::NSInvalidArgumentException, &debug::not_understood(class, selector.name(), receiver))
}

/// The answer of nil.
extern "C" fn nothing(_: Id, _: Sel) -> usize {
    0
}

/// Sends a message without arguments, and returns a word.
pub(crate) fn send(receiver: Id, selector: Sel) -> Id {
    // SAFETY: methods of such messages take no other arguments; a result that is no object is not looked at.
    unsafe {
        std::mem::transmute::<*mut (), extern "C-unwind" fn(Id, Sel) -> Id>(code(receiver, selector))(
            receiver, selector,
        )
    }
}

/// Sends a message with one object, and returns a word.
pub(crate) fn send1(receiver: Id, selector: Sel, argument: Id) -> usize {
    // SAFETY: methods of such messages take one object.
    unsafe {
        std::mem::transmute::<*mut (), extern "C-unwind" fn(Id, Sel, Id) -> usize>(code(receiver, selector))(
            receiver, selector, argument,
        )
    }
}

#[repr(C)]
pub(crate) struct Super {
    receiver: Id,
    class: &'static Class,
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_msg_lookup_super(to: &Super, selector: Sel) -> *mut () {
    match to.class.cached(selector.index()) {
        code if code.is_null() => look_up(to.receiver, to.class, selector),
        code => code,
    }
}

/// For `objc_msgSend`, which saves all registers with arguments around it, and `objc_msg_lookup`.
extern "C" fn find(receiver: Id, selector: Sel) -> *mut () {
    code(receiver, selector)
}

/// Offset of the dispatch table in a class.
const TABLE: usize = std::mem::offset_of!(Class, table);

#[cfg(target_arch = "x86_64")]
mod arch {
    use super::{Id, Sel, TABLE, find};
    use std::arch::naked_asm;

    macro_rules! send {
        ($($name:ident $receiver:literal $selector:literal,)*) => { $(
            /// Calls the method of a message with its arguments as they are.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub(crate) unsafe extern "C" fn $name() {
                naked_asm!(
                    concat!("test ", $receiver, ", ", $receiver),
                    "jz 3f",
                    // Small objects have no class in memory.
                    concat!("test ", $receiver, ", 7"),
                    "jnz 2f",
                    concat!("mov r10, [", $receiver, "]"),
                    "mov r10, [r10 + {table}]",
                    concat!("mov r11, [", $selector, "]"),
                    "cmp r11, [r10]",
                    "jae 2f",
                    "mov r11, [r10 + r11*8 + 8]",
                    "test r11, r11",
                    "jz 2f",
                    "jmp r11",
                    "2:",
                    "push rbp",
                    "mov rbp, rsp",
                    "sub rsp, 192",
                    "mov [rsp], rdi",
                    "mov [rsp + 8], rsi",
                    "mov [rsp + 16], rdx",
                    "mov [rsp + 24], rcx",
                    "mov [rsp + 32], r8",
                    "mov [rsp + 40], r9",
                    "mov [rsp + 48], rax",
                    "movaps [rsp + 64], xmm0",
                    "movaps [rsp + 80], xmm1",
                    "movaps [rsp + 96], xmm2",
                    "movaps [rsp + 112], xmm3",
                    "movaps [rsp + 128], xmm4",
                    "movaps [rsp + 144], xmm5",
                    "movaps [rsp + 160], xmm6",
                    "movaps [rsp + 176], xmm7",
                    concat!("mov rax, ", $selector),
                    concat!("mov rdi, ", $receiver),
                    "mov rsi, rax",
                    "call {find}",
                    "mov r11, rax",
                    "mov rdi, [rsp]",
                    "mov rsi, [rsp + 8]",
                    "mov rdx, [rsp + 16]",
                    "mov rcx, [rsp + 24]",
                    "mov r8, [rsp + 32]",
                    "mov r9, [rsp + 40]",
                    "mov rax, [rsp + 48]",
                    "movaps xmm0, [rsp + 64]",
                    "movaps xmm1, [rsp + 80]",
                    "movaps xmm2, [rsp + 96]",
                    "movaps xmm3, [rsp + 112]",
                    "movaps xmm4, [rsp + 128]",
                    "movaps xmm5, [rsp + 144]",
                    "movaps xmm6, [rsp + 160]",
                    "movaps xmm7, [rsp + 176]",
                    "mov rsp, rbp",
                    "pop rbp",
                    "jmp r11",
                    "3:",
                    "xor eax, eax",
                    "xor edx, edx",
                    "pxor xmm0, xmm0",
                    "pxor xmm1, xmm1",
                    "ret",
                    table = const TABLE,
                    find = sym find,
                )
            }
        )* };
    }

    /// The code for a message; never null.
    #[unsafe(no_mangle)]
    #[unsafe(naked)]
    pub(crate) extern "C" fn objc_msg_lookup(receiver: Id, selector: Sel) -> *mut () {
        naked_asm!(
            "test rdi, rdi",
            "jz 2f",
            "test rdi, 7",
            "jnz 2f",
            "mov rax, [rdi]",
            "mov rax, [rax + {table}]",
            "mov rdx, [rsi]",
            "cmp rdx, [rax]",
            "jae 2f",
            "mov rax, [rax + rdx*8 + 8]",
            "test rax, rax",
            "jz 2f",
            "ret",
            "2:",
            "jmp {find}",
            table = const TABLE,
            find = sym find,
        )
    }

    // Results that do not fit into registers are stored where the first argument points.
    send! {
        objc_msgSend "rdi" "rsi",
        objc_msgSend_fpret "rdi" "rsi",
        objc_msgSend_stret "rsi" "rdx",
    }
}

#[cfg(target_arch = "aarch64")]
mod arch {
    use super::{Id, Sel, TABLE, find};
    use std::arch::naked_asm;

    /// The code for a message; never null.
    #[unsafe(no_mangle)]
    #[unsafe(naked)]
    pub(crate) extern "C" fn objc_msg_lookup(receiver: Id, selector: Sel) -> *mut () {
        naked_asm!(
            "cbz x0, 2f",
            "tst x0, #7",
            "b.ne 2f",
            "ldr x9, [x0]",
            "ldr x9, [x9, #{table}]",
            "ldr x10, [x1]",
            "ldr x11, [x9], #8",
            "cmp x10, x11",
            "b.hs 2f",
            "ldr x9, [x9, x10, lsl #3]",
            "cbz x9, 2f",
            "mov x0, x9",
            "ret",
            "2:",
            "b {find}",
            table = const TABLE,
            find = sym find,
        )
    }

    /// Calls the method of a message with its arguments as they are.
    #[unsafe(no_mangle)]
    #[unsafe(naked)]
    pub(crate) unsafe extern "C" fn objc_msgSend() {
        naked_asm!(
            "cbz x0, 3f",
            "tst x0, #7",
            "b.ne 2f",
            "ldr x9, [x0]",
            "ldr x9, [x9, #{table}]",
            "ldr x10, [x1]",
            "ldr x11, [x9], #8",
            "cmp x10, x11",
            "b.hs 2f",
            "ldr x16, [x9, x10, lsl #3]",
            "cbz x16, 2f",
            "br x16",
            "2:",
            "stp x29, x30, [sp, #-224]!",
            "mov x29, sp",
            "stp x0, x1, [sp, #16]",
            "stp x2, x3, [sp, #32]",
            "stp x4, x5, [sp, #48]",
            "stp x6, x7, [sp, #64]",
            "str x8, [sp, #80]",
            "stp q0, q1, [sp, #96]",
            "stp q2, q3, [sp, #128]",
            "stp q4, q5, [sp, #160]",
            "stp q6, q7, [sp, #192]",
            "bl {find}",
            "mov x16, x0",
            "ldp x0, x1, [sp, #16]",
            "ldp x2, x3, [sp, #32]",
            "ldp x4, x5, [sp, #48]",
            "ldp x6, x7, [sp, #64]",
            "ldr x8, [sp, #80]",
            "ldp q0, q1, [sp, #96]",
            "ldp q2, q3, [sp, #128]",
            "ldp q4, q5, [sp, #160]",
            "ldp q6, q7, [sp, #192]",
            "ldp x29, x30, [sp], #224",
            "br x16",
            "3:",
            "mov x1, xzr",
            "movi d0, #0",
            "movi d1, #0",
            "ret",
            table = const TABLE,
            find = sym find,
        )
    }
}

#[cfg(test)]
pub(crate) use arch::{objc_msg_lookup, objc_msgSend};
