//! Results against references.

use crate::corpus::Corpus;
use crate::numbers::Number;

/// A buffer written by a kernel.
pub(crate) struct Output<'c, T> {
    pub(crate) corpus: &'c Corpus,
    pub(crate) kernel: String,
    pub(crate) numbers: Vec<T>,
}

impl<T: Number> Output<'_, T> {
    /// Every number must be the one next to the reference, or at most `units` of its type's precision from it.
    pub(crate) fn is_near(&self, reference: &[f64], units: f64) {
        self.compare(reference, |want| units * (T::EPSILON * want.abs() + T::TINY));
    }

    /// For sums, whose terms cancel: every number must be within `tolerance` of the reference, measured by the
    /// reference itself and by the root mean square of all of it, and at most `T`'s precision from it.
    pub(crate) fn is_within(&self, reference: &[f64], tolerance: f64) {
        let squares: f64 = reference.iter().filter(|want| want.is_finite()).map(|want| want * want).sum();
        let scale = (squares / reference.len().max(1) as f64).sqrt();
        self.compare(reference, |want| tolerance * (want.abs() + scale) + T::EPSILON * want.abs());
    }

    /// Every number must be the reference.
    pub(crate) fn is(&self, reference: &[f64]) {
        self.compare(reference, |_| 0.0);
    }

    /// Notes that the case compared it in its own way.
    pub(crate) fn was_compared(&self) {
        self.corpus.was_compared(&self.kernel);
    }

    fn compare(&self, reference: &[f64], allowed: impl Fn(f64) -> f64) {
        assert_eq!(self.numbers.len(), reference.len(), "{}: the reference has another length", self.kernel);
        let wrong = |(&number, &want): (&T, &f64)| {
            let got = number.to_f64();
            let same = got == want || (got.is_nan() && want.is_nan());
            let near = (got - want).abs() <= allowed(want);
            !(same || near)
        };
        let pairs = || self.numbers.iter().zip(reference);
        let faults: Vec<usize> = pairs().enumerate().filter(|(_, pair)| wrong(*pair)).map(|(at, _)| at).collect();
        let Some(&first) = faults.first() else {
            return self.was_compared();
        };
        let some: Vec<String> = faults
            .iter()
            .take(8)
            .map(|&at| format!("[{at}] {} for {:.9e}", self.numbers[at].to_f64(), reference[at]))
            .collect();
        panic!(
            "{}: {} of {} numbers are wrong, the first at {first} (allowed: {:.3e}):\n  {}",
            self.kernel,
            faults.len(),
            reference.len(),
            allowed(reference[first]),
            some.join("\n  ")
        );
    }
}
