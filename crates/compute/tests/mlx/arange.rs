//! `arangefloat32` and its relatives: start + index · step.

use crate::array::{Array, DType, Scalar};
use crate::compare::Tolerance;
use crate::harness::{self, Argument, Case, CaseGrid};

pub(crate) fn cases() -> impl Iterator<Item = Case> {
    harness::names("arange").into_iter().filter_map(|name| {
        let dtype = DType::named(name.strip_prefix("arange")?)?;
        let length = 101;
        // A quarter at a time, up from −4: exact in every type.
        let value = |index: i128| match dtype.is_integer() {
            true => Scalar::Int(5 + 2 * index),
            false => Scalar::Float(-4.0 + 0.25 * index as f64),
        };
        let step = if dtype.is_integer() { Scalar::Int(2) } else { Scalar::Float(0.25) };
        let scalar = |value| Argument::Bytes(Array::new(dtype, [value]).bytes());
        let case = Case::new(&name, CaseGrid::Threads([length, 1, 1], [64, 1, 1]));
        let expected: Vec<Scalar> = (0..length as i128).map(value).collect();
        Some(case.bind(scalar(value(0))).bind(scalar(step)).bind(Argument::output(
            dtype,
            expected,
            Tolerance::EXACT,
        )))
    })
}
