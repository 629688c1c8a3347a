//! The threads of a device, which share the items of a piece of work.
//!
//! Work is a [`Walk`] through stages. Work that was done before ([`Pace`]) is published at once, for as many threads as
//! were fastest; helpers that have just finished a walk spin for a short time in case the next one follows, as the steps
//! of a model do. Other work begins on the calling thread alone; when that has taken a while and much is left, it
//! publishes the walk. It wakes one sleeping helper, and each helper that finds free seats wakes two more, so that the
//! caller pays for one wake-up only, and a machine without a free core for the first helper does not wake others.
//!
//! The delay before calling for help adapts to the measured speedup ([`Patience`]): where help gains nothing, because
//! the other cores are busy or missing, it grows, and help is tried again now and then.
//!
//! **Invariant:** work is complete when all its items are done, on any thread. A helper that is not scheduled has
//! claimed nothing, and no thread waits for it.
//!
//! **Invariant:** spinning is bounded. A thread that has waited longer than its bound sleeps.

use super::checks::Validator;
use super::fault::Stop;
use super::messages::LogSettings;
use super::pace::Pace;
use super::patience::{LEAST_PATIENCE, Patience};
use super::walk::{StagedWork, Walk, WalkProgress};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Bounds for the time that a helper spins between two walks. It doubles when a walk came in that time, and halves when
/// none did.
const SHORTEST_SPIN: Duration = Duration::from_micros(5);
const LONGEST_SPIN: Duration = Duration::from_micros(200);

/// Sleep of a helper that waited too long for a stage to end: its core is better used by the thread that runs it.
const REST: Duration = Duration::from_micros(100);

/// A number of threads: the callers of [`Pool::walk`], and helpers that are started on first need.
pub(crate) struct Pool {
    threads: usize,
    patience: Patience,
    is_adverse: AtomicBool,
    stop: Stop,
    log: LogSettings,
    validator: Validator,
    shared: Arc<PoolShared>,
}

struct PoolShared {
    state: Mutex<PoolState>,
    /// Signals a walk to join, or the end of the pool.
    wake: Condvar,
    /// Counts published walks, for helpers that spin.
    published: AtomicU64,
    /// Number of helpers that spin.
    spinning: AtomicUsize,
    most_helpers: usize,
}

#[derive(Default)]
struct PoolState {
    walks: Vec<Arc<Walk>>,
    /// Helper threads, sleeping ones included.
    helpers: usize,
    /// Sleeping helpers.
    idle: usize,
    ended: bool,
}

/// Memory of finished walks, for reuse.
#[derive(Default)]
pub(crate) struct SpareWalks(Vec<Arc<Walk>>);

impl SpareWalks {
    /// A walk for this work. A thread that has not noticed the end of its walk still holds that one.
    fn begin(&mut self, work: &dyn StagedWork, threads: usize, costs: &[Option<f64>], is_timed: bool) -> Arc<Walk> {
        for index in 0..self.0.len() {
            if let Some(walk) = Arc::get_mut(&mut self.0[index]) {
                walk.reset(work, threads, costs, is_timed);
                return self.0.swap_remove(index);
            }
        }
        Arc::new(Walk::new(work, threads, costs, is_timed))
    }

    fn put_back(&mut self, walk: Arc<Walk>) {
        self.0.push(walk);
    }
}

impl Pool {
    pub(crate) fn new(threads: usize) -> Pool {
        let shared = PoolShared {
            state: Mutex::default(),
            wake: Condvar::new(),
            published: AtomicU64::new(0),
            spinning: AtomicUsize::new(0),
            most_helpers: threads - 1,
        };
        let is_adverse = AtomicBool::new(false);
        Pool {
            threads,
            patience: Patience::new(),
            is_adverse,
            stop: Stop::default(),
            log: LogSettings::default(),
            validator: Validator::default(),
            shared: Arc::new(shared),
        }
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Shader validation of the device.
    pub(crate) fn validator(&self) -> &Validator {
        &self.validator
    }

    /// True in adverse mode, which reorders work to expose mistakes; the work decides how.
    pub(crate) fn is_adverse(&self) -> bool {
        self.is_adverse.load(Ordering::Relaxed)
    }

    pub(crate) fn set_adverse(&self, on: bool) {
        self.is_adverse.store(on, Ordering::Relaxed);
    }

    /// The handler of messages.
    pub(crate) fn log(&self) -> &LogSettings {
        &self.log
    }

    /// Cancels executions on this pool.
    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Runs all stages; returns when they are done. `pace` is the experience with this work, if it is done repeatedly.
    pub(crate) fn walk(&self, work: &dyn StagedWork, spare: &mut SpareWalks, pace: Option<&mut Pace>) {
        let cannot_share = || (0..work.stages()).all(|stage| work.items(stage) == 1);
        match pace {
            _ if self.threads == 1 || cannot_share() => run_alone(work),
            Some(pace) => self.walk_at(work, spare, pace),
            None => self.walk_first(work, spare),
        }
    }

    /// Work that was done before.
    fn walk_at(&self, work: &dyn StagedWork, spare: &mut SpareWalks, pace: &mut Pace) {
        let crew = pace.choose(self.threads);
        let threads = pace.threads(crew);
        let measures = pace.measures();
        let start = Instant::now();
        if threads == 1 && !measures {
            run_alone(work);
            pace.learn(crew, start.elapsed());
            return;
        }
        let walk = spare.begin(work, threads, pace.costs(), measures);
        if threads > 1 {
            self.shared.publish(&walk);
        }
        walk.lead(|_| u64::MAX);
        pace.learn(crew, start.elapsed());
        if threads > 1 {
            self.shared.retire(&walk);
        }
        if measures {
            pace.learn_costs(walk.measured());
        }
        spare.put_back(walk);
    }

    /// Work that nothing is known about.
    fn walk_first(&self, work: &dyn StagedWork, spare: &mut SpareWalks) {
        let walk = spare.begin(work, self.threads, &[], true);
        let mut sharing = Sharing::Alone { since: Instant::now() };
        walk.lead(|progress| self.share(&walk, &mut sharing, progress));
        if let Sharing::Stage { shared, .. } = &sharing {
            self.patience.learn(shared.speedup());
        }
        if !matches!(sharing, Sharing::Alone { .. }) {
            self.shared.retire(&walk);
        }
        spare.put_back(walk);
    }

    /// Calls for help if that is worthwhile. Returns the largest number of items to do next.
    fn share(&self, walk: &Arc<Walk>, sharing: &mut Sharing, progress: &WalkProgress) -> u64 {
        match sharing {
            Sharing::Walk => return u64::MAX,
            Sharing::Stage { stage, shared } => {
                if progress.stage > *stage {
                    self.patience.learn(shared.speedup());
                    *sharing = Sharing::Walk;
                }
                return u64::MAX;
            }
            Sharing::Alone { since } => {
                let Some(cost) = progress.cost() else { return 1 };
                let (elapsed, patience) = (since.elapsed(), self.patience.get());
                let left = progress.unclaimed() as f64 * cost;
                if elapsed < patience {
                    if elapsed >= LEAST_PATIENCE {
                        self.patience.wear();
                    }
                    let until_help = (patience - elapsed).as_nanos() as f64 / cost;
                    return (until_help as u64).clamp(1, progress.claimed().max(1) * 8);
                }
                if left <= LEAST_PATIENCE.as_nanos() as f64 {
                    return u64::MAX;
                }
                self.shared.publish(walk);
                let shared = SharedStage { alone: left, since: Instant::now() };
                *sharing = Sharing::Stage { stage: progress.stage, shared };
            }
        }
        u64::MAX
    }
}

/// Progress of work that nothing is known about.
enum Sharing {
    Alone {
        since: Instant,
    },
    /// Helpers were called in this stage, whose speedup is not known yet.
    Stage {
        stage: usize,
        shared: SharedStage,
    },
    Walk,
}

/// The part of a stage that is done with help.
struct SharedStage {
    /// Nanoseconds that it would take alone.
    alone: f64,
    since: Instant,
}

impl SharedStage {
    fn speedup(&self) -> f64 {
        self.alone / self.since.elapsed().as_nanos() as f64
    }
}

fn run_alone(work: &dyn StagedWork) {
    (0..work.stages()).for_each(|stage| work.run(stage, 0..work.items(stage)));
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.state().ended = true;
        self.shared.published.fetch_add(1, Ordering::Release);
        self.shared.wake.notify_all();
    }
}

impl PoolShared {
    /// No code that can panic runs under the lock. It is held for nanoseconds, so that spinning is better than sleeping.
    fn state(&self) -> MutexGuard<'_, PoolState> {
        for _ in 0..1000 {
            match self.state.try_lock() {
                Ok(state) => return state,
                Err(_) => std::hint::spin_loop(),
            }
        }
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes a walk, and calls the first helper.
    fn publish(self: &Arc<PoolShared>, walk: &Arc<Walk>) {
        let mut state = self.state();
        state.walks.push(walk.clone());
        self.published.fetch_add(1, Ordering::Release);
        self.call_helper(state, walk);
    }

    /// Removes a walk that has ended.
    fn retire(&self, walk: &Arc<Walk>) {
        self.state().walks.retain(|other| !Arc::ptr_eq(other, walk));
    }

    /// Wakes a sleeping helper, or starts one, if those that spin are too few.
    fn call_helper(self: &Arc<PoolShared>, mut state: MutexGuard<PoolState>, walk: &Walk) {
        if walk.seats() <= self.spinning.load(Ordering::Relaxed) {
            return;
        }
        if state.idle > 0 {
            drop(state);
            self.wake.notify_one();
        } else if state.helpers < self.most_helpers {
            let own = self.clone();
            let thread = thread::Builder::new().name("kernels".into());
            // If the thread cannot start, the work completes without it.
            let spawned = thread.spawn(move || own.help());
            state.helpers += usize::from(spawned.is_ok());
        }
    }

    /// The loop of a helper thread.
    fn help(self: &Arc<PoolShared>) {
        let mut spin = SHORTEST_SPIN;
        let mut state = self.state();
        while !state.ended {
            let seen = self.published.load(Ordering::Relaxed);
            let Some(walk) = state.walks.iter().find(|walk| walk.join()).cloned() else {
                state.idle += 1;
                state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            drop(state);
            for _ in 0..walk.seats().min(2) {
                self.call_helper(self.state(), &walk);
            }
            if walk.help() {
                drop(walk);
                let comes = self.spin(seen, spin);
                spin = if comes { spin * 2 } else { spin / 2 }.clamp(SHORTEST_SPIN, LONGEST_SPIN);
            } else {
                walk.leave();
                drop(walk);
                thread::sleep(REST);
            }
            state = self.state();
        }
        state.helpers -= 1;
    }

    /// Spins until another walk is published after the first `seen`; false if none came in time.
    fn spin(&self, seen: u64, time: Duration) -> bool {
        self.spinning.fetch_add(1, Ordering::Relaxed);
        let start = Instant::now();
        let mut came = false;
        while !came && start.elapsed() < time {
            for _ in 0..32 {
                std::hint::spin_loop();
                came |= self.published.load(Ordering::Acquire) != seen;
            }
        }
        self.spinning.fetch_sub(1, Ordering::Relaxed);
        came
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Range;
    use std::sync::atomic::AtomicU32;

    /// Counts how often each item of each stage runs, and checks that the stages before are complete.
    struct Count {
        done: Vec<Vec<AtomicU32>>,
        time: Duration,
        began_early: AtomicBool,
    }

    impl Count {
        fn new(stages: &[usize], time: Duration) -> Count {
            let stage = |items: &usize| (0..*items).map(|_| AtomicU32::new(0)).collect();
            Count { done: stages.iter().map(stage).collect(), time, began_early: AtomicBool::new(false) }
        }

        fn check(&self, runs: u32) {
            assert!(!self.began_early.load(Ordering::Relaxed), "a stage began before the one before it ended");
            let all = self.done.iter().flatten();
            assert!(all.into_iter().all(|done| done.load(Ordering::Relaxed) == runs), "{:?}", self.time);
        }
    }

    impl StagedWork for Count {
        fn stages(&self) -> usize {
            self.done.len()
        }

        fn items(&self, stage: usize) -> u64 {
            self.done[stage].len() as u64
        }

        fn run(&self, stage: usize, items: Range<u64>) {
            for item in items {
                let runs = self.done[stage][item as usize].fetch_add(1, Ordering::Relaxed) + 1;
                if let Some(before) = stage.checked_sub(1) {
                    let is_complete = self.done[before].iter().all(|done| done.load(Ordering::Relaxed) == runs);
                    self.began_early.fetch_or(!is_complete, Ordering::Relaxed);
                }
                let start = Instant::now();
                while start.elapsed() < self.time {
                    std::hint::black_box(());
                }
            }
        }
    }

    fn check_every_item_runs_once(pool: &Pool, stages: &[usize], time: Duration) {
        let work = Count::new(stages, time);
        pool.walk(&work, &mut SpareWalks::default(), None);
        work.check(1);
    }

    #[test]
    fn every_item_runs_once() {
        for threads in [1, 2, 3, 8] {
            let pool = Pool::new(threads);
            for items in [1, 2, 3, 7, 100, 2000] {
                check_every_item_runs_once(&pool, &[items], Duration::from_nanos(100));
                check_every_item_runs_once(&pool, &[items.min(200), 1, 5], Duration::from_micros(30));
            }
        }
    }

    #[test]
    fn repeated_walks_run_every_item_each_time() {
        for threads in [2, 5] {
            let pool = Pool::new(threads);
            let (mut spare, mut pace) = (SpareWalks::default(), Pace::default());
            let work = Count::new(&[40, 1, 1, 300, 7, 2, 90], Duration::from_nanos(300));
            for runs in 1..200 {
                pool.walk(&work, &mut spare, Some(&mut pace));
                work.check(runs);
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
                        check_every_item_runs_once(&pool, &[300, 3, 20], Duration::from_micros(2));
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

    impl StagedWork for Meeting {
        fn stages(&self) -> usize {
            1
        }

        fn items(&self, _: usize) -> u64 {
            9
        }

        fn run(&self, _: usize, items: Range<u64>) {
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
        pool.walk(&meeting, &mut SpareWalks::default(), None);
        assert!(start.elapsed() < Duration::from_secs(60), "not all threads came");
        assert_eq!(pool.shared.state().helpers, 7);
    }

    #[test]
    fn helpers_end_with_the_pool() {
        let pool = Pool::new(3);
        check_every_item_runs_once(&pool, &[300], Duration::from_micros(10));
        let shared = Arc::downgrade(&pool.shared);
        drop(pool);
        let start = Instant::now();
        while shared.upgrade().is_some() {
            assert!(start.elapsed() < Duration::from_secs(20), "a helper is still running");
            thread::sleep(Duration::from_millis(1));
        }
    }
}
