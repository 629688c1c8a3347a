//! `argmax_float32` and its relatives: the first index of the greatest or least element along an axis.

use crate::array::{DType, Scalar};
use crate::compare::Tolerance;
use crate::complex;
use crate::harness::{self, Argument, Case, CaseGrid};
use crate::layout::strided_locations;
use crate::random::Random;

pub(crate) fn cases() -> impl Iterator<Item = Case> {
    ["argmax_", "argmin_"].into_iter().flat_map(|prefix| {
        harness::names(prefix).into_iter().filter_map(move |name| {
            let dtype = DType::named(name.strip_prefix(prefix)?)?;
            // An array of 3 × 141 × 2, along its middle axis; few different values, so that the first must be found.
            let (shape, strides, axis, axis_stride) = ([3, 2], [282, 1], 141, 2);
            let values = Random::new(&name).array(dtype, 3 * 141 * 2, -9.0, 9.0);
            let best = |start: &usize| {
                let key = |index: &usize| values.values[start + index * axis_stride];
                let mut best = 0;
                for index in 1..axis {
                    let (candidate, current) = (key(&index), key(&best));
                    let better =
                        if prefix == "argmax_" { less(current, candidate) } else { less(candidate, current) };
                    if better {
                        best = index;
                    }
                }
                Scalar::Int(best as i128)
            };
            let expected: Vec<Scalar> = strided_locations(&shape, &strides).iter().map(best).collect();
            let case = Case::new(&name, CaseGrid::Threads([64, 6, 1], [64, 1, 1]))
                .input(&values)
                .bind(Argument::output(DType::Uint32, expected, Tolerance::EXACT))
                .bind(Argument::ints(&shape))
                .bind(Argument::longs(&strides))
                .bind(Argument::longs(&[2, 1]))
                .bind(Argument::long(2))
                .bind(Argument::long(axis_stride as i64))
                .bind(Argument::long(axis as i64));
            Some(case)
        })
    })
}

fn less(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::Int(a), Scalar::Int(b)) => a < b,
        (Scalar::Float(a), Scalar::Float(b)) => a < b,
        (a, b) => complex::less(a.complex(), b.complex()),
    }
}
