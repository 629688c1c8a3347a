//! Attempts to create a pipeline, one at a time: the first thread creates it, the others wait for the outcome.
//!
//! **Invariant:** no lock is held while a pipeline is created, and every attempt ends: the creating thread catches
//! panics.

use crate::error::{Error, Result};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// The current attempt, if any.
#[derive(Default)]
pub(super) struct Attempts {
    current: Mutex<Option<Arc<Attempt>>>,
}

/// A running attempt.
pub(super) struct Attempt {
    by: ThreadId,
    /// Set at its end.
    outcome: Mutex<Option<Result<()>>>,
    ended: Condvar,
}

/// The next step of a thread that needs the pipeline.
pub(super) enum NextStep {
    /// The pipeline exists.
    Ready,
    /// Create the pipeline, then end the attempt.
    Create(Arc<Attempt>),
    /// Another thread is creating it.
    Wait(Arc<Attempt>),
    /// The pipeline is missing, and this thread may not create it.
    Missing,
}

impl Attempts {
    /// Decides the next step; `is_ready` returns true if the pipeline exists.
    pub(super) fn turn(&self, may_create: bool, is_ready: impl FnOnce() -> bool) -> NextStep {
        let mut current = lock(&self.current);
        // A successful attempt sets the pipeline before it ends: a check under the lock cannot miss it.
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

    /// Ends an attempt: all waiting threads get its outcome. After a failure, the next thread tries again.
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
            return Err(Error::Usage("its creation needs the pipeline itself".into()));
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

/// No code panics under these locks halfway through a change.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
