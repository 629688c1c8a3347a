//! Execution times of dispatches.

use std::sync::Arc;
use std::time::{Duration, Instant};

/// Start and end of one dispatch of a command buffer.
#[derive(Clone, Debug)]
pub struct DispatchTiming {
    /// The kernel's name.
    pub kernel: Arc<str>,
    /// The label of the pipeline state, if it has one.
    pub label: Option<Arc<str>>,
    /// Start of its first threadgroup.
    pub start: Instant,
    /// End of its last threadgroup.
    pub end: Instant,
}

impl DispatchTiming {
    /// Duration of the dispatch.
    pub fn duration(&self) -> Duration {
        self.end.saturating_duration_since(self.start)
    }

    /// Duration in nanoseconds.
    pub fn nanoseconds(&self) -> u64 {
        u64::try_from(self.duration().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Converts a time of another clock, which reads `now_seconds` at `now`. Returns `None` for 0, which devices report for
/// an unknown time, and for values that are not a time.
pub fn instant_at(seconds: f64, now: Instant, now_seconds: f64) -> Option<Instant> {
    if !(seconds > 0.0 && seconds.is_finite()) {
        return None;
    }
    match Duration::try_from_secs_f64(now_seconds - seconds) {
        Ok(before) => now.checked_sub(before),
        Err(_) => now.checked_add(Duration::try_from_secs_f64(seconds - now_seconds).ok()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_times_of_another_clock() {
        let now = Instant::now();
        assert_eq!(instant_at(1000.0, now, 1000.5), Some(now - Duration::from_millis(500)));
        assert_eq!(instant_at(1000.5, now, 1000.0), Some(now + Duration::from_millis(500)));
        assert_eq!(instant_at(1000.0, now, 1000.0), Some(now));
        for unknown in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::MAX] {
            assert_eq!(instant_at(unknown, now, 1000.0), None, "{unknown}");
        }
    }
}
