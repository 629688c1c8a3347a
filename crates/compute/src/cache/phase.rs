//! The phases of a cache: loading and running.

use std::sync::atomic::{AtomicU8, Ordering};

/// Policy for lookups of missing pipelines after [`crate::PipelineCache::seal`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LateMisses {
    /// Return an error.
    Refuse,
    /// Create the pipeline.
    Create,
}

impl Default for LateMisses {
    /// Refuse in debug builds; otherwise the user prefers to wait.
    fn default() -> LateMisses {
        if cfg!(debug_assertions) { LateMisses::Refuse } else { LateMisses::Create }
    }
}

/// The phase of a cache.
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

    /// The policy for misses; `None` while loading.
    pub(super) fn late_misses(&self) -> Option<LateMisses> {
        match self.current.load(Ordering::Acquire) {
            REFUSE => Some(LateMisses::Refuse),
            CREATE => Some(LateMisses::Create),
            _ => None,
        }
    }
}
