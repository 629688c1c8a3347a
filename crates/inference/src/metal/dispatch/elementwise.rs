//! One number at a time: `elementwise.metal`.

use super::{Check, Encoding, Grid, SIMD_WIDTH};
use crate::metal::format::Activation;
use crate::metal::kernels::elementwise as kernels;
use crate::metal::library::{BufferSlice, Kernel};
use compute::Result;

/// Simdgroups in a threadgroup: enough to do that starting it does not count.
const SIMDGROUPS: usize = 8;

/// Elements that a simdgroup computes, as in the shader.
const PER_SIMDGROUP: usize = 4 * SIMD_WIDTH;

/// [`unary`]: y = f(x).
#[derive(Clone, Copy, Debug)]
pub struct Unary<'a> {
    /// What is computed.
    pub function: UnaryFunction,
    /// `[n]` activations.
    pub x: BufferSlice<'a>,
    /// `[n]` activations; may be `x`.
    pub y: BufferSlice<'a>,
    /// How many.
    pub n: usize,
    /// The type of x and y.
    pub activation: Activation,
}

/// Functions of one number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryFunction {
    /// x · sigmoid(x)
    Silu,
    /// x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³)))
    Gelu,
}

/// A function of every number.
pub fn unary(encoding: &mut Encoding<'_>, op: Unary<'_>) -> Result<()> {
    let check = Check { operation: "unary" };
    let x = check.room("x", &op.x, &[op.n], op.activation.size())?;
    let y = check.room("y", &op.y, &[op.n], op.activation.size())?;
    check.in_place_or_apart(&y, &x)?;
    if op.n == 0 {
        return Ok(());
    }
    let kernel: Kernel<kernels::Unary> = match (op.function, op.activation) {
        (UnaryFunction::Silu, Activation::F32) => kernels::SILU_F32,
        (UnaryFunction::Silu, Activation::F16) => kernels::SILU_F16,
        (UnaryFunction::Gelu, Activation::F32) => kernels::GELU_F32,
        (UnaryFunction::Gelu, Activation::F16) => kernels::GELU_F16,
    };
    let arguments = kernels::UnaryArgs { x: op.x, y: op.y, n: check.count("n", op.n)? };
    encoding.dispatch(kernel, &kernels::UnaryConstants {}, &arguments, grid(op.n))
}

/// [`binary`]: y = f(a, b).
#[derive(Clone, Copy, Debug)]
pub struct Binary<'a> {
    /// What is computed.
    pub function: BinaryFunction,
    /// `[n]` activations.
    pub a: BufferSlice<'a>,
    /// `[n]` activations.
    pub b: BufferSlice<'a>,
    /// `[n]` activations; may be `a` or `b`.
    pub y: BufferSlice<'a>,
    /// How many.
    pub n: usize,
    /// The type of a, b and y.
    pub activation: Activation,
}

/// Functions of two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryFunction {
    /// a + b
    Add,
    /// a · b
    Multiply,
    /// silu(a) · b
    SiluMultiply,
    /// a · sigmoid(b)
    SigmoidGate,
}

/// A function of every pair of numbers.
pub fn binary(encoding: &mut Encoding<'_>, op: Binary<'_>) -> Result<()> {
    let check = Check { operation: "binary" };
    let y = check.room("y", &op.y, &[op.n], op.activation.size())?;
    for (name, slice) in [("a", &op.a), ("b", &op.b)] {
        check.in_place_or_apart(&y, &check.room(name, slice, &[op.n], op.activation.size())?)?;
    }
    if op.n == 0 {
        return Ok(());
    }
    let kernel: Kernel<kernels::Binary> = match (op.function, op.activation) {
        (BinaryFunction::Add, Activation::F32) => kernels::ADD_F32,
        (BinaryFunction::Add, Activation::F16) => kernels::ADD_F16,
        (BinaryFunction::Multiply, Activation::F32) => kernels::MULTIPLY_F32,
        (BinaryFunction::Multiply, Activation::F16) => kernels::MULTIPLY_F16,
        (BinaryFunction::SiluMultiply, Activation::F32) => kernels::SILU_MULTIPLY_F32,
        (BinaryFunction::SiluMultiply, Activation::F16) => kernels::SILU_MULTIPLY_F16,
        (BinaryFunction::SigmoidGate, Activation::F32) => kernels::SIGMOID_GATE_F32,
        (BinaryFunction::SigmoidGate, Activation::F16) => kernels::SIGMOID_GATE_F16,
    };
    let arguments = kernels::BinaryArgs { a: op.a, b: op.b, y: op.y, n: check.count("n", op.n)? };
    encoding.dispatch(kernel, &kernels::BinaryConstants {}, &arguments, grid(op.n))
}

/// [`scale`]: y = x · factor.
#[derive(Clone, Copy, Debug)]
pub struct Scale<'a> {
    /// `[n]` activations.
    pub x: BufferSlice<'a>,
    /// `[n]` activations; may be `x`.
    pub y: BufferSlice<'a>,
    /// How many.
    pub n: usize,
    /// What each is multiplied with.
    pub factor: f32,
    /// The type of x and y.
    pub activation: Activation,
}

/// Multiplies every number.
pub fn scale(encoding: &mut Encoding<'_>, op: Scale<'_>) -> Result<()> {
    let check = Check { operation: "scale" };
    let x = check.room("x", &op.x, &[op.n], op.activation.size())?;
    let y = check.room("y", &op.y, &[op.n], op.activation.size())?;
    check.in_place_or_apart(&y, &x)?;
    if op.n == 0 {
        return Ok(());
    }
    let kernel = match op.activation {
        Activation::F32 => kernels::SCALE_F32,
        Activation::F16 => kernels::SCALE_F16,
    };
    let params = kernels::ScaleParams { n: check.count("n", op.n)?, factor: op.factor };
    let arguments = kernels::ScaleArgs { x: op.x, y: op.y, p: &params };
    encoding.dispatch(kernel, &kernels::ScaleConstants {}, &arguments, grid(op.n))
}

/// [`copy`]: the same numbers elsewhere, or in another type.
#[derive(Clone, Copy, Debug)]
pub struct Copy<'a> {
    /// `[n]` numbers.
    pub x: BufferSlice<'a>,
    /// `[n]` numbers.
    pub y: BufferSlice<'a>,
    /// How many.
    pub n: usize,
    /// The types of x and y.
    pub types: CopyTypes,
}

/// From which type to which.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum CopyTypes {
    F32,
    F16,
    F32ToF16,
    F16ToF32,
    Bf16ToF32,
    Bf16ToF16,
}

impl CopyTypes {
    /// Bytes of a number in x and in y.
    pub fn sizes(self) -> (usize, usize) {
        match self {
            CopyTypes::F32 => (4, 4),
            CopyTypes::F16 | CopyTypes::Bf16ToF16 => (2, 2),
            CopyTypes::F32ToF16 => (4, 2),
            CopyTypes::F16ToF32 | CopyTypes::Bf16ToF32 => (2, 4),
        }
    }
}

/// Copies numbers and converts them.
pub fn copy(encoding: &mut Encoding<'_>, op: Copy<'_>) -> Result<()> {
    let check = Check { operation: "copy" };
    let (from, to) = op.types.sizes();
    let x = check.room("x", &op.x, &[op.n], from)?;
    let y = check.room("y", &op.y, &[op.n], to)?;
    check.apart(&y, &x)?;
    if op.n == 0 {
        return Ok(());
    }
    let kernel: Kernel<kernels::Copy> = match op.types {
        CopyTypes::F32 => kernels::COPY_F32,
        CopyTypes::F16 => kernels::COPY_F16,
        CopyTypes::F32ToF16 => kernels::COPY_F32_F16,
        CopyTypes::F16ToF32 => kernels::COPY_F16_F32,
        CopyTypes::Bf16ToF32 => kernels::COPY_BF16_F32,
        CopyTypes::Bf16ToF16 => kernels::COPY_BF16_F16,
    };
    let arguments = kernels::CopyArgs { x: op.x, y: op.y, n: check.count("n", op.n)? };
    encoding.dispatch(kernel, &kernels::CopyConstants {}, &arguments, grid(op.n))
}

fn grid(n: usize) -> Grid {
    Grid::linear(n.div_ceil(SIMDGROUPS * PER_SIMDGROUP), SIMDGROUPS)
}
