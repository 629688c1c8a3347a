//! Results beside what the formula says.

use crate::device::adversely;
use inference::formats::Activation;

/// How far a result may be from the reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    /// Σ(actual − expected)² / Σ expected²: the error of the whole.
    pub(crate) normalized_mean_square: f64,
    /// |actual − expected| of each number, relative to its size plus the root mean square of all: in a large array one
    /// wrong number is next to nothing of the whole.
    pub(crate) each: f64,
    /// Numbers below this count as nothing: they are denormal, or nearly.
    pub(crate) nothing: f64,
}

impl Bound {
    /// For a result of a few roundings in `activation`, from inputs that were read exactly. A rounding to f16 is off by
    /// 2⁻¹¹ at most, one to f32 by 2⁻²⁴.
    pub(crate) fn of(activation: Activation) -> Bound {
        match activation {
            Activation::F32 => Bound { normalized_mean_square: 1e-11, each: 2e-5, nothing: 1e-37 },
            Activation::F16 => Bound { normalized_mean_square: 5e-7, each: 2e-3, nothing: 1e-7 },
        }
    }
}

/// Compares every number; `what` says in messages what was computed. A NaN is never right.
#[track_caller]
pub(crate) fn assert_close(what: &str, actual: &[f64], expected: &[f64], bound: Bound) {
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

/// Makes the same result twice, the second time with kernels that run backwards: it must be the same bit for bit.
#[track_caller]
pub(crate) fn repeated<R>(what: &str, contents: impl Fn(&R) -> Vec<u8>, make: impl Fn() -> R) -> R {
    let (first, second) = (make(), adversely(&make));
    assert!(contents(&first) == contents(&second), "{what}: two runs differ, the second of which was adverse");
    first
}
