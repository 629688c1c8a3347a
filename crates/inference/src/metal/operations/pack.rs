//! Activations in eight bits: `pack.metal`, `include/packed.metal`.

use crate::cases::{Built, Case, Maker, Operation, Variants, all};
use crate::formats::Activation;
use crate::metal::dispatch::{Check, DispatchGrid, Encoding, SIMD_WIDTH};
use crate::metal::kernels::pack as kernels;
use crate::metal::library::BufferSlice;
use compute::Result;

pub use crate::metal::kernels::packed::{PACKED_BYTES, PACKED_NUMBERS};

/// Cases to measure and to check.
pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "pack",
        kernels: &["pack"],
        variants: Variants::Activations,
        shape: "M=1 N=width",
        checks: &["M=3 N=96"],
        bytes: |c| c.a(c.mn()) + c.packed(c.mn()),
        flops: |c| 4.0 * c.mn(),
        build,
    },
    Operation {
        name: "round_numbers",
        kernels: &["round_numbers"],
        variants: Variants::One,
        shape: "M=512 N=width",
        checks: &["M=3 N=1096"],
        bytes: |c| 6.0 * c.mn(),
        flops: |c| c.mn(),
        build: build_round,
    },
];

/// A block of numbers in eight bits, `scale · q` each, as in the shader.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Default, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub struct PackedBlock {
    /// Largest magnitude of a number, divided by 127.
    pub scale: f32,
    /// scale · Σ q
    pub scaled_sum: f32,
    /// Σ q of the first half, and of the second.
    pub sums: [i32; 2],
    /// Rounded numbers.
    pub q: [i8; PACKED_NUMBERS],
}

const _: () = assert!(size_of::<PackedBlock>() == PACKED_BYTES);

impl PackedBlock {
    /// Packs numbers as the shader does, whose last block is filled up with zeros.
    pub fn pack(numbers: &[f32]) -> Vec<PackedBlock> {
        let block = |numbers: &[f32]| {
            let largest = numbers.iter().fold(0.0, |largest: f32, number| largest.max(number.abs()));
            let scale = largest * (1.0 / 127.0);
            let mut block = PackedBlock { scale, ..PackedBlock::default() };
            for (q, number) in block.q.iter_mut().zip(numbers).filter(|_| largest > 0.0) {
                *q = (number * (127.0 / largest)).round_ties_even() as i8;
            }
            let sum = |half: &[i8]| half.iter().map(|q| i32::from(*q)).sum();
            let (low, high) = block.q.split_at(PACKED_NUMBERS / 2);
            block.sums = [sum(low), sum(high)];
            block.scaled_sum = scale * (block.sums[0] + block.sums[1]) as f32;
            block
        };
        numbers.chunks(PACKED_NUMBERS).map(block).collect()
    }

    /// Its numbers, exactly.
    pub fn numbers(&self) -> [f64; PACKED_NUMBERS] {
        self.q.map(|q| f64::from(self.scale) * f64::from(q))
    }
}

/// Bytes of packed rows of `numbers` numbers; `None` if there are too many.
pub fn packed_bytes(rows: usize, numbers: usize) -> Option<usize> {
    rows.checked_mul(numbers.div_ceil(PACKED_NUMBERS))?.checked_mul(PACKED_BYTES)
}

/// [`pack`]: numbers in blocks of 32, rounded to eight bits with a scale each.
#[derive(Clone, Copy, Debug)]
pub struct Pack<'a> {
    /// `[n]` activations.
    pub x: BufferSlice<'a>,
    /// `[n / 32]` blocks.
    pub y: BufferSlice<'a>,
    /// Number of elements, a multiple of 32.
    pub n: usize,
    /// The type of x.
    pub activation: Activation,
}

/// Packs numbers for products of bytes.
pub fn pack(encoding: &mut Encoding<'_>, op: Pack<'_>) -> Result<()> {
    let kernel = kernels::PackNumbers::select(op.activation);
    let check = Check::new("pack", kernel.info());
    if !op.n.is_multiple_of(PACKED_NUMBERS) {
        return check.error(format_args!("{} numbers are not whole blocks of {PACKED_NUMBERS}", op.n));
    }
    let x = check.room("x", &op.x, &[op.n])?;
    let y = check.room("y", &op.y, &[op.n / PACKED_NUMBERS])?;
    check.no_overlap(&y, &x)?;
    if op.n == 0 {
        return Ok(());
    }
    let blocks = check.count("n / 32", op.n / PACKED_NUMBERS)?;
    let arguments = kernels::PackNumbersArgs { x: op.x, y: op.y, blocks };
    let grid = DispatchGrid::linear((blocks as usize).div_ceil(kernels::PACKED_BLOCKS), 1);
    encoding.describe(&OPERATIONS[0], op.activation, &[('M', 1), ('N', op.n)]);
    encoding.dispatch(kernel, &kernels::PackNumbersConstants {}, &arguments, grid)
}

/// [`round_numbers`]: f32 to half, for [`super::gemm()`].
#[derive(Clone, Copy, Debug)]
pub struct RoundNumbers<'a> {
    /// `[n]` f32.
    pub x: BufferSlice<'a>,
    /// `[n]` half.
    pub y: BufferSlice<'a>,
    /// Number of elements, a multiple of 8.
    pub n: usize,
}

/// Rounds numbers to half; those that half cannot express become the largest that it can.
pub fn round_numbers(encoding: &mut Encoding<'_>, op: RoundNumbers<'_>) -> Result<()> {
    let kernel = kernels::ROUND_NUMBERS;
    let check = Check::new("round_numbers", kernel.info());
    if !op.n.is_multiple_of(ROUNDED_TOGETHER) {
        return check.error(format_args!("{} numbers are no multiple of {ROUNDED_TOGETHER}", op.n));
    }
    let x = check.room("x", &op.x, &[op.n / 4])?;
    let y = check.room("y", &op.y, &[op.n / 4])?;
    check.no_overlap(&y, &x)?;
    if op.n == 0 {
        return Ok(());
    }
    let count = check.count("n / 8", op.n / ROUNDED_TOGETHER)?;
    let arguments = kernels::RoundNumbersArgs { x: op.x, y: op.y, count };
    let threads = kernels::ROUNDING_THREADS;
    let grid = DispatchGrid::linear((count as usize).div_ceil(threads), threads / SIMD_WIDTH);
    encoding.describe(&OPERATIONS[1], (), &[('M', 1), ('N', op.n)]);
    encoding.dispatch(kernel, &kernels::RoundNumbersConstants {}, &arguments, grid)
}

/// Numbers of a thread.
const ROUNDED_TOGETHER: usize = 8;

fn build(maker: &Maker<'_>, case: &Case) -> Built {
    let (n, activation) = (case.count()?, case.activation);
    let x = maker.activations(&[n], activation)?;
    let y = maker.output("y", &[n / PACKED_NUMBERS * PACKED_BYTES / 4], crate::cases::Number::U32)?;
    maker.expect(&y, || {
        let numbers: Vec<f32> = x.numbers().into_iter().map(|number| number as f32).collect();
        let words = |block: &PackedBlock| bytemuck::cast::<PackedBlock, [u32; PACKED_BYTES / 4]>(*block);
        PackedBlock::pack(&numbers).iter().flat_map(words).map(f64::from).collect()
    });
    Ok(Box::new(move |encoding| pack(encoding, Pack { x: all(&x), y: y.slice(), n, activation })))
}

fn build_round(maker: &Maker<'_>, case: &Case) -> Built {
    let n = case.count()?;
    let x = maker.activations(&[n], Activation::F32)?;
    let y = maker.output("y", &[n], crate::cases::Number::F16)?;
    maker.expect(&y, || x.numbers());
    Ok(Box::new(move |encoding| round_numbers(encoding, RoundNumbers { x: all(&x), y: y.slice(), n })))
}
