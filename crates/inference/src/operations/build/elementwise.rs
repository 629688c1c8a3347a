//! One number at a time.

use super::{Built, Maker, Problem};
use crate::formats::Format;
use crate::metal::operations::elementwise::{self, Binary, BinaryFunction, Copy, Scale, Unary, UnaryFunction};
use crate::operations::case::Case;
use crate::operations::data::all;
use crate::operations::formulas::sigmoid;

/// Count of numbers.
fn count(case: &Case) -> Result<usize, Problem> {
    let (rows, numbers) = (case.shape['M'], case.shape['N']);
    rows.checked_mul(numbers).ok_or_else(|| Problem::Shape(format!("{rows} × {numbers} numbers are too many")))
}

fn unary(maker: &Maker<'_>, case: &Case, function: UnaryFunction, formula: fn(f64) -> f64) -> Built {
    let (n, activation) = (count(case)?, case.activation);
    let (x, y) = (maker.activations(&[n], activation)?, maker.output("y", &[n], activation.into())?);
    maker.expect(&y, || x.numbers().into_iter().map(formula).collect());
    Ok(Box::new(move |encoding| {
        elementwise::unary(encoding, Unary { function, x: all(&x), y: y.slice(), n, activation })
    }))
}

fn binary(maker: &Maker<'_>, case: &Case, function: BinaryFunction, formula: fn(f64, f64) -> f64) -> Built {
    let (n, activation) = (count(case)?, case.activation);
    let (a, b) = (maker.activations(&[n], activation)?, maker.activations(&[n], activation)?);
    let y = maker.output("y", &[n], activation.into())?;
    maker.expect(&y, || a.numbers().into_iter().zip(b.numbers()).map(|(a, b)| formula(a, b)).collect());
    Ok(Box::new(move |encoding| {
        elementwise::binary(encoding, Binary { function, a: all(&a), b: all(&b), y: y.slice(), n, activation })
    }))
}

pub(crate) fn silu(maker: &Maker<'_>, case: &Case) -> Built {
    unary(maker, case, UnaryFunction::Silu, |x| x * sigmoid(x))
}

pub(crate) fn gelu(maker: &Maker<'_>, case: &Case) -> Built {
    unary(maker, case, UnaryFunction::Gelu, |x| {
        x / 2.0 * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
    })
}

pub(crate) fn add(maker: &Maker<'_>, case: &Case) -> Built {
    binary(maker, case, BinaryFunction::Add, |a, b| a + b)
}

pub(crate) fn multiply(maker: &Maker<'_>, case: &Case) -> Built {
    binary(maker, case, BinaryFunction::Multiply, |a, b| a * b)
}

pub(crate) fn silu_multiply(maker: &Maker<'_>, case: &Case) -> Built {
    binary(maker, case, BinaryFunction::SiluMultiply, |a, b| a * sigmoid(a) * b)
}

pub(crate) fn sigmoid_gate(maker: &Maker<'_>, case: &Case) -> Built {
    binary(maker, case, BinaryFunction::SigmoidGate, |a, b| a * sigmoid(b))
}

pub(crate) fn scale(maker: &Maker<'_>, case: &Case) -> Built {
    let (n, activation) = (count(case)?, case.activation);
    let (x, y) = (maker.activations(&[n], activation)?, maker.output("y", &[n], activation.into())?);
    let factor = 0.5;
    maker.expect(&y, || x.numbers().into_iter().map(|x| x * f64::from(factor)).collect());
    Ok(Box::new(move |encoding| {
        elementwise::scale(encoding, Scale { x: all(&x), y: y.slice(), n, factor, activation })
    }))
}

pub(crate) fn copy(maker: &Maker<'_>, case: &Case) -> Built {
    let (n, from, to) = (count(case)?, case.format.unwrap_or(Format::F32), case.activation);
    let (x, y) = (maker.numbers(&[n], from)?, maker.output("y", &[n], to.into())?);
    maker.expect(&y, || x.numbers());
    Ok(Box::new(move |encoding| elementwise::copy(encoding, Copy { x: all(&x), y: y.slice(), n, from, to })))
}
