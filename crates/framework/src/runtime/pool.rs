//! Autorelease pools, a stack per thread.

use super::Id;
use super::object::{lock, release, retain};
use std::cell::RefCell;
use std::ffi::c_void;
use std::sync::Mutex;

thread_local! {
    static STACK: RefCell<Stack> = const { RefCell::new(Stack(Vec::new())) };
}

/// Objects to release, with nil where a pool begins. What is left when the thread ends is released then.
struct Stack(Vec<Id>);

impl Drop for Stack {
    fn drop(&mut self) {
        while let Some(object) = self.0.pop() {
            release(object);
        }
    }
}

/// Adds an object to the innermost pool.
pub(crate) fn add(object: Id) {
    if object.is_nil() {
        return;
    }
    let added = STACK.try_with(|stack| stack.borrow_mut().0.push(object));
    if added.is_err() {
        // The thread is ending, and its stack is gone: functions of `atexit` and destructors of C++ still use objects.
        lock(&LATE).push(object);
    }
}

/// Objects of threads without a stack, kept for the rest of the process.
static LATE: Mutex<Vec<Id>> = Mutex::new(Vec::new());

/// Releases the objects that were added too late for a pool, at the end of the process.
pub(crate) fn release_late() {
    loop {
        let Some(object) = lock(&LATE).pop() else { return };
        release(object);
    }
}

/// Runs `work` in a pool of its own.
pub(crate) fn with<T>(work: impl FnOnce() -> T) -> T {
    let pool = objc_autoreleasePoolPush();
    let result = work();
    objc_autoreleasePoolPop(pool);
    result
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_autoreleasePoolPush() -> *mut c_void {
    let depth = STACK.try_with(|stack| {
        let stack = &mut stack.borrow_mut().0;
        stack.push(Id::NIL);
        stack.len()
    });
    std::ptr::without_provenance_mut(depth.unwrap_or(0))
}

/// Releases everything since the push. An object may add others while it is deallocated: they go, too.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_autoreleasePoolPop(pool: *mut c_void) {
    let depth = pool.addr();
    if depth == 0 {
        return;
    }
    loop {
        let popped = STACK.try_with(|stack| {
            let stack = &mut stack.borrow_mut().0;
            if stack.len() >= depth { stack.pop() } else { None }
        });
        match popped {
            Ok(Some(object)) => release(object),
            Ok(None) | Err(_) => return,
        }
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_autorelease(object: Id) -> Id {
    add(object);
    object
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_autoreleaseReturnValue(object: Id) -> Id {
    objc_autorelease(object)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_retainAutorelease(object: Id) -> Id {
    objc_autorelease(retain(object))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_retainAutoreleaseReturnValue(object: Id) -> Id {
    objc_autorelease(retain(object))
}

/// Takes the reference back out of the pool if it went there last, which is the usual case.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn objc_retainAutoreleasedReturnValue(object: Id) -> Id {
    if object.is_nil() {
        return object;
    }
    let taken = STACK.try_with(|stack| {
        let stack = &mut stack.borrow_mut().0;
        (stack.last() == Some(&object)).then(|| stack.pop()).is_some()
    });
    if taken.unwrap_or(false) { object } else { retain(object) }
}
