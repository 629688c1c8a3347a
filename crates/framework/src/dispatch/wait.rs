//! Semaphores and groups, which threads wait for, and times.

use super::queue::{jobs_of, run};
use super::run_on;
use super::work::{Function, Work};
use crate::runtime::block::Block;
use crate::runtime::object::lock;
use crate::runtime::{Id, Strong};
use std::ffi::c_void;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
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
    crate::foundation::process::nanoseconds(Instant::now())
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

/// Work that somebody waits for. What runs keeps the count, and not the object: a program counts objects.
#[derive(Default)]
pub(crate) struct Group(Arc<Running>);

#[derive(Default)]
struct Running {
    count: Mutex<usize>,
    changed: Condvar,
}

impl Running {
    fn enter(&self) {
        *lock(&self.count) += 1;
    }

    fn leave(&self) {
        let mut count = lock(&self.count);
        *count = count.saturating_sub(1);
        self.changed.notify_all();
    }

    /// Waits until nothing runs; false if the time is over.
    fn wait(&self, until: u64) -> bool {
        let is_busy = |count: &mut usize| *count > 0;
        let count = lock(&self.count);
        if until == FOREVER {
            drop(self.changed.wait_while(count, is_busy).unwrap_or_else(PoisonError::into_inner));
            return true;
        }
        let waited = self.changed.wait_timeout_while(count, left(until), is_busy);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

fn running(group: Id) -> Option<Arc<Running>> {
    group.cast::<Group>().map(|group| group.0.clone())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_group_create() -> Id {
    Strong::new(Group::default()).into_id()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_group_enter(group: Id) {
    if let Some(running) = running(group) {
        running.enter();
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_group_leave(group: Id) {
    if let Some(running) = running(group) {
        running.leave();
    }
}

fn start_in(group: Id, queue: Id, work: Option<Work>) {
    let (Some(work), Some(running)) = (work, running(group)) else { return };
    running.enter();
    run_on(queue, move || {
        work.call();
        running.leave();
    });
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_group_async(group: Id, queue: Id, block: Block) {
    start_in(group, queue, Work::block(block));
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_group_async_f(group: Id, queue: Id, context: *mut c_void, work: Function) {
    start_in(group, queue, Some(Work::Function(work, context)));
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_group_wait(group: Id, until: u64) -> isize {
    running(group).map_or(0, |running| isize::from(!running.wait(until)))
}

fn start_after_group(group: Id, queue: Id, work: Option<Work>) {
    let (Some(work), Some(running), jobs) = (work, running(group), jobs_of(queue)) else { return };
    std::thread::spawn(move || {
        running.wait(FOREVER);
        run(jobs, move || work.call(), false);
    });
}

/// Runs a block when the group has nothing to do any more.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_group_notify(group: Id, queue: Id, block: Block) {
    start_after_group(group, queue, Work::block(block));
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_group_notify_f(group: Id, queue: Id, context: *mut c_void, work: Function) {
    start_after_group(group, queue, Some(Work::Function(work, context)));
}

fn start_at(when: u64, queue: Id, work: Option<Work>) {
    let (Some(work), jobs) = (work, jobs_of(queue)) else { return };
    std::thread::spawn(move || {
        std::thread::sleep(left(when));
        run(jobs, move || work.call(), false);
    });
}

/// Runs a block at a time.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_after(when: u64, queue: Id, block: Block) {
    start_at(when, queue, Work::block(block));
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_after_f(when: u64, queue: Id, context: *mut c_void, work: Function) {
    start_at(when, queue, Some(Work::Function(work, context)));
}
