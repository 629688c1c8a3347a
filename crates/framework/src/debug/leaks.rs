//! Objects that exist when the process ends: `METALWORKS_LEAKS=1` prints them, and with `METALWORKS_LEAKS=fail` they are an
//! error of the process.

use crate::runtime::Class;
use crate::runtime::class::with_classes;
use std::ffi::{CStr, c_char};
use std::sync::Once;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The status of a process that leaks.
const LEAKED: i32 = 86;

fn live(class: &Class) -> isize {
    class.data.live.load(Ordering::Relaxed)
}

/// Prepares the report at the end of the process, if it is wanted.
pub(crate) fn watch() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        let function = match std::env::var("METALWORKS_LEAKS").as_deref() {
            Ok("" | "0") | Err(_) => return,
            Ok("fail") => fail,
            Ok(_) => print,
        };
        // SAFETY: the functions do not unwind.
        unsafe { libc::atexit(function) };
    });
}

/// The classes with instances. Threads that end with the process may hold some for a moment: they are waited for.
fn left() -> Vec<(&'static str, isize)> {
    const MOST: Duration = Duration::from_secs(5);
    let begun = Instant::now();
    loop {
        let mut found: Vec<(&'static str, isize)> = with_classes(|classes| {
            // A class may have several names.
            let own = classes.iter().filter(|(name, class)| **name == class.c_name());
            own.map(|(_, class)| (class.name(), live(class))).filter(|(_, count)| *count != 0).collect()
        });
        if found.is_empty() || begun.elapsed() > MOST {
            found.sort_unstable();
            return found;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

extern "C" fn print() {
    for (name, count) in left() {
        super::print(format_args!("leak: {count} of {name}"));
    }
}

extern "C" fn fail() {
    let left = left();
    for (name, count) in &left {
        super::print(format_args!("leak: {count} of {name}"));
    }
    if !left.is_empty() {
        // SAFETY: ends the process; what was registered before this function does not run.
        unsafe { libc::_exit(LEAKED) };
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
