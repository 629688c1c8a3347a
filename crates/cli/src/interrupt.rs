//! Ctrl-C, for kernels that do not end.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use compute::Device;
use signal_hook::consts::SIGINT;

use crate::output;

/// The exit status of a program that Ctrl-C ended.
pub(crate) const EXIT_STATUS: u8 = 130;

/// Pause between two attempts to stop the kernels of a device: work that begins later is not affected by the first.
const PAUSE: Duration = Duration::from_millis(10);

/// Time after which a device is considered unable to stop its kernels.
const PATIENCE: Duration = Duration::from_secs(2);

/// Calls `each` for every Ctrl-C, on a thread of its own. Without that thread, Ctrl-C has the effect that it had before.
pub(crate) fn on_interrupt(mut each: impl FnMut() + Send + 'static) {
    let Ok((mut reader, writer)) = UnixStream::pair() else { return };
    let watch = move || {
        let mut byte = [0];
        while reader.read_exact(&mut byte).is_ok() {
            each();
        }
    };
    if std::thread::Builder::new().name("interrupt".into()).spawn(watch).is_ok() {
        let _ = signal_hook::low_level::pipe::register(SIGINT, writer);
    }
}

/// Stops the kernels of a device until `is_done`; ends the program if they do not stop.
pub(crate) fn stop_kernels(device: &Device, is_done: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_done() {
        if start.elapsed() > PATIENCE {
            let _ = output::error("interrupted; the device does not stop its kernel");
            std::process::exit(EXIT_STATUS.into());
        }
        device.cancel();
        std::thread::sleep(PAUSE);
    }
}

/// Stops the kernels of a device on Ctrl-C. A second Ctrl-C ends the program.
pub(crate) struct KernelInterrupt {
    happened: Arc<AtomicBool>,
    is_done: Arc<AtomicBool>,
}

impl KernelInterrupt {
    pub(crate) fn new(device: &Device) -> KernelInterrupt {
        let interrupt = KernelInterrupt { happened: Arc::default(), is_done: Arc::default() };
        let KernelInterrupt { happened, is_done } = &interrupt;
        let (device, happened, is_done) = (device.clone(), happened.clone(), is_done.clone());
        on_interrupt(move || {
            happened.store(true, Ordering::Relaxed);
            let status = EXIT_STATUS.into();
            let _ = signal_hook::flag::register_conditional_shutdown(SIGINT, status, happened.clone());
            stop_kernels(&device, || is_done.load(Ordering::Relaxed));
        });
        interrupt
    }

    /// True if the user pressed Ctrl-C.
    pub(crate) fn happened(&self) -> bool {
        self.happened.load(Ordering::Relaxed)
    }
}

impl Drop for KernelInterrupt {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Relaxed);
    }
}
