//! One number at a time.

use super::{Built, Maker, Problem};
use crate::formats::Format;
use crate::metal::operations::elementwise::{self, Binary, BinaryFunction, Copy, Scale, Unary, UnaryFunction};
use crate::operations::case::Case;
use crate::operations::data::all;

/// How many numbers.
fn count(case: &Case) -> Result<usize, Problem> {
    let (rows, numbers) = (case.shape['M'], case.shape['N']);
    rows.checked_mul(numbers).ok_or_else(|| Problem::Shape(format!("{rows} × {numbers} numbers are too many")))
}

fn unary(maker: &Maker<'_>, case: &Case, function: UnaryFunction) -> Built {
    let (n, activation) = (count(case)?, case.activation);
    let (x, y) = (maker.activations(&[n], activation)?, maker.output("y", &[n], activation.into())?);
    Ok(Box::new(move |encoding| {
        elementwise::unary(encoding, Unary { function, x: all(&x), y: y.slice(), n, activation })
    }))
}

fn binary(maker: &Maker<'_>, case: &Case, function: BinaryFunction) -> Built {
    let (n, activation) = (count(case)?, case.activation);
    let (a, b) = (maker.activations(&[n], activation)?, maker.activations(&[n], activation)?);
    let y = maker.output("y", &[n], activation.into())?;
    Ok(Box::new(move |encoding| {
        elementwise::binary(encoding, Binary { function, a: all(&a), b: all(&b), y: y.slice(), n, activation })
    }))
}

pub(crate) fn silu(maker: &Maker<'_>, case: &Case) -> Built {
    unary(maker, case, UnaryFunction::Silu)
}

pub(crate) fn gelu(maker: &Maker<'_>, case: &Case) -> Built {
    unary(maker, case, UnaryFunction::Gelu)
}

pub(crate) fn add(maker: &Maker<'_>, case: &Case) -> Built {
    binary(maker, case, BinaryFunction::Add)
}

pub(crate) fn multiply(maker: &Maker<'_>, case: &Case) -> Built {
    binary(maker, case, BinaryFunction::Multiply)
}

pub(crate) fn silu_multiply(maker: &Maker<'_>, case: &Case) -> Built {
    binary(maker, case, BinaryFunction::SiluMultiply)
}

pub(crate) fn sigmoid_gate(maker: &Maker<'_>, case: &Case) -> Built {
    binary(maker, case, BinaryFunction::SigmoidGate)
}

pub(crate) fn scale(maker: &Maker<'_>, case: &Case) -> Built {
    let (n, activation) = (count(case)?, case.activation);
    let (x, y) = (maker.activations(&[n], activation)?, maker.output("y", &[n], activation.into())?);
    Ok(Box::new(move |encoding| {
        elementwise::scale(encoding, Scale { x: all(&x), y: y.slice(), n, factor: 0.5, activation })
    }))
}

pub(crate) fn copy(maker: &Maker<'_>, case: &Case) -> Built {
    let (n, from, to) = (count(case)?, case.format.unwrap_or(Format::F32), case.activation);
    let (x, y) = (maker.numbers(&[n], from)?, maker.output("y", &[n], to.into())?);
    Ok(Box::new(move |encoding| elementwise::copy(encoding, Copy { x: all(&x), y: y.slice(), n, from, to })))
}
