//! The functions of libdispatch that Metal programs use. Its objects are Objective-C objects.
//!
//! A serial queue runs its work on a thread that lives while there is any; a concurrent one on as many threads as there are
//! items that can run.

mod data;
mod wait;

use crate::foundation::data::NS_DATA;
use crate::foundation::object::NS_OBJECT;
use crate::runtime::block::{Block, Kept};
use crate::runtime::object::{lock, release, retain};
use crate::runtime::{Class, Id, Strong, pool};
use std::collections::VecDeque;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::{Arc, Mutex};
use wait::{Group, Semaphore};

pub(crate) static CLASSES: &[&Class] =
    &[&OS_DISPATCH_DATA, &OS_DISPATCH_QUEUE, &OS_DISPATCH_SEMAPHORE, &OS_DISPATCH_GROUP];

/// Work of a queue.
type Job = Box<dyn FnOnce() + Send>;

/// A queue.
pub(crate) struct DispatchQueue {
    label: CString,
    jobs: Arc<Jobs>,
}

struct Jobs {
    is_concurrent: bool,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// Jobs, and true for those that run alone.
    jobs: VecDeque<(Job, bool)>,
    running: usize,
    /// True while a job runs that runs alone.
    is_alone: bool,
}

class! {
    OS_DISPATCH_DATA = "OS_dispatch_data": NS_DATA, as Bytes, ["OS_dispatch_data"]
    methods {
    }
}
class! {
    OS_DISPATCH_QUEUE = "OS_dispatch_queue": NS_OBJECT, new DispatchQueue, ["OS_dispatch_queue"]
    methods {
    }
}
class! {
    OS_DISPATCH_SEMAPHORE = "OS_dispatch_semaphore": NS_OBJECT, new Semaphore, ["OS_dispatch_semaphore"]
    methods {
    }
}
class! {
    OS_DISPATCH_GROUP = "OS_dispatch_group": NS_OBJECT, new Group, ["OS_dispatch_group"]
    methods {
    }
}

impl DispatchQueue {
    fn strong(label: CString, is_concurrent: bool) -> Strong {
        let jobs = Arc::new(Jobs { is_concurrent, waiting: Mutex::default() });
        Strong::new(DispatchQueue { label, jobs })
    }
}

impl Jobs {
    fn run(self: &Arc<Self>, job: Job, is_barrier: bool) {
        lock(&self.waiting).jobs.push_back((job, is_barrier || !self.is_concurrent));
        self.start();
    }

    /// The next job, if it can run now; it counts as running.
    fn take(&self) -> Option<Job> {
        let mut waiting = lock(&self.waiting);
        let (_, alone) = waiting.jobs.front()?;
        if waiting.is_alone || (*alone && waiting.running > 0) {
            return None;
        }
        let (job, alone) = waiting.jobs.pop_front()?;
        waiting.running += 1;
        waiting.is_alone = alone;
        Some(job)
    }

    /// Starts a thread for each job that can run now.
    fn start(self: &Arc<Self>) {
        while let Some(job) = self.take() {
            let jobs = self.clone();
            std::thread::spawn(move || jobs.work(job));
        }
    }

    /// Runs a job, and goes on with those that can run then.
    fn work(self: Arc<Self>, first: Job) {
        let mut next = Some(first);
        while let Some(job) = next {
            pool::with(job);
            {
                let mut waiting = lock(&self.waiting);
                waiting.running -= 1;
                waiting.is_alone = false;
            }
            next = self.take();
            self.start();
        }
    }
}

/// Runs work on a queue; on a thread of its own without one.
pub(crate) fn run_on(queue: Id, job: impl FnOnce() + Send + 'static) {
    run(queue, job, false);
}

fn run(queue: Id, job: impl FnOnce() + Send + 'static, is_barrier: bool) {
    match queue.cast::<DispatchQueue>() {
        Some(queue) => queue.jobs.run(Box::new(job), is_barrier),
        None => drop(std::thread::spawn(move || pool::with(job))),
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_retain(object: Id) {
    retain(object);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_release(object: Id) {
    release(object);
}

/// The attribute of serial queues is null; any other is taken for that of concurrent ones.
///
/// # Safety
///
/// The label is null or a C string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dispatch_queue_create(label: *const c_char, attribute: *const c_void) -> Id {
    // SAFETY: as the caller promises.
    let label = if label.is_null() { CString::default() } else { unsafe { CStr::from_ptr(label) }.to_owned() };
    DispatchQueue::strong(label, !attribute.is_null()).into_id()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_queue_get_label(queue: Id) -> *const c_char {
    queue.cast::<DispatchQueue>().map_or(c"".as_ptr(), |queue| queue.label.as_ptr())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_get_global_queue(_: isize, _: usize) -> Id {
    static GLOBAL: std::sync::OnceLock<Id> = std::sync::OnceLock::new();
    *GLOBAL.get_or_init(|| {
        // It lives as long as the process: it is no leak.
        OS_DISPATCH_QUEUE.data.live.fetch_sub(1, Ordering::Relaxed);
        DispatchQueue::strong(c"com.apple.root.default-qos".to_owned(), true).into_id()
    })
}

/// The attribute of concurrent queues, of which only the address counts.
#[allow(non_upper_case_globals, reason = "the library's name")]
#[unsafe(no_mangle)]
pub(crate) static _dispatch_queue_attr_concurrent: [usize; 4] = [0; 4];

/// Any quality of service has the same threads.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_queue_attr_make_with_qos_class(
    attribute: *const c_void,
    _: u32,
    _: i32,
) -> *const c_void {
    attribute
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_async(queue: Id, block: Block) {
    if let Some(block) = Kept::new(block) {
        // SAFETY: the function takes blocks without parameters.
        run_on(queue, move || unsafe { block.call() });
    }
}

/// Runs a block when those before it have ended, and those behind it wait.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_barrier_async(queue: Id, block: Block) {
    if let Some(block) = Kept::new(block) {
        // SAFETY: the function takes blocks without parameters.
        run(queue, move || unsafe { block.call() }, true);
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_sync(queue: Id, block: Block) {
    let Some(block) = Kept::new(block) else { return };
    let (sender, done) = std::sync::mpsc::channel();
    run_on(queue, move || {
        // SAFETY: the function takes blocks without parameters.
        unsafe { block.call() };
        drop(block);
        let _ = sender.send(());
    });
    let _ = done.recv();
}

/// A C function with its argument.
struct Call(extern "C-unwind" fn(*mut c_void), *mut c_void);
// SAFETY: the program passes it to be called on another thread.
unsafe impl Send for Call {}

impl Call {
    fn call(self) {
        self.0(self.1);
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_async_f(
    queue: Id,
    context: *mut c_void,
    work: extern "C-unwind" fn(*mut c_void),
) {
    let call = Call(work, context);
    run_on(queue, move || call.call());
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_sync_f(queue: Id, context: *mut c_void, work: extern "C-unwind" fn(*mut c_void)) {
    let (sender, done) = std::sync::mpsc::channel();
    let call = Call(work, context);
    run_on(queue, move || {
        call.call();
        let _ = sender.send(());
    });
    let _ = done.recv();
}

/// Iterations run one after the other, on the calling thread.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_apply(count: usize, _queue: Id, block: Block) {
    if let Some(block) = Kept::new(block) {
        // SAFETY: the function takes blocks with one number.
        (0..count).for_each(|number| unsafe { block.call1(number) });
    }
}

/// # Safety
///
/// `done` is 0 before the first call, and changed by nobody else.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dispatch_once(done: *mut isize, block: Block) {
    static LOCK: Mutex<()> = Mutex::new(());
    // SAFETY: as the caller promises.
    let done = unsafe { AtomicIsize::from_ptr(done) };
    if done.load(Ordering::Acquire) != -1 {
        let _guard = lock(&LOCK);
        if done.load(Ordering::Acquire) != -1 {
            if let Some(block) = Kept::new(block) {
                // SAFETY: the function takes blocks without parameters.
                unsafe { block.call() };
            }
            done.store(-1, Ordering::Release);
        }
    }
}
