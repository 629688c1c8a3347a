//! Objects that exist when the process ends. `METALWORKS_LEAKS=1` prints their number by class, `fail` makes them an error of
//! the process, and `fail:CLASS,CLASS` excepts classes whose instances it keeps.

use crate::runtime::Class;
use crate::runtime::class::with_classes;
use std::ffi::{CStr, c_char};
use std::sync::atomic::Ordering;
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};

/// The status of a process that leaks.
const LEAKED: i32 = 86;

fn live(class: &Class) -> isize {
    class.data.live.load(Ordering::Relaxed)
}

/// The report that the environment asks for.
struct Report {
    is_failure: bool,
    /// Classes whose instances a program keeps to its end.
    kept: Vec<String>,
}

/// Reads `1`, `fail`, or `fail:CLASS,CLASS`; nothing is wanted otherwise.
fn wanted(value: &str) -> Option<Report> {
    let (mode, kept) = value.split_once(':').unwrap_or((value, ""));
    let kept = kept.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    (!mode.is_empty() && mode != "0").then(|| Report { is_failure: mode == "fail", kept })
}

static REPORT: OnceLock<Report> = OnceLock::new();

/// Prepares the report at the end of the process, if it is wanted.
pub(crate) fn watch() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        if let Some(report) = std::env::var("METALWORKS_LEAKS").ok().and_then(|value| wanted(&value))
            && REPORT.set(report).is_ok()
        {
            // SAFETY: the function does not unwind.
            unsafe { libc::atexit(print) };
        }
        // Functions run in the opposite order, and leaks end the process.
        super::messages::watch();
    });
}

/// The classes with instances. Threads that end with the process may hold some for a moment: they are waited for.
fn left(kept: &[String]) -> Vec<(&'static str, isize)> {
    const MOST: Duration = Duration::from_secs(5);
    let begun = Instant::now();
    loop {
        let mut found: Vec<(&'static str, isize)> = with_classes(|classes| {
            // A class may have several names.
            let own = classes.iter().filter(|(name, class)| **name == class.c_name());
            own.map(|(_, class)| (class.name(), live(class))).filter(|(_, count)| *count != 0).collect()
        });
        found.retain(|(name, _)| !kept.iter().any(|kept| kept == name));
        if found.is_empty() || begun.elapsed() > MOST {
            found.sort_unstable();
            return found;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

extern "C" fn print() {
    let Some(Report { is_failure, kept }) = REPORT.get() else { return };
    crate::runtime::pool::release_late();
    let left = left(kept);
    for (name, count) in &left {
        super::print(format_args!("leak: {count} of {name}"));
    }
    if *is_failure && !left.is_empty() {
        // SAFETY: ends the process; what was registered before this function does not run, so that the program's own output
        // is written here.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(LEAKED)
        };
    }
}

/// The number of instances of a class that exist, without those of its subclasses; -1 if there is no such class.
///
/// # Safety
///
/// The name is a C string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn metalworks_live_objects(name: *const c_char) -> isize {
    // SAFETY: as the caller promises.
    let name = unsafe { CStr::from_ptr(name) };
    crate::runtime::class::find(name).map_or(-1, live)
}
