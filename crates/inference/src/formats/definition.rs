//! The definition of a format, and the questions that it answers.

use super::Format;
use crate::metal::kernels;
use crate::weights::TensorType;
use std::fmt;

/// The definition of a format. The size of its block is that of its type in GGUF.
#[derive(Debug)]
pub(super) struct Definition {
    /// Its name in the names of kernels.
    pub(super) name: &'static str,
    pub(super) tensor_type: TensorType,
    /// The number of llama.cpp for files that have mostly this format.
    pub(super) file_type: u32,
    /// 16-bit scales in a block: offset, and a value with which random blocks hold weights of about 1.
    pub(super) scales: &'static [(usize, f32)],
    /// Place of the unit at an offset of a block in a tile, in parts of 32 bytes; as in the block for most formats.
    pub(super) tile_offset: fn(usize) -> usize,
    /// The largest rounding error, relative to the largest number of the block.
    pub(super) rounding: f64,
    /// Appends one block.
    pub(super) quantize: fn(&[f32], &mut Vec<u8>),
    /// The numbers of one block.
    pub(super) dequantize: fn(&[u8]) -> Vec<f64>,
}

/// Tiles have the units of a block in its own order.
pub(super) fn in_order(offset: usize) -> usize {
    offset
}

impl Format {
    /// Its type in GGUF files.
    pub const fn tensor_type(self) -> TensorType {
        self.definition().tensor_type
    }

    /// Numbers in a block; 1 where each is stored by itself.
    pub const fn block_len(self) -> usize {
        self.tensor_type().block_len() as usize
    }

    /// Bytes of a block.
    pub const fn block_size(self) -> usize {
        self.tensor_type().block_size() as usize
    }

    /// Numbers are stored by themselves, not in blocks.
    pub const fn is_plain(self) -> bool {
        self.block_len() == 1
    }

    /// Bytes of `numbers` numbers in a row; `None` where they are not whole blocks, or too many.
    pub const fn row_size(self, numbers: usize) -> Option<usize> {
        match numbers.is_multiple_of(self.block_len()) {
            true => (numbers / self.block_len()).checked_mul(self.block_size()),
            false => None,
        }
    }

    /// The 16-bit scales of a block: offset, and a value with which random blocks hold weights of about 1.
    pub const fn scales(self) -> &'static [(usize, f32)] {
        self.definition().scales
    }

    /// The largest rounding error of [`super::quantize`], relative to the largest number of the block.
    pub const fn rounding(self) -> f64 {
        self.definition().rounding
    }

    /// The number of llama.cpp for files that have mostly this format.
    pub(crate) const fn file_type(self) -> u32 {
        self.definition().file_type
    }

    /// The units of a block, offset and size: scales have two bytes, all else four; a plain number is one.
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

    /// Place of the unit at an offset of a block in a tile, in parts of 32 bytes.
    pub(crate) fn tile_offset(self, offset: usize) -> usize {
        (self.definition().tile_offset)(offset)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.definition().name)
    }
}

/// Every decoder of the shaders takes blocks of the size that GGUF gives them; plain numbers it takes 32 at a time.
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
