//! Accessors of properties that clang emits calls for.
//!
//! A property that is atomic is guarded by one of a few locks, chosen by its address.

use super::object::{Id, lock, release, retain};
use super::{Flag, Sel, pool, send};
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard};

const LOCKS: usize = 16;
static GUARDS: [Mutex<()>; LOCKS] = [const { Mutex::new(()) }; LOCKS];

fn guard(place: usize, is_atomic: bool) -> Option<MutexGuard<'static, ()>> {
    is_atomic.then(|| lock(&GUARDS[place / 8 % LOCKS]))
}

fn place(object: Id, offset: isize) -> *mut Id {
    object.0.cast::<u8>().wrapping_offset(offset).cast()
}

/// # Safety
///
/// At the offset, the object has a variable with an object.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_getProperty(object: Id, _: Sel, offset: isize, is_atomic: Flag) -> Id {
    if object.is_nil() {
        return Id::NIL;
    }
    let place = place(object, offset);
    let guard = guard(place.addr(), is_atomic != 0);
    // SAFETY: as the caller promises.
    let value = retain(unsafe { place.read() });
    drop(guard);
    pool::objc_autorelease(value)
}

unsafe fn set(object: Id, offset: isize, value: Id, is_atomic: bool, is_copied: bool) {
    if object.is_nil() {
        return;
    }
    let value = if is_copied { send::send(value, Sel::register(c"copy")) } else { retain(value) };
    let place = place(object, offset);
    let guard = guard(place.addr(), is_atomic);
    // SAFETY: as the caller promises.
    let old = unsafe { place.replace(value) };
    drop(guard);
    release(old);
}

/// # Safety
///
/// As [`objc_getProperty`].
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_setProperty(
    object: Id,
    _: Sel,
    offset: isize,
    value: Id,
    is_atomic: Flag,
    is_copied: Flag,
) {
    // SAFETY: as the caller promises.
    unsafe { set(object, offset, value, is_atomic != 0, is_copied != 0) };
}

macro_rules! setters {
    ($($name:ident $is_atomic:literal $is_copied:literal,)*) => { $(
        /// # Safety
        ///
        /// As [`objc_getProperty`].
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name(object: Id, _: Sel, value: Id, offset: isize) {
            // SAFETY: as the caller promises.
            unsafe { set(object, offset, value, $is_atomic, $is_copied) };
        }
    )* };
}
setters! {
    objc_setProperty_atomic true false,
    objc_setProperty_nonatomic false false,
    objc_setProperty_atomic_copy true true,
    objc_setProperty_nonatomic_copy false true,
}

/// # Safety
///
/// Both places have that many bytes.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_copyPropertyStruct(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    is_atomic: Flag,
    _is_strong: Flag,
) {
    // One lock for all: either place can be the property.
    let guard = guard(0, is_atomic != 0);
    // SAFETY: as the caller promises.
    unsafe { to.cast::<u8>().copy_from(from.cast(), size) };
    drop(guard);
}

macro_rules! copies {
    ($($name:ident,)*) => { $(
        /// # Safety
        ///
        /// As [`objc_copyPropertyStruct`].
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name(
            to: *mut c_void, from: *const c_void, size: usize, is_atomic: Flag, is_strong: Flag,
        ) {
            // SAFETY: as the caller promises.
            unsafe { objc_copyPropertyStruct(to, from, size, is_atomic, is_strong) };
        }
    )* };
}
copies! { objc_getPropertyStruct, objc_setPropertyStruct, }
