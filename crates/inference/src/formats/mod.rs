//! Number formats: types of activations, and storage formats of weights.
//!
//! ```text
//! formats! ── Format, one line for each ── Definition: GGUF type, scales, rounding ── one file per family
//! ```
//!
//! `include/quantize.metal` has the decoder of each format. The build takes the list of formats from there: a format
//! without a definition here, or with another block size, does not compile.

mod blocks_of_32;
mod cache_type;
mod definition;
mod k_quants;
mod low_bits;
mod plain;
mod rounding;
mod tables;
#[cfg(test)]
mod tests;

pub use cache_type::CacheType;

use definition::Definition;
use std::fmt;

/// Type of the values that flow between kernels. Weights of norms, sums and probabilities are always `f32`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Activation {
    F32,
    F16,
}

impl Activation {
    /// Both types.
    pub const ALL: [Activation; 2] = [Activation::F32, Activation::F16];

    /// Size of a number in bytes.
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

/// Declares the formats: each a variant, and the constant that defines it.
macro_rules! formats {
    ($($variant:ident = $definition:path;)*) => {
        /// Storage format of a weight matrix, as in GGUF files.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs, non_camel_case_types, reason = "GGUF's names")]
        #[non_exhaustive]
        pub enum Format {
            $($variant,)*
        }

        impl Format {
            /// All formats.
            pub const ALL: [Format; [$(Format::$variant),*].len()] = [$(Format::$variant),*];

            const fn definition(self) -> &'static Definition {
                match self {
                    $(Format::$variant => &$definition,)*
                }
            }
        }
    };
}

formats! {
    F32 = plain::F32;
    F16 = plain::F16;
    BF16 = plain::BF16;
    Q8_0 = blocks_of_32::Q8_0;
    AFFINE8 = blocks_of_32::AFFINE8;
    Q4_0 = blocks_of_32::Q4_0;
    Q4_1 = blocks_of_32::Q4_1;
    Q5_0 = blocks_of_32::Q5_0;
    Q5_1 = blocks_of_32::Q5_1;
    IQ4_NL = tables::IQ4_NL;
    MXFP4 = tables::MXFP4;
    Q2_K = low_bits::Q2_K;
    Q3_K = low_bits::Q3_K;
    Q4_K = k_quants::Q4_K;
    Q5_K = k_quants::Q5_K;
    Q6_K = k_quants::Q6_K;
    IQ4_XS = tables::IQ4_XS;
}

impl Format {
    /// Formats that store numbers one by one.
    pub const PLAIN: [Format; 3] = [Format::F32, Format::F16, Format::BF16];

    /// Formats that GGUF files can have.
    pub fn in_gguf() -> impl Iterator<Item = Format> {
        Format::ALL.into_iter().filter(|format| format.tensor_type().is_in_gguf())
    }

    /// Formats that store numbers in blocks.
    pub const QUANTIZED: [Format; Format::ALL.len() - Format::PLAIN.len()] = {
        let mut formats = [Format::F32; Format::ALL.len() - Format::PLAIN.len()];
        let (mut i, mut count) = (0, 0);
        while i < Format::ALL.len() {
            if !Format::ALL[i].is_plain() {
                formats[count] = Format::ALL[i];
                count += 1;
            }
            i += 1;
        }
        assert!(count == formats.len());
        formats
    };
}

/// Quantizes numbers; `None` if they are not whole blocks.
pub fn quantize(format: Format, numbers: &[f32]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(format.row_size(numbers.len())?);
    for block in numbers.chunks_exact(format.block_len()) {
        (format.definition().quantize)(block, &mut bytes);
    }
    Some(bytes)
}

/// Dequantizes blocks, exactly as the format defines them; slow. Bytes after the last whole block are ignored.
pub fn dequantize(format: Format, bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(format.block_size()).flat_map(format.definition().dequantize).collect()
}
