//! Objects that exist: `METALWORKS_LEAKS=1` prints them when the process ends.

use crate::runtime::Class;
use crate::runtime::class::with_classes;
use std::ffi::{CStr, c_char};
use std::sync::Once;
use std::sync::atomic::Ordering;

fn live(class: &Class) -> isize {
    class.data.live.load(Ordering::Relaxed)
}

/// Prepares the report at the end of the process, if it is wanted.
pub(crate) fn watch() {
    static WATCHED: Once = Once::new();
    WATCHED.call_once(|| {
        if std::env::var_os("METALWORKS_LEAKS").is_some_and(|value| !value.is_empty() && value != "0") {
            // SAFETY: the function does not unwind.
            unsafe { libc::atexit(print) };
        }
    });
}

extern "C" fn print() {
    let mut found: Vec<(&str, isize)> =
        with_classes(|classes| classes.values().map(|class| (class.name(), live(class))).collect());
    found.retain(|(_, count)| *count != 0);
    found.sort_unstable();
    for (name, count) in found {
        super::print(format_args!("leak: {count} of {name}"));
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
