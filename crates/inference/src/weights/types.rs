//! Tensor types of files. Kernels support some of them.

use std::fmt;

use crate::formats::Format;

/// Storage type of a tensor's numbers: all types of GGUF, including those that were removed, and those that loading
/// makes from other files.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs, non_camel_case_types, reason = "GGUF's names")]
#[repr(u32)]
#[non_exhaustive]
pub enum TensorType {
    F32 = 0,
    F16 = 1,
    Q4_0 = 2,
    Q4_1 = 3,
    Q4_2 = 4,
    Q4_3 = 5,
    Q5_0 = 6,
    Q5_1 = 7,
    Q8_0 = 8,
    Q8_1 = 9,
    Q2_K = 10,
    Q3_K = 11,
    Q4_K = 12,
    Q5_K = 13,
    Q6_K = 14,
    Q8_K = 15,
    IQ2_XXS = 16,
    IQ2_XS = 17,
    IQ3_XXS = 18,
    IQ1_S = 19,
    IQ4_NL = 20,
    IQ3_S = 21,
    IQ2_S = 22,
    IQ4_XS = 23,
    I8 = 24,
    I16 = 25,
    I32 = 26,
    I64 = 27,
    F64 = 28,
    IQ1_M = 29,
    BF16 = 30,
    Q4_0_4_4 = 31,
    Q4_0_4_8 = 32,
    Q4_0_8_8 = 33,
    TQ1_0 = 34,
    TQ2_0 = 35,
    IQ4_NL_4_4 = 36,
    IQ4_NL_4_8 = 37,
    IQ4_NL_8_8 = 38,
    MXFP4 = 39,
    NVFP4 = 40,
    Q1_0 = 41,
    /// MLX's numbers of 6 and 8 bits: scale, bias, and 32 bytes. Not in GGUF files.
    AFFINE8 = 42,
}

use TensorType::*;

/// All types, by their number in files: name, numbers per block, bytes per block. Formats take their sizes from here.
const TYPES: [(TensorType, &str, u64, u64); 43] = [
    (F32, "F32", 1, 4),
    (F16, "F16", 1, 2),
    (Q4_0, "Q4_0", 32, 18),
    (Q4_1, "Q4_1", 32, 20),
    (Q4_2, "Q4_2", 16, 10),
    (Q4_3, "Q4_3", 16, 12),
    (Q5_0, "Q5_0", 32, 22),
    (Q5_1, "Q5_1", 32, 24),
    (Q8_0, "Q8_0", 32, 34),
    (Q8_1, "Q8_1", 32, 36),
    (Q2_K, "Q2_K", 256, 84),
    (Q3_K, "Q3_K", 256, 110),
    (Q4_K, "Q4_K", 256, 144),
    (Q5_K, "Q5_K", 256, 176),
    (Q6_K, "Q6_K", 256, 210),
    (Q8_K, "Q8_K", 256, 292),
    (IQ2_XXS, "IQ2_XXS", 256, 66),
    (IQ2_XS, "IQ2_XS", 256, 74),
    (IQ3_XXS, "IQ3_XXS", 256, 98),
    (IQ1_S, "IQ1_S", 256, 50),
    (IQ4_NL, "IQ4_NL", 32, 18),
    (IQ3_S, "IQ3_S", 256, 110),
    (IQ2_S, "IQ2_S", 256, 82),
    (IQ4_XS, "IQ4_XS", 256, 136),
    (I8, "I8", 1, 1),
    (I16, "I16", 1, 2),
    (I32, "I32", 1, 4),
    (I64, "I64", 1, 8),
    (F64, "F64", 1, 8),
    (IQ1_M, "IQ1_M", 256, 56),
    (BF16, "BF16", 1, 2),
    (Q4_0_4_4, "Q4_0_4_4", 32, 18),
    (Q4_0_4_8, "Q4_0_4_8", 32, 18),
    (Q4_0_8_8, "Q4_0_8_8", 32, 18),
    (TQ1_0, "TQ1_0", 256, 54),
    (TQ2_0, "TQ2_0", 256, 66),
    (IQ4_NL_4_4, "IQ4_NL_4_4", 32, 18),
    (IQ4_NL_4_8, "IQ4_NL_4_8", 32, 18),
    (IQ4_NL_8_8, "IQ4_NL_8_8", 32, 18),
    (MXFP4, "MXFP4", 32, 17),
    (NVFP4, "NVFP4", 64, 36),
    (Q1_0, "Q1_0", 128, 18),
    (AFFINE8, "AFFINE8", 32, 36),
];

/// Types of GGUF files; the others are behind them.
const GGUF_TYPES: usize = 42;

impl TensorType {
    /// The type with this number in GGUF files.
    pub fn from_code(code: u32) -> Option<TensorType> {
        TYPES[..GGUF_TYPES].get(code as usize).map(|&(kind, ..)| kind)
    }

    /// True if GGUF files may have tensors of this type.
    pub const fn is_in_gguf(self) -> bool {
        (self as usize) < GGUF_TYPES
    }

    /// Number in GGUF files.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// All types of GGUF files.
    pub fn all() -> impl Iterator<Item = TensorType> {
        TYPES[..GGUF_TYPES].iter().map(|&(kind, ..)| kind)
    }

    const fn row(self) -> (TensorType, &'static str, u64, u64) {
        TYPES[self as usize]
    }

    /// Name, such as `Q4_0`.
    pub const fn name(self) -> &'static str {
        self.row().1
    }

    /// Numbers per block; 1 for plain types.
    pub const fn block_len(self) -> u64 {
        self.row().2
    }

    /// Bytes per block.
    pub const fn block_size(self) -> u64 {
        self.row().3
    }

    /// Bits per number, scales included.
    pub fn bits(self) -> f64 {
        self.block_size() as f64 * 8.0 / self.block_len() as f64
    }

    /// The format that kernels support, if any.
    pub fn format(self) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.tensor_type() == self)
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_numbers() {
        for (code, &(kind, name, ..)) in TYPES.iter().enumerate() {
            assert_eq!((kind as usize, format!("{kind:?}")), (code, name.to_owned()));
            assert_eq!(TensorType::from_code(kind.code()), Some(kind).filter(|kind| kind.is_in_gguf()));
        }
        assert_eq!(TensorType::from_code(GGUF_TYPES as u32), None);
    }

    #[test]
    fn formats_have_the_block_sizes_of_their_tensor_types() {
        for format in Format::ALL {
            let kind = format.tensor_type();
            assert_eq!(kind.format(), Some(format));
            assert_eq!(
                (kind.block_len(), kind.block_size()),
                (format.block_len() as u64, format.block_size() as u64)
            );
        }
        assert_eq!(TYPES.iter().filter(|(kind, ..)| kind.format().is_some()).count(), Format::ALL.len());
    }
}
