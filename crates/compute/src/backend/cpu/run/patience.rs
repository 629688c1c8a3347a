//! When to call other threads for help.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// For how long work is done alone before help is called, at least and at most. The least is about what it costs to wake
/// a thread; the most keeps that cost below a few percent where help is worth nothing.
pub(crate) const LEAST_PATIENCE: Duration = Duration::from_micros(20);
const MOST_PATIENCE: Duration = Duration::from_millis(1);

/// How long to work alone before calling for help.
pub(crate) struct Patience {
    nanoseconds: AtomicU64,
}

impl Patience {
    pub(crate) fn new() -> Patience {
        Patience { nanoseconds: AtomicU64::new(LEAST_PATIENCE.as_nanos() as u64) }
    }

    pub(crate) fn get(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed))
    }

    /// Help was called, and the work went this many times as fast as alone.
    pub(crate) fn learn(&self, speedup: f64) {
        let now = self.nanoseconds.load(Ordering::Relaxed);
        self.set(if speedup > 1.2 { now / 2 } else { now + now / 4 });
    }

    /// Help could have been called, and was not: in time it is worth another try.
    pub(crate) fn wear(&self) {
        let now = self.nanoseconds.load(Ordering::Relaxed);
        self.set(now - now / 512);
    }

    /// Two threads that set it at a time lose one's news, which does no harm.
    fn set(&self, nanoseconds: u64) {
        let (least, most) = (LEAST_PATIENCE.as_nanos() as u64, MOST_PATIENCE.as_nanos() as u64);
        self.nanoseconds.store(nanoseconds.clamp(least, most), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_follows_what_help_is_worth() {
        let patience = Patience::new();
        assert_eq!(patience.get(), LEAST_PATIENCE);
        for _ in 0..100 {
            patience.learn(1.0);
        }
        assert_eq!(patience.get(), MOST_PATIENCE);
        patience.wear();
        assert!(patience.get() < MOST_PATIENCE);
        for _ in 0..10 {
            patience.learn(1.9);
        }
        assert_eq!(patience.get(), LEAST_PATIENCE);
        patience.wear();
        assert_eq!(patience.get(), LEAST_PATIENCE);
    }
}
