//! Parallel map with results in order.

use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

/// Large, because nested expressions and LLVM recurse deeply.
const STACK_SIZE: usize = 64 << 20;

/// Applies `work` to all items on several threads; results are in the order of the items.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let results: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
    let next = Mutex::new(items.iter().enumerate());
    let run = || {
        loop {
            // A separate statement: the lock must not be held during the work.
            let item = next.lock().expect("no thread panics with it").next();
            let Some((index, item)) = item else { return };
            let result = work(item);
            results.lock().expect("no thread panics with it")[index] = Some(result);
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads().min(items.len()) {
            let thread = thread::Builder::new().stack_size(STACK_SIZE);
            thread.spawn_scoped(scope, run).expect("a thread can be started");
        }
    });
    results.into_inner().expect("no thread panics with it").into_iter().flatten().collect()
}

/// Number of jobs of cargo.
fn threads() -> usize {
    let jobs = std::env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok());
    jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get)).max(1)
}
