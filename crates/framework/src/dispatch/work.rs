//! Work for queues: blocks, and C functions with an argument.

use super::queue::{jobs_of, run};
use crate::runtime::block::{Block, Kept};
use crate::runtime::object::lock;
use crate::runtime::{Id, pool};
use std::ffi::c_void;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Condvar, Mutex, PoisonError};

/// A C function of a program.
pub(super) type Function = extern "C-unwind" fn(*mut c_void);

/// A block without parameters, or a C function with its argument.
pub(super) enum Work {
    Block(Kept),
    Function(Function, *mut c_void),
}
// SAFETY: the program passes it to be called on another thread.
unsafe impl Send for Work {}

impl Work {
    /// `None` for a null block.
    pub(super) fn block(block: Block) -> Option<Work> {
        Kept::new(block).map(Work::Block)
    }

    pub(super) fn call(self) {
        match self {
            // SAFETY: the functions of this library take blocks without parameters.
            Work::Block(block) => unsafe { block.call() },
            Work::Function(function, context) => function(context),
        }
    }
}

fn start(queue: Id, work: Option<Work>, is_barrier: bool) {
    if let Some(work) = work {
        run(jobs_of(queue), move || work.call(), is_barrier);
    }
}

/// Runs work when it is its turn, on this thread, as libdispatch does: the work may need a lock that this thread has. Only
/// the main queue has a thread of its own.
fn run_and_wait(queue: Id, work: Option<Work>, is_barrier: bool) {
    let Some(work) = work else { return };
    let Some(jobs) = jobs_of(queue) else { return pool::with(|| work.call()) };
    let (ready, is_ready) = channel();
    if jobs.is_main() {
        jobs.run(
            Box::new(move || {
                work.call();
                let _ = ready.send(());
            }),
            is_barrier,
        );
        let _ = is_ready.recv();
        return;
    }
    let (done, is_done) = channel::<()>();
    jobs.run(
        Box::new(move || {
            let _ = ready.send(());
            let _ = is_done.recv();
        }),
        is_barrier,
    );
    let _ = is_ready.recv();
    jobs.with(|| work.call());
    drop(done);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_async(queue: Id, block: Block) {
    start(queue, Work::block(block), false);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_async_f(queue: Id, context: *mut c_void, work: Function) {
    start(queue, Some(Work::Function(work, context)), false);
}

/// Runs a block when those before it have ended, and those behind it wait.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_barrier_async(queue: Id, block: Block) {
    start(queue, Work::block(block), true);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_barrier_async_f(queue: Id, context: *mut c_void, work: Function) {
    start(queue, Some(Work::Function(work, context)), true);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_sync(queue: Id, block: Block) {
    run_and_wait(queue, Work::block(block), false);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_sync_f(queue: Id, context: *mut c_void, work: Function) {
    run_and_wait(queue, Some(Work::Function(work, context)), false);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_barrier_sync(queue: Id, block: Block) {
    run_and_wait(queue, Work::block(block), true);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_barrier_sync_f(queue: Id, context: *mut c_void, work: Function) {
    run_and_wait(queue, Some(Work::Function(work, context)), true);
}

/// Iterations run one after the other, on the calling thread.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_apply(count: usize, _queue: Id, block: Block) {
    if let Some(block) = Kept::new(block) {
        // SAFETY: the function takes blocks with one number.
        (0..count).for_each(|number| unsafe { block.call1(number) });
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_apply_f(
    count: usize,
    _queue: Id,
    context: *mut c_void,
    work: extern "C-unwind" fn(*mut c_void, usize),
) {
    (0..count).for_each(|number| work(context, number));
}

const NOT_BEGUN: isize = 0;
const RUNNING: isize = 1;
const DONE: isize = -1;

/// Calls `work` if `done` says that nobody did; waits for one that does. Work may itself begin other work once.
fn once(done: &AtomicIsize, work: impl FnOnce()) {
    static LOCK: Mutex<()> = Mutex::new(());
    static CHANGED: Condvar = Condvar::new();
    match done.compare_exchange(NOT_BEGUN, RUNNING, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            work();
            // Under the lock, or a waiter misses the wake-up.
            let _guard = lock(&LOCK);
            done.store(DONE, Ordering::Release);
            CHANGED.notify_all();
        }
        Err(DONE) => {}
        Err(_) => {
            let is_running = |_: &mut ()| done.load(Ordering::Acquire) != DONE;
            drop(CHANGED.wait_while(lock(&LOCK), is_running).unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// # Safety
///
/// `done` is 0 before the first call, and changed by nobody else.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dispatch_once(done: *mut isize, block: Block) {
    // SAFETY: as the caller promises.
    once(unsafe { AtomicIsize::from_ptr(done) }, || Work::block(block).into_iter().for_each(Work::call));
}

/// # Safety
///
/// As [`dispatch_once`].
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dispatch_once_f(done: *mut isize, context: *mut c_void, work: Function) {
    // SAFETY: as the caller promises.
    once(unsafe { AtomicIsize::from_ptr(done) }, || work(context));
}
