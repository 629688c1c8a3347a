//! NSLock and NSRecursiveLock.

use super::object::NS_OBJECT;
use crate::debug;
use crate::runtime::object::lock;
use crate::runtime::{Fields, Id, Strong};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::ThreadId;

/// A lock, with the thread that holds it and the number of times.
#[derive(Default)]
pub(crate) struct Held {
    holder: Mutex<Option<(ThreadId, usize)>>,
    left: Condvar,
    name: Fields<Strong>,
}

impl Held {
    /// Takes it if no other thread holds it; false if not.
    fn try_enter(&self, again: bool) -> bool {
        let mut holder = lock(&self.holder);
        let me = std::thread::current().id();
        *holder = match *holder {
            None => Some((me, 1)),
            Some((thread, depth)) if thread == me && again => Some((me, depth + 1)),
            Some(_) => return false,
        };
        true
    }

    fn enter(&self, here: &str, again: bool) {
        let me = std::thread::current().id();
        if !again && lock(&self.holder).is_some_and(|(holder, _)| holder == me) {
            debug::fail(here, format_args!("deadlock: the thread holds the lock already."));
        }
        while !self.try_enter(again) {
            let is_held = |holder: &mut Option<_>| holder.is_some();
            let holder = lock(&self.holder);
            drop(self.left.wait_while(holder, is_held).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Unlocks it. Any thread may unlock an NSLock, which Apple calls undefined and programs do.
    fn exit(&self, here: &str) {
        let mut holder = lock(&self.holder);
        let Some((thread, depth)) = *holder else {
            drop(holder);
            return debug::fail(here, format_args!("unlock of a lock that is not locked."));
        };
        *holder = (depth > 1).then_some((thread, depth - 1));
        drop(holder);
        self.left.notify_one();
    }
}

class! {
    NS_LOCK = "NSLock": NS_OBJECT, default Held, ["NSLocking"]
    methods {
        - "lock" (this) { this.enter(HERE, false) }
        - "unlock" (this) { this.exit(HERE) }
        - "tryLock" (this) -> bool { this.try_enter(false) }
        - "name" (this) -> Id { this.name.lock().clone().autorelease() }
        - "setName:" (this, name: Id) { let _old = std::mem::replace(&mut *this.name.lock(), Strong::retain(name)); }
    }
}

class! {
    NS_RECURSIVE_LOCK = "NSRecursiveLock": NS_LOCK, as Held, []
    methods {
        - "lock" (this) { this.enter(HERE, true) }
        - "tryLock" (this) -> bool { this.try_enter(true) }
    }
}
