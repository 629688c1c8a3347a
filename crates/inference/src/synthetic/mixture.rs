//! Quantization formats of the tensors of a file.

use std::fmt;

use crate::formats::Format;

/// Quantization of a file, as `llama-quantize` names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mixture {
    /// One format for all matrices, except a quantized tied embedding, which is Q8_0.
    One(Format),
    /// Q4_K, and Q6_K for the tensors most sensitive to rounding.
    Q4KM,
    /// Q5_K, and Q6_K for the tensors most sensitive to rounding.
    Q5KM,
}

impl Mixture {
    /// Iterates over all mixtures.
    pub(super) fn all() -> impl Iterator<Item = Mixture> {
        let formats = Format::in_gguf();
        formats.map(Mixture::One).chain([Mixture::Q4KM, Mixture::Q5KM])
    }

    /// Format of most matrices.
    pub(super) fn most(self) -> Format {
        match self {
            Mixture::One(format) => format,
            Mixture::Q4KM => Format::Q4_K,
            Mixture::Q5KM => Format::Q5_K,
        }
    }

    /// Format of the embedding. A tied one is also the output matrix.
    pub(super) fn table(self, tied: bool) -> Format {
        match self {
            Mixture::One(format) if format.is_plain() => format,
            Mixture::One(_) if tied => Format::Q8_0,
            Mixture::Q4KM | Mixture::Q5KM if tied => self.head(),
            _ => self.most(),
        }
    }

    /// Format of the output matrix.
    pub(super) fn head(self) -> Format {
        match self {
            Mixture::One(format) => format,
            Mixture::Q4KM | Mixture::Q5KM => Format::Q6_K,
        }
    }

    /// Format of the value and down projections: more bits in the first and the last eighth of the layers, and in every
    /// third layer between them.
    pub(super) fn delicate(self, layer: u32, layers: u32) -> Format {
        let (first, last) = (layers / 8, 7 * layers / 8);
        let has_more = layer < first || layer >= last || (layer - first) % 3 == 2;
        match self {
            Mixture::Q4KM | Mixture::Q5KM if has_more => Format::Q6_K,
            _ => self.most(),
        }
    }

    /// File type of llama.cpp (`general.file_type`).
    pub(super) fn file_type(self) -> u32 {
        match self {
            Mixture::One(format) => format.file_type(),
            Mixture::Q4KM => 15,
            Mixture::Q5KM => 17,
        }
    }
}

impl fmt::Display for Mixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mixture::One(format) => f.write_str(&format.to_string().to_lowercase()),
            Mixture::Q4KM => f.write_str("q4_k_m"),
            Mixture::Q5KM => f.write_str("q5_k_m"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_at_both_ends_and_every_third_between_have_more_bits() {
        let more = |layers: u32| -> Vec<u32> {
            (0..layers).filter(|&layer| Mixture::Q4KM.delicate(layer, layers) == Format::Q6_K).collect()
        };
        assert_eq!(more(2), [1]);
        assert_eq!(more(16), [0, 1, 4, 7, 10, 13, 14, 15]);
        assert_eq!(Mixture::One(Format::Q4_K).delicate(1, 2), Format::Q4_K);
    }

    #[test]
    fn tables_that_make_scores_have_more_bits() {
        assert_eq!(Mixture::Q4KM.table(false), Format::Q4_K);
        assert_eq!((Mixture::Q4KM.table(true), Mixture::Q5KM.head()), (Format::Q6_K, Format::Q6_K));
        assert_eq!(Mixture::One(Format::Q4_K).table(true), Format::Q8_0);
        assert_eq!(Mixture::One(Format::F16).table(true), Format::F16);
    }
}
