//! A thread pool that shares the items of a piece of work.
//!
//! The calling thread begins alone. When that has taken a while and much is left, it publishes a [`Job`] for others to
//! join: items are claimed in chunks from a counter. It wakes one sleeping helper, and each helper that finds much left
//! wakes two more, so that the caller pays for one wake-up only, and a machine without a free core for the first helper
//! does not wake others.
//!
//! The delay before calling for help adapts to the measured speedup ([`Patience`]): where help gains nothing, because
//! the other cores are busy or missing, it grows, and help is tried again now and then.
//!
//! **Invariant:** work is complete when all its items are done, on any thread. A helper that is not scheduled has
//! claimed nothing, and no thread waits for it.
//!
//! **Invariant:** no thread spins. Helpers without work sleep, and a caller that waits for the last chunk sleeps.

use super::patience::{LEAST_PATIENCE, Patience};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Work on a range of items. It must not panic.
pub(crate) trait ParallelWork: Sync {
    fn run(&self, items: Range<u64>);
}

/// Bounds for the duration of a chunk. Long chunks cost when their thread is interrupted, short ones when threads
/// contend for the counter.
const LONGEST_CHUNK: Duration = Duration::from_micros(100);
const SHORTEST_CHUNK: Duration = Duration::from_micros(4);

/// A number of threads: the callers of [`Pool::run`], and helpers that are started on first need.
pub(crate) struct Pool {
    threads: usize,
    patience: Patience,
    is_adverse: AtomicBool,
    shared: Arc<PoolShared>,
}

struct PoolShared {
    state: Mutex<PoolState>,
    /// Signals a job to join, or the end of the pool.
    wake: Condvar,
}

#[derive(Default)]
struct PoolState {
    jobs: Vec<Arc<Job>>,
    /// Helper threads, sleeping ones included.
    helpers: usize,
    /// Sleeping helpers.
    idle: usize,
    ended: bool,
}

impl Pool {
    pub(crate) fn new(threads: usize) -> Pool {
        let shared = PoolShared { state: Mutex::default(), wake: Condvar::new() };
        let is_adverse = AtomicBool::new(false);
        Pool { threads, patience: Patience::new(), is_adverse, shared: Arc::new(shared) }
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// True in adverse mode, which reorders work to expose mistakes; the work decides how.
    pub(crate) fn is_adverse(&self) -> bool {
        self.is_adverse.load(Ordering::Relaxed)
    }

    pub(crate) fn set_adverse(&self, on: bool) {
        self.is_adverse.store(on, Ordering::Relaxed);
    }

    /// Runs all items; returns when they are done.
    pub(crate) fn run(&self, work: &dyn ParallelWork, items: u64) {
        // A single item cannot be shared, and timing it is wasted.
        if self.threads == 1 || items == 1 {
            work.run(0..items);
            return;
        }
        let Some((next, per_item)) = self.run_alone(work, items) else { return };
        let start = Instant::now();
        let job = Arc::new(Job::new(work, next..items, per_item, self.threads));
        self.shared.publish(&job, self.threads - 1);
        while let Some(chunk) = job.claim() {
            job.run(chunk);
        }
        self.shared.retire(&job);
        job.wait();
        self.patience.learn((items - next) as f64 * per_item / start.elapsed().as_nanos() as f64);
    }

    /// Begins alone. Returns the first item left to share and the nanoseconds per item, if help is worthwhile.
    fn run_alone(&self, work: &dyn ParallelWork, items: u64) -> Option<(u64, f64)> {
        let patience = self.patience.get();
        let start = Instant::now();
        let (mut next, mut chunk) = (0, 1);
        loop {
            work.run(next..next + chunk);
            next += chunk;
            if next == items {
                return None;
            }
            let elapsed = start.elapsed();
            let per_item = (elapsed.as_nanos() as f64 / next as f64).max(0.1);
            let left = items - next;
            if elapsed >= patience {
                if left as f64 * per_item > LEAST_PATIENCE.as_nanos() as f64 {
                    return Some((next, per_item));
                }
                chunk = left;
            } else {
                if elapsed >= LEAST_PATIENCE {
                    self.patience.wear();
                }
                let until_help = (patience - elapsed).as_nanos() as f64 / per_item;
                chunk = (until_help as u64).clamp(1, next * 8).min(left);
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.state().ended = true;
        self.shared.wake.notify_all();
    }
}

impl PoolShared {
    fn state(&self) -> MutexGuard<'_, PoolState> {
        // No code that can panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes a job, and calls the first helper.
    fn publish(self: &Arc<PoolShared>, job: &Arc<Job>, most_helpers: usize) {
        let mut state = self.state();
        state.jobs.push(job.clone());
        self.call_helper(state, most_helpers);
    }

    /// Removes a job that has no items left to claim.
    fn retire(&self, job: &Arc<Job>) {
        self.state().jobs.retain(|other| !Arc::ptr_eq(other, job));
    }

    /// Wakes a sleeping helper, or starts one.
    fn call_helper(self: &Arc<PoolShared>, mut state: MutexGuard<PoolState>, most_helpers: usize) {
        if state.idle > 0 {
            drop(state);
            self.wake.notify_one();
        } else if state.helpers < most_helpers {
            let own = self.clone();
            let thread = thread::Builder::new().name("kernels".into());
            // If the thread cannot start, the work completes without it.
            let spawned = thread.spawn(move || own.help(most_helpers));
            state.helpers += usize::from(spawned.is_ok());
        }
    }

    /// The loop of a helper thread.
    fn help(self: &Arc<PoolShared>, most_helpers: usize) {
        let mut state = self.state();
        while !state.ended {
            let job = state.jobs.iter().find(|job| job.joinable()).cloned();
            match job {
                Some(job) => {
                    drop(state);
                    for _ in 0..job.join() {
                        self.call_helper(self.state(), most_helpers);
                    }
                    while let Some(chunk) = job.claim() {
                        job.run(chunk);
                    }
                    state = self.state();
                }
                None => {
                    state.idle += 1;
                    state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                    state.idle -= 1;
                }
            }
        }
        state.helpers -= 1;
    }
}

/// Work shared by several threads.
struct Job {
    work: *const dyn ParallelWork,
    items: u64,
    /// First unclaimed item.
    next: AtomicU64,
    /// Items not done.
    left: AtomicU64,
    /// Number of helpers that may still join.
    places: AtomicUsize,
    threads: u64,
    longest_chunk: u64,
    shortest_chunk: u64,
    /// The thread that waits for the end.
    owner: Thread,
}

// SAFETY: `work` is `Sync`. Only threads that have claimed items use it, and `Pool::run`, which keeps it alive, does
// not return before all items are done.
unsafe impl Send for Job {}
unsafe impl Sync for Job {}

impl Job {
    fn new(work: &dyn ParallelWork, items: Range<u64>, nanoseconds_per_item: f64, threads: usize) -> Job {
        let left = items.end - items.start;
        let items_in = |time: Duration| (time.as_nanos() as f64 / nanoseconds_per_item) as u64;
        let worth = left as f64 * nanoseconds_per_item / LEAST_PATIENCE.as_nanos() as f64;
        // SAFETY: only the lifetime changes; see `Send`.
        let work = unsafe {
            std::mem::transmute::<*const (dyn ParallelWork + '_), *const (dyn ParallelWork + 'static)>(work)
        };
        Job {
            work,
            items: items.end,
            next: AtomicU64::new(items.start),
            left: AtomicU64::new(left),
            places: AtomicUsize::new((worth as usize).clamp(1, threads - 1)),
            threads: threads as u64,
            longest_chunk: items_in(LONGEST_CHUNK).max(1),
            shortest_chunk: items_in(SHORTEST_CHUNK).max(1),
            owner: thread::current(),
        }
    }

    /// Claims the next items. Chunks shrink towards the end, so that all threads end at about the same time.
    fn claim(&self) -> Option<Range<u64>> {
        let chunk = |next: u64| {
            let left = self.items - next;
            let share = left / (2 * self.threads);
            share.clamp(self.shortest_chunk, self.longest_chunk.max(self.shortest_chunk)).min(left)
        };
        let mut next = self.next.load(Ordering::Relaxed);
        while next < self.items {
            let end = next + chunk(next);
            match self.next.compare_exchange_weak(next, end, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(next..end),
                Err(now) => next = now,
            }
        }
        None
    }

    /// Runs claimed items.
    fn run(&self, items: Range<u64>) {
        let count = items.end - items.start;
        // SAFETY: these items are not done yet, so the work is still alive.
        unsafe { (*self.work).run(items) };
        // Release by all threads, acquire by the owner: it sees their writes. After the last item the owner may return,
        // and its stack is gone; `Thread` is an independent handle and stays valid.
        if self.left.fetch_sub(count, Ordering::AcqRel) == count {
            self.owner.unpark();
        }
    }

    fn joinable(&self) -> bool {
        self.places.load(Ordering::Relaxed) > 0 && self.next.load(Ordering::Relaxed) < self.items
    }

    /// Joins the job; returns the number of further helpers to call.
    fn join(&self) -> usize {
        let take = |places: usize| places.checked_sub(1);
        match self.places.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(places) => (places - 1).min(2),
            Err(_) => 0,
        }
    }

    /// Sleeps until the items claimed by others are done.
    fn wait(&self) {
        while self.left.load(Ordering::Acquire) > 0 {
            thread::park();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    struct Count<'a> {
        done: &'a [AtomicU32],
        time: Duration,
    }

    impl ParallelWork for Count<'_> {
        fn run(&self, items: Range<u64>) {
            for item in items {
                self.done[item as usize].fetch_add(1, Ordering::Relaxed);
                let start = Instant::now();
                while start.elapsed() < self.time {
                    std::hint::black_box(());
                }
            }
        }
    }

    fn check_every_item_runs_once(pool: &Pool, items: usize, time: Duration) {
        let done: Vec<AtomicU32> = (0..items).map(|_| AtomicU32::new(0)).collect();
        pool.run(&Count { done: &done, time }, items as u64);
        assert!(done.iter().all(|done| done.load(Ordering::Relaxed) == 1), "{items} items, {time:?}");
    }

    #[test]
    fn every_item_runs_once() {
        for threads in [1, 2, 3, 8] {
            let pool = Pool::new(threads);
            for items in [1, 2, 3, 7, 100, 5000] {
                check_every_item_runs_once(&pool, items, Duration::from_nanos(100));
                check_every_item_runs_once(&pool, items.min(200), Duration::from_micros(30));
            }
        }
    }

    #[test]
    fn several_threads_share_a_pool() {
        let pool = Pool::new(4);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        check_every_item_runs_once(&pool, 300, Duration::from_micros(2));
                    }
                });
            }
        });
    }

    /// The first item takes long enough to call for help. Each of the others waits until all have begun, which needs a
    /// thread for each.
    struct Meeting {
        missing: Mutex<u64>,
        came: Condvar,
    }

    impl ParallelWork for Meeting {
        fn run(&self, items: Range<u64>) {
            for item in items {
                if item == 0 {
                    thread::sleep(Duration::from_millis(5));
                    continue;
                }
                let mut missing = self.missing.lock().unwrap();
                *missing -= 1;
                self.came.notify_all();
                // The timeout is reached only if a thread never comes.
                drop(self.came.wait_timeout_while(missing, Duration::from_secs(60), |missing| *missing > 0));
            }
        }
    }

    #[test]
    fn all_threads_join_long_work() {
        let pool = Pool::new(8);
        let meeting = Meeting { missing: Mutex::new(8), came: Condvar::new() };
        let start = Instant::now();
        pool.run(&meeting, 9);
        assert!(start.elapsed() < Duration::from_secs(60), "not all threads came");
        assert_eq!(pool.shared.state().helpers, 7);
    }

    #[test]
    fn helpers_end_with_the_pool() {
        let pool = Pool::new(3);
        check_every_item_runs_once(&pool, 300, Duration::from_micros(10));
        let shared = Arc::downgrade(&pool.shared);
        drop(pool);
        let start = Instant::now();
        while shared.upgrade().is_some() {
            assert!(start.elapsed() < Duration::from_secs(20), "a helper is still running");
            thread::sleep(Duration::from_millis(1));
        }
    }
}
