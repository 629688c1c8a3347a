//! Methods and functions with variable arguments, which stable Rust cannot define: a few instructions build the list of the
//! platform's C compilers, and Rust reads it.

use super::Id;

/// The list that `va_start` makes on x86-64.
#[cfg(target_arch = "x86_64")]
#[repr(C)]
pub(crate) struct Variable {
    general: u32,
    floating: u32,
    overflow: *const u8,
    saved: *const u8,
}

#[cfg(target_arch = "x86_64")]
impl Variable {
    fn slot(&mut self, is_floating: bool) -> *const u8 {
        let (offset, step, end) =
            if is_floating { (&mut self.floating, 16, 176) } else { (&mut self.general, 8, 48) };
        if *offset < end {
            let slot = self.saved.wrapping_add(*offset as usize);
            *offset += step;
            slot
        } else {
            let slot = self.overflow;
            self.overflow = slot.wrapping_add(8);
            slot
        }
    }
}

/// The list that `va_start` makes on ARM.
#[cfg(target_arch = "aarch64")]
#[repr(C)]
pub(crate) struct Variable {
    stack: *const u8,
    general_end: *const u8,
    floating_end: *const u8,
    general: i32,
    floating: i32,
}

#[cfg(target_arch = "aarch64")]
impl Variable {
    fn slot(&mut self, is_floating: bool) -> *const u8 {
        let (offset, step, end) = if is_floating {
            (&mut self.floating, 16, self.floating_end)
        } else {
            (&mut self.general, 8, self.general_end)
        };
        if *offset < 0 {
            let slot = end.wrapping_offset(*offset as isize);
            *offset += step;
            slot
        } else {
            let slot = self.stack;
            self.stack = slot.wrapping_add(8);
            slot
        }
    }
}

impl Variable {
    /// The next argument that is a number without a point, or a pointer.
    pub(crate) fn word(&mut self) -> usize {
        // SAFETY: the program passes an argument for each that its format or its terminator asks for.
        unsafe { self.slot(false).cast::<usize>().read_unaligned() }
    }

    pub(crate) fn double(&mut self) -> f64 {
        // SAFETY: as above.
        unsafe { self.slot(true).cast::<f64>().read_unaligned() }
    }

    pub(crate) fn object(&mut self) -> Id {
        Id(std::ptr::with_exposed_provenance_mut(self.word()))
    }

    /// The objects up to nil.
    pub(crate) fn objects(&mut self) -> impl Iterator<Item = Id> {
        std::iter::from_fn(|| Some(self.object()).filter(|object| !object.is_nil()))
    }
}

/// Defines functions that call others with the list of their variable arguments, after `named` words.
macro_rules! variadic {
    ($($(#[$attribute:meta])* $name:ident => $target:path, $named:tt;)*) => { $(
        #[cfg(target_arch = "x86_64")]
        $(#[$attribute])*
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name() {
            std::arch::naked_asm!(
                ".cfi_startproc",
                "push rbp",
                ".cfi_def_cfa_offset 16",
                ".cfi_offset rbp, -16",
                "mov rbp, rsp",
                ".cfi_def_cfa_register rbp",
                "sub rsp, 208",
                "mov [rsp], rdi",
                "mov [rsp + 8], rsi",
                "mov [rsp + 16], rdx",
                "mov [rsp + 24], rcx",
                "mov [rsp + 32], r8",
                "mov [rsp + 40], r9",
                "test al, al",
                "jz 2f",
                "movaps [rsp + 48], xmm0",
                "movaps [rsp + 64], xmm1",
                "movaps [rsp + 80], xmm2",
                "movaps [rsp + 96], xmm3",
                "movaps [rsp + 112], xmm4",
                "movaps [rsp + 128], xmm5",
                "movaps [rsp + 144], xmm6",
                "movaps [rsp + 160], xmm7",
                "2:",
                "mov dword ptr [rsp + 176], 8 * {named}",
                "mov dword ptr [rsp + 180], 48",
                "lea rax, [rbp + 16]",
                "mov [rsp + 184], rax",
                "mov [rsp + 192], rsp",
                "lea rax, [rsp + 176]",
                concat!("mov ", $crate::runtime::variadic::register!($named), ", rax"),
                "call {target}",
                "mov rsp, rbp",
                "pop rbp",
                ".cfi_def_cfa rsp, 8",
                "ret",
                ".cfi_endproc",
                named = const $named,
                target = sym $target,
            )
        }
        #[cfg(target_arch = "aarch64")]
        $(#[$attribute])*
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name() {
            std::arch::naked_asm!(
                "stp x29, x30, [sp, #-240]!",
                "mov x29, sp",
                "stp x0, x1, [sp, #16]",
                "stp x2, x3, [sp, #32]",
                "stp x4, x5, [sp, #48]",
                "stp x6, x7, [sp, #64]",
                "stp q0, q1, [sp, #80]",
                "stp q2, q3, [sp, #112]",
                "stp q4, q5, [sp, #144]",
                "stp q6, q7, [sp, #176]",
                "add x9, sp, #240",
                "str x9, [sp, #208]",
                "add x9, sp, #80",
                "str x9, [sp, #216]",
                "add x9, sp, #208",
                "str x9, [sp, #224]",
                "mov w10, #(8 * {named} - 64)",
                "mov w11, #-128",
                "stp w10, w11, [sp, #232]",
                concat!("add ", $crate::runtime::variadic::register!($named), ", sp, #208"),
                "bl {target}",
                "ldp x29, x30, [sp], #240",
                "ret",
                named = const $named,
                target = sym $target,
            )
        }
    )* };
}

/// The register of the argument after that many words.
#[cfg(target_arch = "x86_64")]
macro_rules! register {
    (1) => {
        "rsi"
    };
    (2) => {
        "rdx"
    };
    (3) => {
        "rcx"
    };
    (4) => {
        "r8"
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! register {
    (1) => {
        "x1"
    };
    (2) => {
        "x2"
    };
    (3) => {
        "x3"
    };
    (4) => {
        "x4"
    };
}
pub(crate) use register;
