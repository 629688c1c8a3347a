//! Compile threads: one per core, shared by the whole process, started on demand and stopped when idle.

use std::collections::VecDeque;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

type CompileJob = Box<dyn FnOnce() + Send>;

/// Idle time after which a thread stops.
const PATIENCE: Duration = Duration::from_secs(2);

struct Threads {
    state: Mutex<ThreadsState>,
    wake: Condvar,
}

struct ThreadsState {
    jobs: VecDeque<CompileJob>,
    started: usize,
    idle: usize,
}

static THREADS: Threads = Threads {
    state: Mutex::new(ThreadsState { jobs: VecDeque::new(), started: 0, idle: 0 }),
    wake: Condvar::new(),
};

/// Number of pipelines compiled in parallel.
pub(super) fn limit() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// Runs a job on one of the threads. Panics in jobs are caught.
pub(super) fn spawn(job: impl FnOnce() + Send + 'static) {
    let mut state = THREADS.state();
    state.jobs.push_back(Box::new(job));
    if state.idle >= state.jobs.len() {
        THREADS.wake.notify_one();
        return;
    }
    // A job may block on something else: a machine with one core has two threads.
    if state.started >= limit().max(2) {
        return;
    }
    state.started += 1;
    drop(state);
    let thread = thread::Builder::new().name("pipelines".into());
    if thread.spawn(|| THREADS.work()).is_err() {
        // No thread could be started. If there is none at all, the caller runs the job.
        let mut state = THREADS.state();
        state.started -= 1;
        if state.started == 0 {
            let jobs = std::mem::take(&mut state.jobs);
            drop(state);
            jobs.into_iter().for_each(run);
        }
    }
}

impl Threads {
    fn state(&self) -> MutexGuard<'_, ThreadsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut state = self.state();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                run(job);
                state = self.state();
                continue;
            }
            state.idle += 1;
            let waited = self.wake.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner);
            state = waited.0;
            state.idle -= 1;
            if waited.1.timed_out() && state.jobs.is_empty() {
                state.started -= 1;
                return;
            }
        }
    }
}

fn run(job: CompileJob) {
    let _ = catch_unwind(AssertUnwindSafe(job));
}
