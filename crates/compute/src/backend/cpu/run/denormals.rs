//! Flushing of denormal numbers to zero.

/// Sets the mode until it is dropped.
pub(crate) struct FlushDenormals {
    before: Option<Control>,
}

/// The floating-point control register.
#[cfg(target_arch = "aarch64")]
type Control = u64;
#[cfg(not(target_arch = "aarch64"))]
type Control = u32;

/// Flush results, and treat denormal operands as zero.
#[cfg(target_arch = "x86_64")]
const FLUSH: Control = 1 << 15 | 1 << 6;
#[cfg(target_arch = "aarch64")]
const FLUSH: Control = 1 << 24;

impl FlushDenormals {
    /// Does nothing if `flush` is false.
    pub(crate) fn new(flush: bool) -> FlushDenormals {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if flush {
            let before = read();
            write(before | FLUSH);
            return FlushDenormals { before: Some(before) };
        }
        let _ = flush;
        FlushDenormals { before: None }
    }
}

impl Drop for FlushDenormals {
    fn drop(&mut self) {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if let Some(before) = self.before {
            write(before);
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn read() -> Control {
    let mut control = 0;
    // SAFETY: stores the register to a local variable.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut control, options(nostack, preserves_flags)) };
    control
}

/// Rust code must not compute with floating-point numbers while the mode differs from Rust's default.
#[cfg(target_arch = "x86_64")]
fn write(control: Control) {
    // SAFETY: the value was read from the register, with two bits set that are valid on every CPU.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &control, options(nostack, preserves_flags)) };
}

#[cfg(target_arch = "aarch64")]
fn read() -> Control {
    let control;
    // SAFETY: reads a register that is accessible to every program.
    unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags)) };
    control
}

/// Rust code must not compute with floating-point numbers while the mode differs from Rust's default.
#[cfg(target_arch = "aarch64")]
fn write(control: Control) {
    // SAFETY: the value was read from the register, with one bit set that is valid on every CPU.
    unsafe { std::arch::asm!("msr fpcr, {}", in(reg) control, options(nostack, preserves_flags)) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn denormals_are_flushed_only_in_scope() {
        let halve = || black_box(f32::MIN_POSITIVE) * black_box(0.5);
        assert!(halve() > 0.0);
        {
            let _flush = FlushDenormals::new(true);
            assert_eq!(halve(), 0.0);
        }
        assert!(halve() > 0.0);
        let _keep = FlushDenormals::new(false);
        assert!(halve() > 0.0);
    }
}
