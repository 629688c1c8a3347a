//! Comparison of results with the formula.

use crate::device::adversely;
use metalworks_inference::formats::Activation;

/// Largest allowed difference between a result and the reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorBound {
    /// Σ(actual − expected)² / Σ expected²: the total error.
    pub(crate) normalized_mean_square: f64,
    /// |actual − expected| of each number, relative to its magnitude plus the root mean square of all: one wrong number
    /// hardly changes the total error of a large array.
    pub(crate) each: f64,
    /// Smaller numbers count as 0: they are denormal, or nearly.
    pub(crate) nothing: f64,
}

impl ErrorBound {
    /// For a result with a few roundings to `activation`, from exact inputs. Rounding to f16 is off by at most 2⁻¹¹,
    /// rounding to f32 by 2⁻²⁴.
    pub(crate) fn of(activation: Activation) -> ErrorBound {
        match activation {
            Activation::F32 => ErrorBound { normalized_mean_square: 1e-11, each: 2e-5, nothing: 1e-37 },
            Activation::F16 => ErrorBound { normalized_mean_square: 5e-7, each: 2e-3, nothing: 1e-7 },
        }
    }
}

/// Compares every number; `what` names the result in messages. A NaN never matches.
#[track_caller]
pub(crate) fn assert_close(what: &str, actual: &[f64], expected: &[f64], bound: ErrorBound) {
    assert_eq!(actual.len(), expected.len(), "{what}: the number of results");
    let power: f64 = expected.iter().map(|value| value * value).sum();
    let typical = (power / expected.len().max(1) as f64).sqrt();
    let mut squares = 0.0;
    for (i, (&actual, &expected)) in actual.iter().zip(expected).enumerate() {
        assert!(expected.is_finite(), "{what}: the reference of element {i} is {expected}");
        let error = (actual - expected).abs();
        let allowed = bound.each * (expected.abs() + typical) + bound.nothing;
        assert!(error <= allowed, "{what}: element {i} is {actual:?}, not {expected:?} ± {allowed:.2e}");
        squares += (error - bound.nothing).max(0.0).powi(2);
    }
    let error = if squares > 0.0 { squares / power } else { 0.0 };
    let allowed = bound.normalized_mean_square;
    assert!(error <= allowed, "{what}: the normalized mean square error is {error:.2e}, above {allowed:.2e}");
}

/// Computes a result twice, the second time with kernels that run in reverse order: both must be the same bits.
#[track_caller]
pub(crate) fn repeated<R>(what: &str, contents: impl Fn(&R) -> Vec<u8>, make: impl Fn() -> R) -> R {
    let (first, second) = (make(), adversely(&make));
    assert!(contents(&first) == contents(&second), "{what}: two runs differ, the second of which was adverse");
    first
}
