//! Matrices of weights in every format, and what they are worth.

use crate::random::Random;
use crate::tensor::Tensor;
use half::{bf16, f16};
use inference::metal::format::Format;

/// A matrix as a file has it, and its numbers.
pub(crate) struct Weights {
    /// As kernels read it.
    pub(crate) tensor: Tensor,
    /// `[rows, columns]`, exactly.
    pub(crate) numbers: Vec<f64>,
}

impl Weights {
    /// Random weights of the size of 1 or less. All bytes of a block but its scales may have any value.
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

/// Where a format has scales (halves), and their size for weights of about 1.
fn scales(format: Format) -> &'static [(usize, f64)] {
    match format {
        Format::F32 | Format::F16 | Format::BF16 => &[],
        Format::Q8_0 => &[(0, 1.0 / 128.0)],
        Format::Q4_0 => &[(0, 1.0 / 8.0)],
        Format::Q5_0 => &[(0, 1.0 / 16.0)],
        Format::Q4_1 => &[(0, 1.0 / 8.0), (2, -1.0)],
        Format::Q5_1 => &[(0, 1.0 / 16.0), (2, -1.0)],
        Format::Q4_K => &[(0, 1.0 / 400.0), (2, 1.0 / 50.0)],
        Format::Q5_K => &[(0, 1.0 / 800.0), (2, 1.0 / 50.0)],
        Format::Q6_K => &[(208, 1.0 / 2000.0)],
    }
}

fn set_scales(format: Format, block: &mut [u8], random: &mut Random) {
    match format {
        Format::F32 => block.copy_from_slice(&(random.normal() as f32).to_le_bytes()),
        Format::F16 => block.copy_from_slice(&f16::from_f64(random.normal()).to_le_bytes()),
        Format::BF16 => block.copy_from_slice(&bf16::from_f64(random.normal()).to_le_bytes()),
        _ => {}
    }
    for &(at, scale) in scales(format) {
        let scale = f16::from_f64(scale * (0.5 + random.uniform()));
        block[at..at + 2].copy_from_slice(&scale.to_le_bytes());
    }
}

/// What the blocks are worth, from the definition of the format.
pub(crate) fn dequantize(format: Format, bytes: &[u8]) -> Vec<f64> {
    let block = match format {
        Format::F32 => |block: &[u8]| vec![f64::from(f32::from_le_bytes([block[0], block[1], block[2], block[3]]))],
        Format::F16 => |block: &[u8]| vec![half(block, 0)],
        Format::BF16 => |block: &[u8]| vec![f64::from(bf16::from_le_bytes([block[0], block[1]]))],
        Format::Q8_0 => |block: &[u8]| block[2..].iter().map(|&q| half(block, 0) * f64::from(q as i8)).collect(),
        Format::Q4_0 => |block: &[u8]| nibbles(&block[2..]).map(|q| half(block, 0) * (q - 8.0)).collect(),
        Format::Q4_1 => |block: &[u8]| nibbles(&block[4..]).map(|q| half(block, 0) * q + half(block, 2)).collect(),
        Format::Q5_0 => |block: &[u8]| {
            let high = bits(&block[2..6], 16.0);
            nibbles(&block[6..]).zip(high).map(|(q, high)| half(block, 0) * (q + high - 16.0)).collect()
        },
        Format::Q5_1 => |block: &[u8]| {
            let high = bits(&block[4..8], 16.0);
            nibbles(&block[8..]).zip(high).map(|(q, high)| half(block, 0) * (q + high) + half(block, 2)).collect()
        },
        Format::Q4_K => |block: &[u8]| groups_of_32(block, &block[16..], None),
        Format::Q5_K => |block: &[u8]| groups_of_32(block, &block[48..], Some(&block[16..48])),
        Format::Q6_K => q6_k,
    };
    bytes.chunks_exact(format.block_size()).flat_map(block).collect()
}

fn half(block: &[u8], at: usize) -> f64 {
    f64::from(f16::from_le_bytes([block[at], block[at + 1]]))
}

/// 16 bytes: all low halves, then all high ones.
fn nibbles(bytes: &[u8]) -> impl Iterator<Item = f64> {
    let low = bytes.iter().map(|byte| f64::from(byte & 15));
    low.chain(bytes.iter().map(|byte| f64::from(byte >> 4)))
}

/// The bits of some bytes, the lowest of the first byte first, each worth `value`.
fn bits(bytes: &[u8], value: f64) -> impl Iterator<Item = f64> {
    bytes.iter().flat_map(move |byte| (0..8).map(move |bit| f64::from(byte >> bit & 1) * value))
}

/// Q4_K and Q5_K: a scale and a minimum for each of eight groups of 32.
fn groups_of_32(block: &[u8], low: &[u8], high: Option<&[u8]>) -> Vec<f64> {
    let packed = &block[4..16];
    let mut numbers = Vec::new();
    for group in 0..8 {
        let (scale, minimum) = match group {
            0..4 => (packed[group] & 63, packed[group + 4] & 63),
            _ => (
                packed[group + 4] & 15 | packed[group - 4] >> 6 << 4,
                packed[group + 4] >> 4 | packed[group] >> 6 << 4,
            ),
        };
        for i in 0..32 {
            let byte = low[group / 2 * 32 + i];
            let low = if group % 2 == 0 { byte & 15 } else { byte >> 4 };
            let high = high.map_or(0, |high| high[i] >> group & 1);
            let q = f64::from(low | high << 4);
            numbers.push(half(block, 0) * f64::from(scale) * q - half(block, 2) * f64::from(minimum));
        }
    }
    numbers
}

fn q6_k(block: &[u8]) -> Vec<f64> {
    let (low, high, scales) = (&block[..128], &block[128..192], &block[192..208]);
    let mut numbers = Vec::new();
    for half_block in 0..2 {
        let (low, high) = (&low[half_block * 64..], &high[half_block * 32..]);
        for quarter in 0..4 {
            for i in 0..32 {
                let byte = low[quarter % 2 * 32 + i];
                let nibble = if quarter < 2 { byte & 15 } else { byte >> 4 };
                let q = i32::from(nibble | (high[i] >> (2 * quarter) & 3) << 4) - 32;
                let scale = scales[half_block * 8 + quarter * 2 + i / 16] as i8;
                numbers.push(half(block, 208) * f64::from(scale) * f64::from(q));
            }
        }
    }
    numbers
}
