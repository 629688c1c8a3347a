//! Coverage: a complete test run ends with a check that every kernel of the library was executed.

use crate::device::device;
use compute::{DeviceKind, DispatchTiming};
use metalworks_inference::metal::MetalDevice;
use metalworks_inference::metal::kernels::ALL;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Kernels that ran.
static EXECUTED: Mutex<BTreeSet<Arc<str>>> = Mutex::new(BTreeSet::new());

/// True if the command buffers of the tests are profiled: a profile lists the dispatches that were executed. On a GPU,
/// it would also part them, and hide missing barriers between them.
pub(crate) fn is_profiled(device: &MetalDevice) -> bool {
    device.device().kind() == DeviceKind::Cpu
}

/// Notes the dispatches of a command buffer that has completed without an error.
pub(crate) fn note(dispatches: &[DispatchTiming]) {
    let mut executed = EXECUTED.lock().unwrap_or_else(PoisonError::into_inner);
    executed.extend(dispatches.iter().map(|dispatch| dispatch.kernel.clone()));
}

/// Registers [`at_exit`] for the end of the process, when all tests have run.
pub(crate) fn watch() {
    // SAFETY: the function exists until the process ends, and takes and returns nothing.
    let registered = unsafe { libc::atexit(at_exit) };
    assert_eq!(registered, 0, "there is room for a function to call at the end");
}

#[allow(clippy::print_stderr, reason = "there is no test left to fail")]
extern "C" fn at_exit() {
    // A filtered run cannot cover all kernels.
    let harmless = |argument: &str| argument.starts_with("--test-threads") || argument == "--nocapture";
    if !std::env::args().skip(1).all(|argument| harmless(&argument)) {
        return;
    }
    if let Err(problem) = check() {
        eprintln!("{problem}");
        // SAFETY: it ends the process, whose tests are done.
        unsafe { libc::_exit(1) };
    }
}

fn check() -> Result<(), String> {
    let mut executed = EXECUTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !is_profiled(device()) {
        executed.extend(device().pipelines().keys().iter().map(|key| Arc::from(key.kernel())));
    }
    let missing: Vec<&str> =
        ALL.iter().map(|kernel| kernel.name).filter(|name| !executed.contains(*name)).collect();
    if !missing.is_empty() {
        return Err(format!("no test ran these kernels: {}", missing.join(", ")));
    }
    Ok(())
}
