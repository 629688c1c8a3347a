//! Weight matrices in every format, and their values.

use crate::random::Random;
use crate::tensor::Tensor;
use half::{bf16, f16};
use metalworks_inference::formats::Format;
use metalworks_inference::formats::dequantize;

/// A matrix in the layout of files, and its values.
pub(crate) struct Weights {
    /// The encoded matrix.
    pub(crate) tensor: Tensor,
    /// `[rows, columns]` numbers, exactly.
    pub(crate) numbers: Vec<f64>,
}

impl Weights {
    /// Random weights of about 1 or less. All bytes of a block except its scales may have any value.
    pub(crate) fn random(format: Format, rows: usize, columns: usize, random: &mut Random) -> Weights {
        let (numbers_in_block, size) = (format.block_len(), format.block_size());
        assert!(columns.is_multiple_of(numbers_in_block), "{columns} columns are not whole blocks of {format}");
        let mut bytes = Vec::with_capacity(rows * columns / numbers_in_block * size);
        for _ in 0..rows * columns / numbers_in_block {
            let mut block: Vec<u8> = (0..size).map(|_| random.bits() as u8).collect();
            set_scales(format, &mut block, random);
            bytes.extend(block);
        }
        let numbers = dequantize(format, &bytes);
        Weights { tensor: Tensor::bytes(&bytes), numbers }
    }
}

fn set_scales(format: Format, block: &mut [u8], random: &mut Random) {
    match format {
        Format::F32 => block.copy_from_slice(&(random.normal() as f32).to_le_bytes()),
        Format::F16 => block.copy_from_slice(&f16::from_f64(random.normal()).to_le_bytes()),
        Format::BF16 => block.copy_from_slice(&bf16::from_f64(random.normal()).to_le_bytes()),
        _ => format.set_scales(block, || (0.5 + random.uniform()) as f32),
    }
}
