//! A walk: several threads go through stages of work together.
//!
//! A stage has items, which threads claim in chunks from a counter; the stage after it begins when all its items are
//! done. Threads between two stages wait by spinning, because the next stage begins in about a microsecond; but not for
//! long: the thread they wait for may have lost its core.
//!
//! **Invariant:** a stage is complete when its items are done, on any thread. A thread that is not running has claimed
//! nothing or is in the middle of a chunk: nobody waits for a thread that might come.

use crate::trace;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Work in stages. It must not panic.
pub(crate) trait StagedWork: Sync {
    fn stages(&self) -> usize;

    /// Number of items in a stage, at least one.
    fn items(&self, stage: usize) -> u64;

    fn run(&self, stage: usize, items: Range<u64>);
}

/// Bounds for the duration of a chunk, in nanoseconds. Long chunks cost when their thread is interrupted, short ones
/// when threads contend for the counter.
const LONGEST_CHUNK: f64 = 100_000.0;
const SHORTEST_CHUNK: f64 = 1_000.0;

/// A stage that takes fewer nanoseconds is not shared: moving its data between cores takes as long.
const LEAST_SHARED: f64 = 2_500.0;

/// Time to spin for the end of a stage. Chunks are shorter, so a thread that takes longer has lost its core.
const SPIN: Duration = Duration::from_micros(150);

/// State of a walk. The owner reuses it when no other thread holds it.
pub(crate) struct Walk {
    work: *const dyn StagedWork,
    stages: Vec<Stage>,
    /// Stage at hand.
    current: Padded<AtomicUsize>,
    /// Number of helpers that may still join.
    seats: AtomicUsize,
    /// Number of threads that the chunks are for.
    threads: u64,
    /// Chunks are timed.
    is_timed: bool,
    owner: Thread,
    /// The owner sleeps until the stage ends.
    owner_sleeps: AtomicBool,
}

// SAFETY: `work` is `Sync`. Only threads that have claimed items use it, and the owner, which keeps it alive, does not
// return before all items are done.
unsafe impl Send for Walk {}
unsafe impl Sync for Walk {}

/// A pair of cache lines, which CPUs fetch together.
#[repr(align(128))]
struct Padded<T>(T);

#[repr(align(128))]
struct Stage {
    items: u64,
    /// Nanoseconds per item if known.
    cost: Option<f64>,
    /// First unclaimed item.
    next: AtomicU64,
    /// Items not done.
    left: AtomicU64,
    /// Nanoseconds that threads spent in timed chunks.
    time: AtomicU64,
}

impl Stage {
    fn new(items: u64, cost: Option<f64>) -> Stage {
        let [next, left, time] = [0, items, 0].map(AtomicU64::new);
        Stage { items, cost, next, left, time }
    }

    /// Nanoseconds per item: those known before, or those of the chunks done so far.
    fn cost(&self) -> Option<f64> {
        self.cost.or_else(|| self.measured())
    }

    /// Nanoseconds per item in the chunks done so far.
    fn measured(&self) -> Option<f64> {
        let time = self.time.load(Ordering::Relaxed);
        let done = self.items - self.left.load(Ordering::Relaxed);
        (time > 0 && done > 0).then(|| time as f64 / done as f64)
    }

    /// Claims the next items, at most `most`. Chunks shrink towards the end, so that all threads end at about the same
    /// time.
    fn claim(&self, threads: u64, most: u64) -> Option<Range<u64>> {
        let mut next = self.next.load(Ordering::Relaxed);
        while next < self.items {
            let end = next + self.chunk(self.items - next, threads).min(most);
            match self.next.compare_exchange_weak(next, end, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(next..end),
                Err(now) => next = now,
            }
        }
        None
    }

    /// Number of items to claim when `left` are left.
    fn chunk(&self, left: u64, threads: u64) -> u64 {
        let Some(cost) = self.cost() else { return 1 };
        if threads == 1 || self.items as f64 * cost < LEAST_SHARED {
            return left;
        }
        let shortest = ((SHORTEST_CHUNK / cost) as u64).max(1);
        let longest = ((LONGEST_CHUNK / cost) as u64).max(shortest);
        (left / (2 * threads)).clamp(shortest, longest).min(left)
    }
}

impl Walk {
    /// A walk of `threads` threads, the owner included. `costs` are the nanoseconds per item of each stage, as far as
    /// they are known.
    pub(crate) fn new(work: &dyn StagedWork, threads: usize, costs: &[Option<f64>], is_timed: bool) -> Walk {
        let mut walk = Walk {
            work: std::ptr::null::<Nothing>(),
            stages: Vec::new(),
            current: Padded(AtomicUsize::new(0)),
            seats: AtomicUsize::new(0),
            threads: 1,
            is_timed,
            owner: thread::current(),
            owner_sleeps: AtomicBool::new(false),
        };
        walk.reset(work, threads, costs, is_timed);
        walk
    }

    /// Begins another walk.
    pub(crate) fn reset(&mut self, work: &dyn StagedWork, threads: usize, costs: &[Option<f64>], is_timed: bool) {
        // SAFETY: only the lifetime changes; see `Send`.
        self.work =
            unsafe { std::mem::transmute::<*const (dyn StagedWork + '_), *const (dyn StagedWork + 'static)>(work) };
        self.stages.clear();
        let cost = |stage: usize| costs.get(stage).copied().flatten();
        self.stages.extend((0..work.stages()).map(|stage| Stage::new(work.items(stage), cost(stage))));
        self.current.0 = AtomicUsize::new(0);
        self.seats = AtomicUsize::new(threads - 1);
        self.threads = threads as u64;
        self.is_timed = is_timed;
        self.owner_sleeps = AtomicBool::new(false);
        if self.owner.id() != thread::current().id() {
            self.owner = thread::current();
        }
    }

    /// Takes a seat if one is free and the walk has not ended.
    pub(crate) fn join(&self) -> bool {
        let take = |seats: usize| seats.checked_sub(1);
        !self.has_ended() && self.seats.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    /// Number of free seats.
    pub(crate) fn seats(&self) -> usize {
        if self.has_ended() { 0 } else { self.seats.load(Ordering::Relaxed) }
    }

    /// Leaves the walk before its end: another may take the seat.
    pub(crate) fn leave(&self) {
        self.seats.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.current.0.load(Ordering::Relaxed) >= self.stages.len()
    }

    /// Nanoseconds per item, by stage.
    pub(crate) fn measured(&self) -> impl Iterator<Item = Option<f64>> {
        self.stages.iter().map(Stage::measured)
    }

    /// Runs claimed items. True if these were the last of their stage.
    fn run(&self, number: usize, items: Range<u64>) -> bool {
        let count = items.end - items.start;
        let stage = &self.stages[number];
        let start = self.is_timed.then(Instant::now);
        // SAFETY: these items are not done yet, so the work is still alive.
        unsafe { (*self.work).run(number, items) };
        if let Some(start) = start {
            stage.time.fetch_add((start.elapsed().as_nanos() as u64).max(1), Ordering::Relaxed);
        }
        // Release by all threads, acquire by the last one, which releases the stage: the next stage sees all writes.
        if stage.left.fetch_sub(count, Ordering::AcqRel) != count {
            return false;
        }
        // Sequentially consistent, as in `sleep`: the owner sees the new stage, or this thread sees that it sleeps.
        self.current.0.store(number + 1, Ordering::SeqCst);
        if self.owner_sleeps.load(Ordering::SeqCst) {
            self.owner.unpark();
        }
        true
    }

    /// Walks as a helper, to the end or until a stage takes too long. True at the end.
    pub(crate) fn help(&self) -> bool {
        let mut number = self.current.0.load(Ordering::Acquire);
        while let Some(stage) = self.stages.get(number) {
            while let Some(items) = stage.claim(self.threads, u64::MAX) {
                self.run(number, items);
            }
            if !self.spin(number) {
                return false;
            }
            number += 1;
        }
        true
    }

    /// Walks as the owner, to the end. Before each chunk, `most` says how many items it may have.
    pub(crate) fn lead(&self, mut most: impl FnMut(&WalkProgress) -> u64) {
        for (number, stage) in self.stages.iter().enumerate() {
            loop {
                let most = most(&WalkProgress { walk: self, stage: number });
                let Some(items) = stage.claim(self.threads, most) else { break };
                self.run(number, items);
            }
            if !self.spin(number) {
                self.sleep(number);
            }
        }
    }

    /// Spins until a stage has ended; false if that takes too long.
    fn spin(&self, number: usize) -> bool {
        trace::waiting(|| self.spin_until_end(number))
    }

    fn spin_until_end(&self, number: usize) -> bool {
        let has_ended = || self.current.0.load(Ordering::Acquire) > number;
        for _ in 0..64 {
            if has_ended() {
                return true;
            }
            std::hint::spin_loop();
        }
        let start = Instant::now();
        while start.elapsed() < SPIN {
            for _ in 0..32 {
                if has_ended() {
                    return true;
                }
                std::hint::spin_loop();
            }
        }
        has_ended()
    }

    /// The owner sleeps until a stage has ended.
    fn sleep(&self, number: usize) {
        self.owner_sleeps.store(true, Ordering::SeqCst);
        trace::waiting(|| {
            while self.current.0.load(Ordering::SeqCst) <= number {
                thread::park();
            }
        });
        self.owner_sleeps.store(false, Ordering::Relaxed);
    }
}

/// The owner's position in a walk.
pub(crate) struct WalkProgress<'w> {
    walk: &'w Walk,
    pub(crate) stage: usize,
}

impl WalkProgress<'_> {
    /// Items of the stage that are not claimed.
    pub(crate) fn unclaimed(&self) -> u64 {
        let stage = &self.walk.stages[self.stage];
        stage.items.saturating_sub(stage.next.load(Ordering::Relaxed))
    }

    /// Items of the stage that are claimed.
    pub(crate) fn claimed(&self) -> u64 {
        self.walk.stages[self.stage].items - self.unclaimed()
    }

    /// Nanoseconds per item.
    pub(crate) fn cost(&self) -> Option<f64> {
        self.walk.stages[self.stage].cost()
    }
}

/// No work.
struct Nothing;

impl StagedWork for Nothing {
    fn stages(&self) -> usize {
        0
    }

    fn items(&self, _: usize) -> u64 {
        0
    }

    fn run(&self, _: usize, _: Range<u64>) {}
}
