//! One number at a time.

use super::{Built, Maker, Problem};
use crate::cases::Case;
use crate::data::all;
use inference::metal::dispatch::elementwise::{
    self, Binary, BinaryFunction, Copy, CopyTypes, Scale, Unary, UnaryFunction,
};
use inference::metal::format::Format;

/// How many numbers.
fn count(case: &Case) -> Result<usize, Problem> {
    let (rows, numbers) = (case.shape['M'], case.shape['N']);
    rows.checked_mul(numbers).ok_or_else(|| Problem::Shape(format!("{rows} × {numbers} numbers are too many")))
}

fn unary(maker: &Maker<'_>, case: &Case, function: UnaryFunction) -> Built {
    let (n, activation) = (count(case)?, case.activation);
    let (x, y) = (maker.activations(&[n], activation)?, maker.zeros(&[n], activation.size())?);
    Ok(Box::new(move |encoding| {
        elementwise::unary(encoding, Unary { function, x: all(&x), y: all(&y), n, activation })
    }))
}

fn binary(maker: &Maker<'_>, case: &Case, function: BinaryFunction) -> Built {
    let (n, activation) = (count(case)?, case.activation);
    let (a, b) = (maker.activations(&[n], activation)?, maker.activations(&[n], activation)?);
    let y = maker.zeros(&[n], activation.size())?;
    Ok(Box::new(move |encoding| {
        elementwise::binary(encoding, Binary { function, a: all(&a), b: all(&b), y: all(&y), n, activation })
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
    let (x, y) = (maker.activations(&[n], activation)?, maker.zeros(&[n], activation.size())?);
    Ok(Box::new(move |encoding| {
        elementwise::scale(encoding, Scale { x: all(&x), y: all(&y), n, factor: 0.5, activation })
    }))
}

pub(crate) fn copy(maker: &Maker<'_>, case: &Case) -> Built {
    let (n, types) = (count(case)?, case.copy);
    let from = match types {
        CopyTypes::F32 | CopyTypes::F32ToF16 => Format::F32,
        CopyTypes::F16 | CopyTypes::F16ToF32 => Format::F16,
        CopyTypes::Bf16ToF32 | CopyTypes::Bf16ToF16 => Format::BF16,
    };
    let (x, y) = (maker.numbers(&[n], from)?, maker.zeros(&[n], types.sizes().1)?);
    Ok(Box::new(move |encoding| elementwise::copy(encoding, Copy { x: all(&x), y: all(&y), n, types })))
}
