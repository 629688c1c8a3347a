//! Conversion of Metal's times, seconds since the machine started, to `Instant`.

use crate::backend::driver::instant_at;
use objc2::runtime::ProtocolObject;
use objc2_metal::MTLCommandBuffer;
use std::time::Instant;

/// The clock of `mach_absolute_time`, which stops while the machine sleeps; Metal and `Instant` use it, too.
#[cfg(target_os = "macos")]
const CLOCK: libc::clockid_t = libc::CLOCK_UPTIME_RAW;
#[cfg(not(target_os = "macos"))]
const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;

/// One moment on both clocks.
pub(crate) struct Clock {
    now: Instant,
    seconds: f64,
}

impl Clock {
    pub(crate) fn now() -> Clock {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: it writes to the structure that it is given.
        unsafe { libc::clock_gettime(CLOCK, &mut time) };
        Clock { now: Instant::now(), seconds: time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9 }
    }

    /// GPU start and end of a completed command buffer, if known.
    pub(crate) fn gpu_times(
        &self,
        commands: &ProtocolObject<dyn MTLCommandBuffer>,
    ) -> (Option<Instant>, Option<Instant>) {
        let instant = |seconds| instant_at(seconds, self.now, self.seconds);
        (instant(commands.GPUStartTime()), instant(commands.GPUEndTime()))
    }
}
