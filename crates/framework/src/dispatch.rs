//! The functions of libdispatch that Metal programs use. Its objects are Objective-C objects.
//!
//! A serial queue runs its work on a thread that lives while there is any; a concurrent one on a thread for each item.

use crate::foundation::data::{Bytes, NS_DATA};
use crate::foundation::object::NS_OBJECT;
use crate::runtime::block::{Block, Kept};
use crate::runtime::object::{lock, release, retain};
use crate::runtime::{Class, Id, Object, Strong, pool};
use std::collections::VecDeque;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

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
    jobs: VecDeque<Job>,
    is_running: bool,
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
    fn run(self: &Arc<Self>, job: Job) {
        if self.is_concurrent {
            std::thread::spawn(move || pool::with(job));
            return;
        }
        let mut waiting = lock(&self.waiting);
        waiting.jobs.push_back(job);
        if !std::mem::replace(&mut waiting.is_running, true) {
            let jobs = self.clone();
            std::thread::spawn(move || jobs.drain());
        }
    }

    fn drain(&self) {
        loop {
            let job = {
                let mut waiting = lock(&self.waiting);
                match waiting.jobs.pop_front() {
                    Some(job) => job,
                    None => {
                        waiting.is_running = false;
                        return;
                    }
                }
            };
            pool::with(job);
        }
    }
}

/// Runs work on a queue; on a thread of its own without one.
pub(crate) fn run_on(queue: Id, job: impl FnOnce() + Send + 'static) {
    match queue.cast::<DispatchQueue>() {
        Some(queue) => queue.jobs.run(Box::new(job)),
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
    *GLOBAL.get_or_init(|| DispatchQueue::strong(c"com.apple.root.default-qos".to_owned(), true).into_id())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_async(queue: Id, block: Block) {
    if let Some(block) = Kept::new(block) {
        // SAFETY: the function takes blocks without parameters.
        run_on(queue, move || unsafe { block.call() });
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
    let done = unsafe { std::sync::atomic::AtomicIsize::from_ptr(done) };
    if done.load(std::sync::atomic::Ordering::Acquire) != -1 {
        let _guard = lock(&LOCK);
        if done.load(std::sync::atomic::Ordering::Acquire) != -1 {
            if let Some(block) = Kept::new(block) {
                // SAFETY: the function takes blocks without parameters.
                unsafe { block.call() };
            }
            done.store(-1, std::sync::atomic::Ordering::Release);
        }
    }
}

/// Copies the bytes unless there is a destructor.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_data_create(start: *const c_void, size: usize, _: Id, destructor: Block) -> Id {
    let bytes = match Kept::new(destructor) {
        Some(destructor) => Bytes::with_destructor(start, size, destructor),
        None => Bytes::copied(start, size),
    };
    Object::<Bytes>::allocate(&OS_DISPATCH_DATA).set(bytes)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_data_get_size(data: Id) -> usize {
    data.cast::<Bytes>().map_or(0, |data| data.as_slice().len())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_data_create_concat(a: Id, b: Id) -> Id {
    let slice = |data: Id| data.cast::<Bytes>().map(|data| data.as_slice().to_vec()).unwrap_or_default();
    let both = [slice(a), slice(b)].concat();
    Object::<Bytes>::allocate(&OS_DISPATCH_DATA).set(Bytes::owned(both.into()))
}

/// # Safety
///
/// The places are null or can be written.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dispatch_data_create_map(data: Id, start: *mut *const u8, size: *mut usize) -> Id {
    if let Some(bytes) = data.cast::<Bytes>() {
        // SAFETY: as the caller promises.
        unsafe {
            if let Some(start) = start.as_mut() {
                *start = bytes.as_slice().as_ptr();
            }
            if let Some(size) = size.as_mut() {
                *size = bytes.as_slice().len();
            }
        }
    }
    retain(data)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn dispatch_data_apply(data: Id, block: Block) -> bool {
    match (data.cast::<Bytes>(), Kept::new(block)) {
        // SAFETY: the function takes blocks with these parameters.
        (Some(bytes), Some(block)) => unsafe {
            block.call4(data, 0usize, bytes.as_slice().as_ptr(), bytes.as_slice().len()) != 0
        },
        _ => false,
    }
}

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
