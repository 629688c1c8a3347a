//! Coverage: a complete test run ends with a check that every kernel of the library ran.

use crate::device::device;
use metalworks_inference::metal::kernels::ALL;
use std::collections::BTreeSet;

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
    let keys = device().pipelines().keys();
    let ran: BTreeSet<&str> = keys.iter().map(|key| key.kernel()).collect();
    let missing: Vec<&str> = ALL.iter().map(|kernel| kernel.name).filter(|name| !ran.contains(name)).collect();
    if !missing.is_empty() {
        return Err(format!("no test ran these kernels: {}", missing.join(", ")));
    }
    Ok(())
}
