//! Semaphores and groups, which threads wait for, and times.

use super::run_on;
use crate::runtime::block::{Block, Kept};
use crate::runtime::object::lock;
use crate::runtime::{Id, Strong};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A counter that threads wait for.
#[derive(Default)]
pub(crate) struct Semaphore {
    value: Mutex<isize>,
    changed: Condvar,
}

const NOW: u64 = 0;
const FOREVER: u64 = !0;

impl Semaphore {
    /// Waits until the value is positive and decrements it; false if the time is over.
    fn wait(&self, until: u64) -> bool {
        let deadline = if until == FOREVER { None } else { Some(Instant::now() + left(until)) };
        let mut value = lock(&self.value);
        while *value <= 0 {
            match deadline {
                None => value = self.changed.wait(value).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    let waited = self.changed.wait_timeout(value, left).unwrap_or_else(PoisonError::into_inner);
                    value = waited.0;
                }
            }
        }
        *value -= 1;
        true
    }
}

fn nanoseconds() -> u64 {
    (crate::foundation::process::uptime() * 1e9) as u64
}

fn left(until: u64) -> Duration {
    Duration::from_nanos(until.saturating_sub(nanoseconds()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_time(from: u64, delta: i64) -> u64 {
    match from {
        FOREVER => FOREVER,
        NOW => nanoseconds().saturating_add_signed(delta),
        from => from.saturating_add_signed(delta),
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_semaphore_create(value: isize) -> Id {
    Strong::new(Semaphore { value: Mutex::new(value), changed: Condvar::new() }).into_id()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_semaphore_signal(semaphore: Id) -> isize {
    if let Some(semaphore) = semaphore.cast::<Semaphore>() {
        *lock(&semaphore.value) += 1;
        semaphore.changed.notify_one();
    }
    0
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_semaphore_wait(semaphore: Id, until: u64) -> isize {
    semaphore.cast::<Semaphore>().map_or(0, |semaphore| isize::from(!semaphore.wait(until)))
}

/// Work that somebody waits for.
#[derive(Default)]
pub(crate) struct Group {
    running: Mutex<usize>,
    changed: Condvar,
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_group_create() -> Id {
    Strong::new(Group::default()).into_id()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_group_enter(group: Id) {
    if let Some(group) = group.cast::<Group>() {
        *lock(&group.running) += 1;
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_group_leave(group: Id) {
    if let Some(group) = group.cast::<Group>() {
        let mut running = lock(&group.running);
        *running = running.saturating_sub(1);
        group.changed.notify_all();
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_group_async(group: Id, queue: Id, block: Block) {
    let (Some(block), kept) = (Kept::new(block), Strong::retain(group)) else { return };
    dispatch_group_enter(group);
    run_on(queue, move || {
        // SAFETY: the function takes blocks without parameters.
        unsafe { block.call() };
        drop(block);
        dispatch_group_leave(kept.id());
    });
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_group_wait(group: Id, until: u64) -> isize {
    let Some(group) = group.cast::<Group>() else { return 0 };
    let is_busy = |running: &mut usize| *running > 0;
    let running = lock(&group.running);
    if until == FOREVER {
        drop(group.changed.wait_while(running, is_busy).unwrap_or_else(PoisonError::into_inner));
        return 0;
    }
    let waited = group.changed.wait_timeout_while(running, left(until), is_busy);
    isize::from(waited.unwrap_or_else(PoisonError::into_inner).1.timed_out())
}

/// Runs a block when the group has nothing to do any more.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_group_notify(group: Id, queue: Id, block: Block) {
    let (Some(block), group, queue) = (Kept::new(block), Strong::retain(group), Strong::retain(queue)) else {
        return;
    };
    std::thread::spawn(move || {
        dispatch_group_wait(group.id(), FOREVER);
        drop(group);
        // SAFETY: the function takes blocks without parameters.
        run_on(queue.id(), move || unsafe { block.call() });
    });
}

/// Runs a block at a time.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_after(when: u64, queue: Id, block: Block) {
    let (Some(block), queue) = (Kept::new(block), Strong::retain(queue)) else { return };
    std::thread::spawn(move || {
        std::thread::sleep(left(when));
        // SAFETY: the function takes blocks without parameters.
        run_on(queue.id(), move || unsafe { block.call() });
    });
}
