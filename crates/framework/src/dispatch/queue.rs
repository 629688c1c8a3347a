//! Queues.
//!
//! A serial queue runs its work on a thread that lives while there is any; a concurrent one on as many threads as there are
//! items that can run; the main queue on the thread that calls `dispatch_main`.

use super::{OS_DISPATCH_QUEUE, OS_DISPATCH_QUEUE_MAIN};
use crate::runtime::object::{Instance, lock};
use crate::runtime::{Id, Strong, pool};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};

/// Work of a queue.
type Job = Box<dyn FnOnce() + Send>;

/// A queue. The main one, which is a static, has its jobs from its first use on.
pub(crate) struct DispatchQueue(OnceLock<Arc<Jobs>>);

pub(super) struct Jobs {
    label: CString,
    threads: QueueThreads,
    waiting: Mutex<Waiting>,
    /// A job was added; for the thread of the main queue.
    added: Condvar,
    specific: Mutex<BTreeMap<usize, Specific>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum QueueThreads {
    One,
    Many,
    Main,
}

#[derive(Default)]
struct Waiting {
    /// Jobs, and true for those that run alone.
    jobs: VecDeque<(Job, bool)>,
    running: usize,
    /// True while a job runs that runs alone.
    is_alone: bool,
}

/// A value that a program keeps in a queue, and the function that releases it.
struct Specific(*mut c_void, Option<extern "C-unwind" fn(*mut c_void)>);
// SAFETY: the program passes it to be used on the threads of the queue.
unsafe impl Send for Specific {}

impl Drop for Specific {
    fn drop(&mut self) {
        if let Some(release) = self.1 {
            release(self.0);
        }
    }
}

thread_local! {
    /// The queue whose job this thread runs.
    static CURRENT: RefCell<Option<Arc<Jobs>>> = const { RefCell::new(None) };
}

impl DispatchQueue {
    fn strong(label: CString, threads: QueueThreads) -> Strong {
        Strong::new(DispatchQueue(OnceLock::from(Jobs::new(label, threads))))
    }

    pub(super) fn jobs(&self) -> &Arc<Jobs> {
        self.0.get_or_init(|| Jobs::new(c"com.apple.main-thread".to_owned(), QueueThreads::Main))
    }
}

impl Jobs {
    fn new(label: CString, threads: QueueThreads) -> Arc<Jobs> {
        let (waiting, added, specific) = (Mutex::default(), Condvar::new(), Mutex::default());
        Arc::new(Jobs { label, threads, waiting, added, specific })
    }

    pub(super) fn run(self: &Arc<Self>, job: Job, is_barrier: bool) {
        lock(&self.waiting).jobs.push_back((job, is_barrier || self.threads != QueueThreads::Many));
        self.start();
    }

    pub(super) fn is_main(&self) -> bool {
        self.threads == QueueThreads::Main
    }

    /// Calls a function as a job of this queue, on this thread.
    pub(super) fn with<T>(self: &Arc<Self>, call: impl FnOnce() -> T) -> T {
        let before = CURRENT.replace(Some(self.clone()));
        let result = pool::with(call);
        CURRENT.set(before);
        result
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
        if self.is_main() {
            return self.added.notify_all();
        }
        while let Some(job) = self.take() {
            let jobs = self.clone();
            std::thread::spawn(move || jobs.work(job));
        }
    }

    /// Runs a job, and goes on with those that can run then.
    fn work(self: Arc<Self>, first: Job) {
        let mut next = Some(first);
        while let Some(job) = next {
            self.with(job);
            self.finished();
            next = self.take();
            self.start();
        }
    }

    fn finished(&self) {
        let mut waiting = lock(&self.waiting);
        waiting.running -= 1;
        waiting.is_alone = false;
    }
}

/// Runs work on a queue; on a thread of its own without one.
pub(crate) fn run_on(queue: Id, job: impl FnOnce() + Send + 'static) {
    run(jobs_of(queue), job, false);
}

/// The jobs of a queue. What runs later keeps these, and not the object: a program counts objects.
pub(super) fn jobs_of(queue: Id) -> Option<Arc<Jobs>> {
    queue.cast::<DispatchQueue>().map(|queue| queue.jobs().clone())
}

pub(super) fn run(jobs: Option<Arc<Jobs>>, job: impl FnOnce() + Send + 'static, is_barrier: bool) {
    match jobs {
        Some(jobs) => jobs.run(Box::new(job), is_barrier),
        None => drop(std::thread::spawn(move || pool::with(job))),
    }
}

/// The main queue, which programs know by its address.
#[allow(non_upper_case_globals, reason = "the library's name")]
#[unsafe(no_mangle)]
pub(crate) static _dispatch_main_q: Instance = {
    static QUEUE: DispatchQueue = DispatchQueue(OnceLock::new());
    Instance::constant(&OS_DISPATCH_QUEUE_MAIN, &QUEUE)
};

/// Runs the work of the main queue on this thread, until the program exits.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_main() -> ! {
    let main = Id((&raw const _dispatch_main_q).cast_mut());
    let Some(queue) = main.cast::<DispatchQueue>() else {
        crate::debug::fatal(format_args!("dispatch_main: the main queue is not one"))
    };
    let jobs = queue.jobs();
    loop {
        let is_empty = |waiting: &mut Waiting| waiting.jobs.is_empty();
        drop(jobs.added.wait_while(lock(&jobs.waiting), is_empty).unwrap_or_else(PoisonError::into_inner));
        if let Some(job) = jobs.take() {
            jobs.with(job);
            jobs.finished();
        }
    }
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
    let threads = if attribute.is_null() { QueueThreads::One } else { QueueThreads::Many };
    DispatchQueue::strong(label, threads).into_id()
}

/// The label of a queue; without one, that of the queue whose work this is.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_queue_get_label(queue: Id) -> *const c_char {
    match queue.cast::<DispatchQueue>() {
        Some(queue) => queue.jobs().label.as_ptr(),
        None => CURRENT.with_borrow(|jobs| jobs.as_ref().map_or(c"".as_ptr(), |jobs| jobs.label.as_ptr())),
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_get_global_queue(_: isize, _: usize) -> Id {
    static GLOBAL: OnceLock<Id> = OnceLock::new();
    *GLOBAL.get_or_init(|| {
        // It lives as long as the process: it is no leak.
        OS_DISPATCH_QUEUE.data.live.fetch_sub(1, Ordering::Relaxed);
        DispatchQueue::strong(c"com.apple.root.default-qos".to_owned(), QueueThreads::Many).into_id()
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

/// Keeps a value in a queue under an address; null removes it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_queue_set_specific(
    queue: Id,
    key: *const c_void,
    value: *mut c_void,
    release: Option<extern "C-unwind" fn(*mut c_void)>,
) {
    let Some(queue) = queue.cast::<DispatchQueue>() else { return };
    let mut all = lock(&queue.jobs().specific);
    let old = match value.is_null() {
        true => all.remove(&key.addr()),
        false => all.insert(key.addr(), Specific(value, release)),
    };
    // Not under the lock: its release may run any code.
    drop(all);
    drop(old);
}

fn specific(jobs: &Jobs, key: *const c_void) -> *mut c_void {
    lock(&jobs.specific).get(&key.addr()).map_or(std::ptr::null_mut(), |specific| specific.0)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_queue_get_specific(queue: Id, key: *const c_void) -> *mut c_void {
    queue.cast::<DispatchQueue>().map_or(std::ptr::null_mut(), |queue| specific(queue.jobs(), key))
}

/// The value of the queue whose work this is.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_get_specific(key: *const c_void) -> *mut c_void {
    CURRENT.with_borrow(|jobs| jobs.as_ref().map_or(std::ptr::null_mut(), |jobs| specific(jobs, key)))
}
