//! Loading and running: whether something may still be compiled.

use std::sync::atomic::{AtomicU8, Ordering};

/// What becomes of asking for a pipeline that is not there after [`crate::PipelineCache::seal`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LateMisses {
    /// It is an error.
    Refuse,
    /// The pipeline is created.
    Create,
}

impl Default for LateMisses {
    /// An error in debug builds; otherwise the user rather waits.
    fn default() -> LateMisses {
        if cfg!(debug_assertions) { LateMisses::Refuse } else { LateMisses::Create }
    }
}

/// The phase in which a cache is.
pub(super) struct Phase {
    /// A [`LateMisses`], or [`LOADING`].
    current: AtomicU8,
}

/// The phase in which misses are expected.
const LOADING: u8 = u8::MAX;
const REFUSE: u8 = LateMisses::Refuse as u8;
const CREATE: u8 = LateMisses::Create as u8;

impl Default for Phase {
    fn default() -> Phase {
        Phase { current: AtomicU8::new(LOADING) }
    }
}

impl Phase {
    pub(super) fn seal(&self, late_misses: LateMisses) {
        self.current.store(late_misses as u8, Ordering::Release);
    }

    pub(super) fn unseal(&self) {
        self.current.store(LOADING, Ordering::Release);
    }

    /// What becomes of a miss; `None` while loading.
    pub(super) fn late_misses(&self) -> Option<LateMisses> {
        match self.current.load(Ordering::Acquire) {
            REFUSE => Some(LateMisses::Refuse),
            CREATE => Some(LateMisses::Create),
            _ => None,
        }
    }
}
