//! Definition of a format, and the properties of [`Format`] that follow from it.

use super::Format;
use crate::metal::kernels;
use crate::weights::TensorType;
use std::fmt;

/// Definition of a format. GGUF's tensor type gives the size of its block.
#[derive(Debug)]
pub(super) struct Definition {
    /// Name in kernel names.
    pub(super) name: &'static str,
    pub(super) tensor_type: TensorType,
    /// llama.cpp's number for files that are mostly in this format.
    pub(super) file_type: u32,
    /// 16-bit scales of a block: offset, and a value that gives random blocks weights of about 1.
    pub(super) scales: &'static [(usize, f32)],
    /// Maps a unit's offset in a block to its offset in a tile, in parts of 32 bytes; the same for most formats.
    pub(super) tile_offset: fn(usize) -> usize,
    /// Largest rounding error, relative to the largest number of the block.
    pub(super) rounding: f64,
    /// Quantizes one block and appends it.
    pub(super) quantize: fn(&[f32], &mut Vec<u8>),
    /// Dequantizes one block.
    pub(super) dequantize: fn(&[u8]) -> Vec<f64>,
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

    /// 16-bit scales of a block: offset, and a value that gives random blocks weights of about 1.
    pub const fn scales(self) -> &'static [(usize, f32)] {
        self.definition().scales
    }

    /// Largest rounding error of [`super::quantize`], relative to the largest number of the block.
    pub const fn rounding(self) -> f64 {
        self.definition().rounding
    }

    /// llama.cpp's number for files that are mostly in this format.
    pub(crate) const fn file_type(self) -> u32 {
        self.definition().file_type
    }

    /// Units of a block, as offset and size: scales have two bytes, everything else four; a plain number is one unit.
    pub(crate) fn units(self) -> impl Iterator<Item = (usize, usize)> {
        let is_half =
            move |at: usize| self.block_size() == 2 || self.scales().iter().any(|&(offset, _)| offset == at);
        let mut end = 0;
        std::iter::from_fn(move || {
            let (offset, size) = (end, if is_half(end) { 2 } else { 4 });
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
