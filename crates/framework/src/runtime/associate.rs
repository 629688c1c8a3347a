//! Objects that programs associate with others, and locks of objects (`@synchronized`).

use super::object::{HAS_ASSOCIATED, Id, lock, release, retain};
use super::{Sel, pool, send};
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::ThreadId;

/// An associated object with its key.
struct Associated {
    key: usize,
    value: Id,
    is_owned: bool,
}

impl Drop for Associated {
    fn drop(&mut self) {
        if self.is_owned {
            release(self.value);
        }
    }
}

/// The associated objects of each object.
static VALUES: Mutex<Option<HashMap<usize, Vec<Associated>>>> = Mutex::new(None);

/// `OBJC_ASSOCIATION_ASSIGN`
const ASSIGN: usize = 0;
/// `OBJC_ASSOCIATION_COPY`, atomic or not.
const COPY: usize = 3;

/// # Safety
///
/// An object that is assigned and not retained outlives its use.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn objc_setAssociatedObject(object: Id, key: *const c_void, value: Id, policy: usize) {
    if object.is_nil() {
        return;
    }
    let value = match policy & 0xff {
        ASSIGN => value,
        COPY => send::send(value, Sel::register(c"copy")),
        _ => retain(value),
    };
    let new = Associated { key: key.addr(), value, is_owned: policy & 0xff != ASSIGN };
    object.mark(HAS_ASSOCIATED);
    let old = {
        let mut values = lock(&VALUES);
        let own = values.get_or_insert_default().entry(object.0.addr()).or_default();
        let old = own.iter().position(|own| own.key == new.key).map(|at| own.swap_remove(at));
        if !new.value.is_nil() {
            own.push(new);
        }
        old
    };
    // Outside the lock: a release may run any code.
    drop(old);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_getAssociatedObject(object: Id, key: *const c_void) -> Id {
    let values = lock(&VALUES);
    let own = values.as_ref().and_then(|values| values.get(&object.0.addr()));
    let value = own.and_then(|own| own.iter().find(|own| own.key == key.addr())).map(|own| retain(own.value));
    drop(values);
    pool::objc_autorelease(value.unwrap_or(Id::NIL))
}

/// Also called when the object is deallocated.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_removeAssociatedObjects(object: Id) {
    let removed = lock(&VALUES).as_mut().and_then(|values| values.remove(&object.0.addr()));
    drop(removed);
}

/// A lock that its thread can take again.
#[derive(Default)]
pub(super) struct Monitor {
    holder: Mutex<Option<(ThreadId, usize)>>,
    left: Condvar,
}

/// The locks that are held or waited for, by object.
static MONITORS: Mutex<Option<HashMap<usize, Arc<Monitor>>>> = Mutex::new(None);

impl Monitor {
    pub(super) const fn new() -> Monitor {
        Monitor { holder: Mutex::new(None), left: Condvar::new() }
    }

    pub(super) fn enter(&self) {
        let me = std::thread::current().id();
        let is_other = |holder: &mut Option<(ThreadId, usize)>| holder.is_some_and(|(holder, _)| holder != me);
        let mut holder = self.left.wait_while(lock(&self.holder), is_other).unwrap_or_else(PoisonError::into_inner);
        *holder = Some((me, holder.map_or(1, |(_, depth)| depth + 1)));
    }

    /// False if the thread does not hold it.
    pub(super) fn exit(&self) -> bool {
        let mut holder = lock(&self.holder);
        match *holder {
            Some((thread, depth)) if thread == std::thread::current().id() => {
                *holder = (depth > 1).then_some((thread, depth - 1));
                self.left.notify_one();
                true
            }
            _ => false,
        }
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_sync_enter(object: Id) -> c_int {
    if !object.is_nil() {
        let monitor = lock(&MONITORS).get_or_insert_default().entry(object.0.addr()).or_default().clone();
        monitor.enter();
    }
    0
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_sync_exit(object: Id) -> c_int {
    if object.is_nil() {
        return 0;
    }
    let mut monitors = lock(&MONITORS);
    let Some(monitor) = monitors.get_or_insert_default().get(&object.0.addr()).cloned() else { return 1 };
    let was_held = monitor.exit();
    // Two references are ours: nobody else has it or waits for it.
    if Arc::strong_count(&monitor) == 2
        && lock(&monitor.holder).is_none()
        && let Some(monitors) = monitors.as_mut()
    {
        monitors.remove(&object.0.addr());
    }
    c_int::from(!was_held)
}
