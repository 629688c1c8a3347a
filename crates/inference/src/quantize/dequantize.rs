//! What blocks are worth, as a reference: exact, and not fast.

use half::{bf16, f16};

use crate::metal::format::Format;

/// What the blocks are worth, from the definition of the format. Bytes after the last whole block are left out.
pub fn dequantize(format: Format, bytes: &[u8]) -> Vec<f64> {
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
