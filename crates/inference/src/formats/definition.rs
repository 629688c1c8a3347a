//! Definition of a format, and the properties of [`Format`] that follow from it.

use super::Format;
use crate::metal::kernels;
use crate::weights::TensorType;
use half::f16;
use std::fmt;

/// Definition of a format. GGUF's tensor type gives the size of its block.
#[derive(Debug)]
pub(super) struct Definition {
    /// Name in kernel names.
    pub(super) name: &'static str,
    pub(super) tensor_type: TensorType,
    /// llama.cpp's number for files that are mostly in this format.
    pub(super) file_type: u32,
    /// Units of a block that are no words of four bytes, by offset.
    pub(super) narrow: &'static [(usize, Narrow)],
    /// Maps a unit's offset in a block to its offset in a tile, in parts of 32 bytes; the same for most formats.
    pub(super) tile_offset: fn(usize) -> usize,
    /// Largest rounding error, relative to the largest number of the block.
    pub(super) rounding: f64,
    /// Quantizes one block and appends it.
    pub(super) quantize: fn(&[f32], &mut Vec<u8>),
    /// Dequantizes one block.
    pub(super) dequantize: fn(&[u8]) -> Vec<f64>,
}

/// A unit of a block that is no word of four bytes. Scales have a value that gives random blocks weights of about 1.
#[derive(Clone, Copy, Debug)]
pub(super) enum Narrow {
    /// 16-bit scale.
    Half(f32),
    /// Scale that is a power of two: its exponent, plus 128, in a byte.
    Exponent(f32),
    /// 16 bits of anything else.
    Bits,
}

impl Narrow {
    /// Size in bytes.
    const fn size(self) -> usize {
        match self {
            Narrow::Half(_) | Narrow::Bits => 2,
            Narrow::Exponent(_) => 1,
        }
    }
}

/// Tiles have the units of a block in the order of the block.
pub(super) fn in_order(offset: usize) -> usize {
    offset
}

impl Format {
    /// Type in GGUF files.
    pub const fn tensor_type(self) -> TensorType {
        self.definition().tensor_type
    }

    /// Numbers per block; 1 for plain formats.
    pub const fn block_len(self) -> usize {
        self.tensor_type().block_len() as usize
    }

    /// Bytes per block.
    pub const fn block_size(self) -> usize {
        self.tensor_type().block_size() as usize
    }

    /// True if numbers are stored one by one, not in blocks.
    pub const fn is_plain(self) -> bool {
        self.block_len() == 1
    }

    /// Bytes of a row of `numbers` numbers; `None` if they are not whole blocks, or if the size overflows.
    pub const fn row_size(self, numbers: usize) -> Option<usize> {
        match numbers.is_multiple_of(self.block_len()) {
            true => (numbers / self.block_len()).checked_mul(self.block_size()),
            false => None,
        }
    }

    /// Gives a block of random bytes scales for weights of about 1, times a factor each.
    pub fn set_scales(self, block: &mut [u8], mut factor: impl FnMut() -> f32) {
        for &(offset, unit) in self.definition().narrow {
            match unit {
                Narrow::Half(typical) => {
                    block[offset..offset + 2].copy_from_slice(&f16::from_f32(typical * factor()).to_le_bytes());
                }
                Narrow::Exponent(typical) => block[offset] = ((typical * factor()).log2().floor() + 128.0) as u8,
                Narrow::Bits => {}
            }
        }
    }

    /// True if all numbers of a block are finite. Scales may be too large for 16 bits.
    pub(crate) fn is_finite(self, block: &[u8]) -> bool {
        let is_half = |offset: usize| f16::from_le_bytes([block[offset], block[offset + 1]]).is_finite();
        match self {
            Format::F32 | Format::BF16 => (self.definition().dequantize)(block)[0].is_finite(),
            Format::F16 => is_half(0),
            _ => self
                .definition()
                .narrow
                .iter()
                .all(|&(offset, unit)| !matches!(unit, Narrow::Half(_)) || is_half(offset)),
        }
    }

    /// Largest rounding error of [`super::quantize`], relative to the largest number of the block.
    pub const fn rounding(self) -> f64 {
        self.definition().rounding
    }

    /// llama.cpp's number for files that are mostly in this format.
    pub(crate) const fn file_type(self) -> u32 {
        self.definition().file_type
    }

    /// Units of a block, as offset and size: scales have one or two bytes, everything else four; a plain number is one
    /// unit.
    pub(crate) fn units(self) -> impl Iterator<Item = (usize, usize)> {
        let narrow = move |at: usize| self.definition().narrow.iter().find(|&&(offset, _)| offset == at);
        let word = self.block_size().min(4);
        let mut end = 0;
        std::iter::from_fn(move || {
            let (offset, size) = (end, narrow(end).map_or(word, |(_, unit)| unit.size()));
            end += size;
            (offset < self.block_size()).then_some((offset, size))
        })
    }

    /// Offset in a tile of the unit at an offset of a block, in parts of 32 bytes.
    pub(crate) fn tile_offset(self, offset: usize) -> usize {
        (self.definition().tile_offset)(offset)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.definition().name)
    }
}

/// The shaders' decoders must have blocks of the size that GGUF defines; they take plain numbers 32 at a time.
const _: () = {
    let mut i = 0;
    while i < kernels::DECODERS.len() {
        let (format, numbers, bytes) = kernels::DECODERS[i];
        let taken = if format.is_plain() { 32 } else { 1 };
        assert!(numbers == taken * format.block_len() && bytes == taken * format.block_size());
        i += 1;
    }
    assert!(kernels::DECODERS.len() == Format::ALL.len());
};
