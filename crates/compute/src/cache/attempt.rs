//! One attempt at a time to create a pipeline: who comes first does it, who comes meanwhile waits for how it ends.
//!
//! **Invariant:** no lock is held while a pipeline is created, and every attempt ends: the one that makes it catches
//! panics.

use crate::error::{Error, Result};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// The attempt that is being made, if there is one.
#[derive(Default)]
pub(super) struct Attempts {
    current: Mutex<Option<Arc<Attempt>>>,
}

/// Somebody is at it.
pub(super) struct Attempt {
    by: ThreadId,
    /// Set when it has ended.
    outcome: Mutex<Option<Result<()>>>,
    ended: Condvar,
}

/// What is to be done by who asks.
pub(super) enum NextStep {
    /// It is there already.
    Ready,
    /// Create it, and then end the attempt.
    Create(Arc<Attempt>),
    /// Another thread is creating it.
    Wait(Arc<Attempt>),
    /// It is not there, and who asks may not create it.
    Missing,
}

impl Attempts {
    /// Whose turn it is; `is_ready` says whether there is nothing left to do.
    pub(super) fn turn(&self, may_create: bool, is_ready: impl FnOnce() -> bool) -> NextStep {
        let mut current = lock(&self.current);
        // An attempt that succeeds sets the pipeline before it ends: looking under the lock misses none.
        match &*current {
            _ if is_ready() => NextStep::Ready,
            Some(attempt) => NextStep::Wait(attempt.clone()),
            None if !may_create => NextStep::Missing,
            None => {
                let (outcome, ended) = (Mutex::new(None), Condvar::new());
                let attempt = Arc::new(Attempt { by: thread::current().id(), outcome, ended });
                *current = Some(attempt.clone());
                NextStep::Create(attempt)
            }
        }
    }

    /// Ends an attempt: all who wait for it get its outcome, and who asks after a failure tries again.
    pub(super) fn end(&self, attempt: &Attempt, outcome: Result<()>) {
        *lock(&self.current) = None;
        *lock(&attempt.outcome) = Some(outcome);
        attempt.ended.notify_all();
    }
}

impl Attempt {
    /// Waits for the end.
    pub(super) fn wait(&self) -> Result<()> {
        if self.by == thread::current().id() {
            return Err(Error::Usage("it is asked for by what creates it".into()));
        }
        let mut outcome = lock(&self.outcome);
        loop {
            match &*outcome {
                Some(outcome) => return outcome.clone(),
                None => outcome = self.ended.wait(outcome).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// Nothing under these locks panics halfway through a change.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
