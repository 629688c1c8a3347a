//! The types of numbers: activations, and the formats of weights.

use std::fmt;

/// The type of what flows between kernels. Weights of norms, sums and probabilities are always `f32`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Activation {
    F32,
    F16,
}

impl Activation {
    /// Both.
    pub const ALL: [Activation; 2] = [Activation::F32, Activation::F16];

    /// Bytes of a number.
    pub const fn size(self) -> usize {
        match self {
            Activation::F32 => 4,
            Activation::F16 => 2,
        }
    }
}

impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Activation::F32 => "f32",
            Activation::F16 => "f16",
        })
    }
}

/// How a matrix of weights is stored: as in GGUF files, which `include/quantize.metal` describes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, non_camel_case_types, reason = "GGUF's names")]
pub enum Format {
    F32,
    F16,
    BF16,
    Q8_0,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q4_K,
    Q5_K,
    Q6_K,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 11] = [
        Format::F32,
        Format::F16,
        Format::BF16,
        Format::Q8_0,
        Format::Q4_0,
        Format::Q4_1,
        Format::Q5_0,
        Format::Q5_1,
        Format::Q4_K,
        Format::Q5_K,
        Format::Q6_K,
    ];

    /// Numbers in a block; 1 where each is stored by itself.
    pub const fn block_len(self) -> usize {
        match self {
            Format::F32 | Format::F16 | Format::BF16 => 1,
            Format::Q8_0 | Format::Q4_0 | Format::Q4_1 | Format::Q5_0 | Format::Q5_1 => 32,
            Format::Q4_K | Format::Q5_K | Format::Q6_K => 256,
        }
    }

    /// Bytes of a block.
    pub const fn block_size(self) -> usize {
        match self {
            Format::F32 => 4,
            Format::F16 | Format::BF16 => 2,
            Format::Q8_0 => 34,
            Format::Q4_0 => 18,
            Format::Q4_1 => 20,
            Format::Q5_0 => 22,
            Format::Q5_1 => 24,
            Format::Q4_K => 144,
            Format::Q5_K => 176,
            Format::Q6_K => 210,
        }
    }

    /// Bytes of `numbers` numbers in a row; none where they are not whole blocks, or more than there can be.
    pub const fn row_size(self, numbers: usize) -> Option<usize> {
        match numbers.is_multiple_of(self.block_len()) {
            true => (numbers / self.block_len()).checked_mul(self.block_size()),
            false => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::F32 => "f32",
            Format::F16 => "f16",
            Format::BF16 => "bf16",
            Format::Q8_0 => "q8_0",
            Format::Q4_0 => "q4_0",
            Format::Q4_1 => "q4_1",
            Format::Q5_0 => "q5_0",
            Format::Q5_1 => "q5_1",
            Format::Q4_K => "q4_K",
            Format::Q5_K => "q5_K",
            Format::Q6_K => "q6_K",
        })
    }
}
