//! Values that all tests of a program share.

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, Once, PoisonError};

type Dropper = Box<dyn FnOnce() + Send>;

static DROPPERS: Mutex<Vec<Dropper>> = Mutex::new(Vec::new());

/// Keeps a value until the process ends, and drops it then, which a static does not: over our framework for Linux, objects
/// that are left at the end are errors.
pub(crate) fn until_exit<T: Send + Sync + 'static>(value: T) -> &'static T {
    static REGISTERED: Once = Once::new();
    // SAFETY: the function exists until the process ends, and takes and returns nothing.
    REGISTERED.call_once(|| assert_eq!(unsafe { libc::atexit(drop_all) }, 0, "there is room for a function"));
    let value = AtomicPtr::new(Box::into_raw(Box::new(value)));
    let shared: *const T = value.load(Ordering::Acquire);
    // SAFETY: it is a box, dropped once, when no test uses the value any more.
    let drop_it: Dropper = Box::new(move || drop(unsafe { Box::from_raw(value.into_inner()) }));
    DROPPERS.lock().unwrap_or_else(PoisonError::into_inner).push(drop_it);
    // SAFETY: it lives until the process ends.
    unsafe { &*shared }
}

/// Drops the values after the last test, the newest first.
extern "C" fn drop_all() {
    let droppers = std::mem::take(&mut *DROPPERS.lock().unwrap_or_else(PoisonError::into_inner));
    droppers.into_iter().rev().for_each(|drop_it| drop_it());
}
