//! NSLock, NSRecursiveLock and NSCondition.

use super::object::NS_OBJECT;
use crate::debug;
use crate::runtime::object::lock;
use crate::runtime::{Fields, Id, Strong};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

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

/// A lock, and threads that wait for a signal.
#[derive(Default)]
pub(crate) struct Waited {
    lock: Held,
    /// The number of signals, and of those that woke a thread.
    signals: Mutex<(usize, usize)>,
    signaled: Condvar,
}

impl Waited {
    /// Waits for a signal without the lock; false if the time is over.
    fn wait(&self, here: &str, most: Option<Duration>) -> bool {
        let mut signals = lock(&self.signals);
        signals.1 += 1;
        let turn = signals.1;
        self.lock.exit(here);
        let is_early = |signals: &mut (usize, usize)| signals.0 < turn;
        let (mut signals, is_over) = match most {
            None => (self.signaled.wait_while(signals, is_early).unwrap_or_else(PoisonError::into_inner), false),
            Some(most) => {
                let (signals, result) = self
                    .signaled
                    .wait_timeout_while(signals, most, is_early)
                    .unwrap_or_else(PoisonError::into_inner);
                (signals, result.timed_out())
            }
        };
        // One that gave up leaves its turn to the next.
        if is_over {
            signals.1 -= 1;
        }
        drop(signals);
        self.lock.enter(here, false);
        !is_over
    }

    fn signal(&self, all: bool) {
        let mut signals = lock(&self.signals);
        let (done, waiting) = *signals;
        signals.0 = if all { waiting } else { waiting.min(done + 1) };
        drop(signals);
        self.signaled.notify_all();
    }
}

class! {
    NS_CONDITION = "NSCondition": NS_OBJECT, default Waited, ["NSLocking"]
    methods {
        - "lock" (this) { this.lock.enter(HERE, false) }
        - "unlock" (this) { this.lock.exit(HERE) }
        - "wait" (this) { this.wait(HERE, None); }
        - "waitUntilDate:" (this, date: Id) -> bool { this.wait(HERE, Some(super::time::until(date).unwrap_or_default())) }
        - "signal" (this) { this.signal(false) }
        - "broadcast" (this) { this.signal(true) }
        - "name" (this) -> Id { this.lock.name.lock().clone().autorelease() }
        - "setName:" (this, name: Id) { let _old = std::mem::replace(&mut *this.lock.name.lock(), Strong::retain(name)); }
    }
}
