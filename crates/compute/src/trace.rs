//! A trace of this process: the work of each thread, and the time that it waited.
//!
//! It is off until [`start`]. Then every thread records spans into a lane of its own, under a lock that no other thread
//! takes before [`finish`]. While it is off, a span costs one load of a flag.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Most spans of a trace. Later ones are counted, not kept: 100 MB of JSON is as much as viewers open.
const MOST_SPANS: usize = 1 << 20;

/// Shorter waits are not recorded: they are the cost of looking.
const LEAST_WAIT: Duration = Duration::from_nanos(200);

static IS_ON: AtomicBool = AtomicBool::new(false);
static SPANS: AtomicUsize = AtomicUsize::new(0);
static LANES: Mutex<Vec<Arc<Lane>>> = Mutex::new(Vec::new());

thread_local! {
    static OWN: RefCell<Option<Arc<Lane>>> = const { RefCell::new(None) };
}

/// The spans of a thread.
struct Lane {
    thread: String,
    spans: Mutex<Vec<TraceSpan>>,
}

/// A thread's activity for some time.
#[derive(Clone, Debug)]
pub struct TraceSpan {
    /// The activity.
    pub activity: Activity,
    /// Its start.
    pub start: Instant,
    /// Its end.
    pub end: Instant,
}

/// Activity of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Activity {
    /// Threadgroups of a kernel, executed by a CPU device.
    Threadgroups {
        /// The kernel's name.
        kernel: Arc<str>,
        /// Their number.
        count: u64,
    },
    /// The thread waits for others to complete their part of a dispatch.
    Wait,
    /// Work of the host, by name. These spans nest.
    Host(&'static str),
}

/// The spans of one thread, in the order of their ends.
#[derive(Clone, Debug)]
pub struct TraceLane {
    /// The thread's name.
    pub thread: String,
    /// Its spans.
    pub spans: Vec<TraceSpan>,
}

/// A finished trace.
#[derive(Clone, Default, Debug)]
pub struct Trace {
    /// A lane for each thread that has spans.
    pub lanes: Vec<TraceLane>,
    /// Number of spans that were not kept because there were too many.
    pub dropped: usize,
}

/// Starts a trace, and discards the spans of one that was not finished.
pub fn start() {
    lock(&LANES).iter().for_each(|lane| lock(&lane.spans).clear());
    SPANS.store(0, Ordering::Relaxed);
    IS_ON.store(true, Ordering::Release);
}

/// Ends the trace and returns it.
pub fn finish() -> Trace {
    IS_ON.store(false, Ordering::Release);
    let mut all = lock(&LANES);
    let lanes = all.iter().map(|lane| {
        let spans = std::mem::take(&mut *lock(&lane.spans));
        TraceLane { thread: lane.thread.clone(), spans }
    });
    let lanes = lanes.filter(|lane| !lane.spans.is_empty()).collect();
    // Lanes of threads that have ended.
    all.retain(|lane| Arc::strong_count(lane) > 1);
    Trace { lanes, dropped: SPANS.load(Ordering::Relaxed).saturating_sub(MOST_SPANS) }
}

/// True while a trace is recorded.
pub fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Records a span of the host, which ends when the result is dropped.
#[must_use = "the span ends when this is dropped"]
pub fn host(name: &'static str) -> HostSpan {
    HostSpan { name, start: begin() }
}

/// An open span of the host.
#[derive(Debug)]
pub struct HostSpan {
    name: &'static str,
    start: Option<Instant>,
}

impl Drop for HostSpan {
    fn drop(&mut self) {
        if let Some(start) = self.start {
            record(Activity::Host(self.name), start);
        }
    }
}

/// Start of a span; `None` while no trace is recorded.
pub(crate) fn begin() -> Option<Instant> {
    is_on().then(Instant::now)
}

/// Records threadgroups that this thread has executed since `start`.
pub(crate) fn threadgroups(kernel: &Arc<str>, count: u64, start: Instant) {
    record(Activity::Threadgroups { kernel: kernel.clone(), count }, start);
}

/// Waits, and records the time.
pub(crate) fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    let start = begin();
    let result = wait();
    if let Some(start) = start.filter(|start| start.elapsed() >= LEAST_WAIT) {
        record(Activity::Wait, start);
    }
    result
}

fn record(activity: Activity, start: Instant) {
    let end = Instant::now();
    if !is_on() || SPANS.fetch_add(1, Ordering::Relaxed) >= MOST_SPANS {
        return;
    }
    // A thread that is exiting records nothing.
    let _ = OWN.try_with(|own| {
        let mut own = own.borrow_mut();
        let lane = own.get_or_insert_with(new_lane);
        lock(&lane.spans).push(TraceSpan { activity, start, end });
    });
}

/// Adds a lane for this thread.
fn new_lane() -> Arc<Lane> {
    let thread = thread::current().name().unwrap_or("thread").to_owned();
    let lane = Arc::new(Lane { thread, spans: Mutex::default() });
    lock(&LANES).push(lane.clone());
    lane
}

/// No code that can panic runs under the locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test: the trace is that of the whole process.
    #[test]
    fn records_spans_of_each_thread_while_it_is_on() {
        let name: Arc<str> = "a_kernel".into();
        let spans_of = |trace: &Trace, thread: &str| -> Vec<TraceSpan> {
            let lanes = trace.lanes.iter().filter(|lane| lane.thread == thread);
            lanes.flat_map(|lane| lane.spans.clone()).collect()
        };
        let on_thread = |name: &str, work: &(dyn Fn() + Sync)| {
            thread::scope(|scope| {
                thread::Builder::new().name(name.into()).spawn_scoped(scope, work).unwrap().join().unwrap();
            });
        };
        let work = || {
            let _outer = host("outer");
            let _inner = host("inner");
            if let Some(start) = begin() {
                threadgroups(&name, 3, start);
            }
            waiting(|| thread::sleep(2 * LEAST_WAIT));
        };
        on_thread("traced off", &work);
        start();
        on_thread("traced", &work);
        let trace = finish();
        on_thread("traced after", &work);

        assert!(spans_of(&trace, "traced off").is_empty() && spans_of(&trace, "traced after").is_empty());
        let spans = spans_of(&trace, "traced");
        let activities: Vec<&Activity> = spans.iter().map(|span| &span.activity).collect();
        let threadgroups = Activity::Threadgroups { kernel: name.clone(), count: 3 };
        let expected = [&threadgroups, &Activity::Wait, &Activity::Host("inner"), &Activity::Host("outer")];
        assert_eq!(activities, expected);
        assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].end));
        assert!(
            spans[3].start <= spans[2].start && spans[2].start <= spans[0].start,
            "the outer span begins first"
        );
        assert_eq!(trace.dropped, 0);
        start();
        assert!(spans_of(&finish(), "traced").is_empty(), "a trace begins empty");
    }
}
