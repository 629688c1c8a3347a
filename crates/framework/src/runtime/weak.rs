//! Weak references: places that become nil when their object is deallocated.

use super::object::{HAS_WEAK, lock};
use super::{Id, pool};
use std::collections::HashMap;
use std::sync::Mutex;

/// The places of weak references to each object, by address.
static PLACES: Mutex<Option<HashMap<usize, Vec<usize>>>> = Mutex::new(None);

fn with<T>(work: impl FnOnce(&mut HashMap<usize, Vec<usize>>) -> T) -> T {
    work(lock(&PLACES).get_or_insert_default())
}

/// Called for an object that is deallocated.
pub(crate) fn clear(object: Id) {
    with(|places| {
        for place in places.remove(&object.0.addr()).unwrap_or_default() {
            // SAFETY: a place is removed from the table before it goes away (`objc_destroyWeak`).
            unsafe { std::ptr::with_exposed_provenance_mut::<Id>(place).write(Id::NIL) };
        }
    });
}

/// # Safety
///
/// `place` is not yet in use.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_initWeak(place: *mut Id, object: Id) -> Id {
    // SAFETY: as the caller promises.
    unsafe { place.write(Id::NIL) };
    // SAFETY: as the caller promises.
    unsafe { objc_storeWeak(place, object) }
}

/// # Safety
///
/// `place` is a weak reference.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_storeWeak(place: *mut Id, object: Id) -> Id {
    with(|places| {
        // SAFETY: as the caller promises; the lock keeps other threads away.
        let old = unsafe { place.replace(object) };
        if let Some(of_old) = places.get_mut(&old.0.addr()) {
            of_old.retain(|other| *other != place.addr());
        }
        if !object.is_nil() {
            object.mark(HAS_WEAK);
            places.entry(object.0.addr()).or_default().push(place.expose_provenance());
        }
    });
    object
}

/// # Safety
///
/// `place` is a weak reference.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_loadWeakRetained(place: *mut Id) -> Id {
    with(|_| {
        // SAFETY: as the caller promises. An object in it is not freed before `clear`, which waits for the lock.
        let object = unsafe { place.read() };
        if !object.is_nil() && object.try_retain() { object } else { Id::NIL }
    })
}

/// # Safety
///
/// `place` is a weak reference.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_loadWeak(place: *mut Id) -> Id {
    // SAFETY: as the caller promises.
    pool::objc_autorelease(unsafe { objc_loadWeakRetained(place) })
}

/// # Safety
///
/// `place` is a weak reference.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_destroyWeak(place: *mut Id) {
    // SAFETY: as the caller promises.
    unsafe { objc_storeWeak(place, Id::NIL) };
}

/// # Safety
///
/// `from` is a weak reference, and `to` is not yet in use.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_copyWeak(to: *mut Id, from: *mut Id) {
    // SAFETY: as the caller promises.
    unsafe {
        let object = objc_loadWeakRetained(from);
        objc_initWeak(to, object);
        super::object::release(object);
    }
}

/// # Safety
///
/// As [`objc_copyWeak`]; `from` is not used any more.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_moveWeak(to: *mut Id, from: *mut Id) {
    // SAFETY: as the caller promises.
    unsafe {
        objc_copyWeak(to, from);
        objc_destroyWeak(from);
    }
}
