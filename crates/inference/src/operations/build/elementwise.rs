//! One number at a time.

use super::{Built, Maker, Problem};
use crate::metal::dispatch::elementwise::{
    self, Binary, BinaryFunction, Copy, CopyTypes, Scale, Unary, UnaryFunction,
};
use crate::metal::format::Format;
use crate::operations::case::Case;
use crate::operations::data::all;
use crate::operations::output::Number;

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

pub(in crate::operations) fn silu(maker: &Maker<'_>, case: &Case) -> Built {
    unary(maker, case, UnaryFunction::Silu)
}

pub(in crate::operations) fn gelu(maker: &Maker<'_>, case: &Case) -> Built {
    unary(maker, case, UnaryFunction::Gelu)
}

pub(in crate::operations) fn add(maker: &Maker<'_>, case: &Case) -> Built {
    binary(maker, case, BinaryFunction::Add)
}

pub(in crate::operations) fn multiply(maker: &Maker<'_>, case: &Case) -> Built {
    binary(maker, case, BinaryFunction::Multiply)
}

pub(in crate::operations) fn silu_multiply(maker: &Maker<'_>, case: &Case) -> Built {
    binary(maker, case, BinaryFunction::SiluMultiply)
}

pub(in crate::operations) fn sigmoid_gate(maker: &Maker<'_>, case: &Case) -> Built {
    binary(maker, case, BinaryFunction::SigmoidGate)
}

pub(in crate::operations) fn scale(maker: &Maker<'_>, case: &Case) -> Built {
    let (n, activation) = (count(case)?, case.activation);
    let (x, y) = (maker.activations(&[n], activation)?, maker.output("y", &[n], activation.into())?);
    Ok(Box::new(move |encoding| {
        elementwise::scale(encoding, Scale { x: all(&x), y: y.slice(), n, factor: 0.5, activation })
    }))
}

pub(in crate::operations) fn copy(maker: &Maker<'_>, case: &Case) -> Built {
    let (n, types) = (count(case)?, case.copy);
    let from = match types {
        CopyTypes::F32 | CopyTypes::F32ToF16 => Format::F32,
        CopyTypes::F16 | CopyTypes::F16ToF32 => Format::F16,
        CopyTypes::Bf16ToF32 | CopyTypes::Bf16ToF16 => Format::BF16,
    };
    let to = match types {
        CopyTypes::F32 | CopyTypes::F16ToF32 | CopyTypes::Bf16ToF32 => Number::F32,
        CopyTypes::F16 | CopyTypes::F32ToF16 | CopyTypes::Bf16ToF16 => Number::F16,
    };
    let (x, y) = (maker.numbers(&[n], from)?, maker.output("y", &[n], to)?);
    Ok(Box::new(move |encoding| elementwise::copy(encoding, Copy { x: all(&x), y: y.slice(), n, types })))
}
