//! When the device worked on what.

use std::sync::Arc;
use std::time::{Duration, Instant};

/// When one dispatch of a command buffer ran.
#[derive(Clone, Debug)]
pub struct DispatchTiming {
    /// The kernel's name.
    pub kernel: Arc<str>,
    /// The label of the pipeline state, if it has one.
    pub label: Option<Arc<str>>,
    /// When its first threadgroup began.
    pub start: Instant,
    /// When its last threadgroup had ended.
    pub end: Instant,
}

impl DispatchTiming {
    /// How long it took.
    pub fn duration(&self) -> Duration {
        self.end.saturating_duration_since(self.start)
    }

    /// How long it took, in nanoseconds.
    pub fn nanoseconds(&self) -> u64 {
        u64::try_from(self.duration().as_nanos()).unwrap_or(u64::MAX)
    }
}
