//! Decides when to call other threads for help.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Bounds for the time to work alone before calling for help. The lower bound is about the cost of waking a thread; the
/// upper bound keeps that cost below a few percent where help gains nothing.
pub(crate) const LEAST_PATIENCE: Duration = Duration::from_micros(20);
const MOST_PATIENCE: Duration = Duration::from_millis(1);

/// Time to work alone before calling for help.
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

    /// Adjusts to a speedup measured with help.
    pub(crate) fn learn(&self, speedup: f64) {
        let now = self.nanoseconds.load(Ordering::Relaxed);
        self.set(if speedup > 1.2 { now / 2 } else { now + now / 4 });
    }

    /// Shrinks slowly while no help is called, so that help is tried again.
    pub(crate) fn wear(&self) {
        let now = self.nanoseconds.load(Ordering::Relaxed);
        self.set(now - now / 512);
    }

    /// Concurrent updates may lose one, which does no harm.
    fn set(&self, nanoseconds: u64) {
        let (least, most) = (LEAST_PATIENCE.as_nanos() as u64, MOST_PATIENCE.as_nanos() as u64);
        self.nanoseconds.store(nanoseconds.clamp(least, most), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_follows_the_measured_speedup() {
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
