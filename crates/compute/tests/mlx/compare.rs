//! Comparison of buffers with their expected contents.

use crate::array::{DType, Scalar};
use std::fmt::Write;

/// Initial contents of outputs: few correct values have these bytes.
pub(crate) const UNWRITTEN: u8 = 0xa5;

/// Tolerance of a result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance {
    /// In units in the last place of the output's type.
    pub(crate) ulps: f64,
    /// In absolute terms, on top.
    pub(crate) absolute: f64,
}

impl Tolerance {
    /// The exact value, rounded once.
    pub(crate) const EXACT: Tolerance = Tolerance { ulps: 0.0, absolute: 0.0 };

    pub(crate) const fn ulps(ulps: f64) -> Tolerance {
        Tolerance { ulps, absolute: 0.0 }
    }

    pub(crate) const fn and_absolute(self, absolute: f64) -> Tolerance {
        Tolerance { absolute, ..self }
    }
}

/// Compares a buffer after a dispatch with the expected elements; `None` for one that must be unchanged. The error
/// lists the first few differences.
pub(crate) fn compare(
    dtype: DType,
    elements: &[Option<Scalar>],
    tolerance: Tolerance,
    before: &[u8],
    after: &[u8],
) -> Result<(), String> {
    let size = dtype.size();
    let (mut wrong, mut text) = (0, String::new());
    for (index, expected) in elements.iter().enumerate() {
        let bytes = &after[index * size..][..size];
        let found = dtype.read(bytes);
        let right = match expected {
            Some(expected) => agree(dtype, *expected, found, tolerance),
            None => bytes == &before[index * size..][..size],
        };
        if !right {
            wrong += 1;
            if wrong <= 3 {
                let unwritten = if bytes.iter().all(|byte| *byte == UNWRITTEN) { " (not written)" } else { "" };
                let _ = match expected {
                    Some(expected) => write!(text, "; [{index}] is {found:?}{unwritten}, not {expected:?}"),
                    None => write!(text, "; [{index}] was written: {found:?}"),
                };
            }
        }
    }
    let end = elements.len() * size;
    if after[end..] != before[end..] {
        return Err(format!("it was written past its end{text}"));
    }
    if wrong > 0 { Err(format!("{wrong} of {} elements{text}", elements.len())) } else { Ok(()) }
}

fn agree(dtype: DType, expected: Scalar, found: Scalar, tolerance: Tolerance) -> bool {
    match (dtype.hold(expected), found, expected) {
        (Scalar::Int(held), Scalar::Int(found), _) => (held - found).abs() as f64 <= tolerance.absolute,
        (Scalar::Float(held), Scalar::Float(found), expected) => {
            close(dtype, expected.float(), held, found, tolerance)
        }
        (Scalar::Complex(..), Scalar::Complex(real, imaginary), expected) => {
            // The error of one part is bounded by the size of the whole.
            let (expected_real, expected_imaginary) = expected.complex();
            let scale = expected_real.hypot(expected_imaginary);
            let tolerance = tolerance.and_absolute(tolerance.absolute + tolerance.ulps * dtype.epsilon() * scale);
            let part = |expected, found| close(dtype, expected, dtype.round(expected), found, tolerance);
            part(expected_real, real) && part(expected_imaginary, imaginary)
        }
        _ => false,
    }
}

fn close(dtype: DType, expected: f64, held: f64, found: f64, tolerance: Tolerance) -> bool {
    if held.is_nan() || found.is_nan() {
        return held.is_nan() && found.is_nan();
    }
    if held == found {
        return true;
    }
    if held.is_infinite() || found.is_infinite() {
        return false;
    }
    let ulp = dtype.epsilon() * expected.abs().max(dtype.least_normal());
    (expected - found).abs() <= tolerance.ulps * ulp + tolerance.absolute
}
