//! The block formats of quantized weights, and what they mean.

use crate::numbers::{Number, Random};
use half::{bf16, f16};

/// A format: the number of weights and bytes of a block.
pub(crate) struct Format {
    /// As kernels are named after it.
    pub(crate) name: &'static str,
    /// Weights in a block.
    pub(crate) weights: usize,
    /// Bytes of a block.
    pub(crate) bytes: usize,
    /// Offsets of its scales, as half-precision numbers; all other bytes may have any value.
    scales: &'static [usize],
    decode: fn(&[u8], usize) -> f64,
}

/// All formats that are tried.
const FORMATS: &[Format] = &[
    Format { name: "q4_0", weights: 32, bytes: 18, scales: &[0], decode: q4_0 },
    Format { name: "q4_1", weights: 32, bytes: 20, scales: &[0, 2], decode: q4_1 },
    Format { name: "q5_0", weights: 32, bytes: 22, scales: &[0], decode: q5_0 },
    Format { name: "q5_1", weights: 32, bytes: 24, scales: &[0, 2], decode: q5_1 },
    Format { name: "q8_0", weights: 32, bytes: 34, scales: &[0], decode: q8_0 },
    Format { name: "iq4_nl", weights: 32, bytes: 18, scales: &[0], decode: iq4_nl },
    Format { name: "q2_K", weights: 256, bytes: 84, scales: &[80, 82], decode: q2_k },
    Format { name: "q3_K", weights: 256, bytes: 110, scales: &[108], decode: q3_k },
    Format { name: "q4_K", weights: 256, bytes: 144, scales: &[0, 2], decode: q4_k },
    Format { name: "q5_K", weights: 256, bytes: 176, scales: &[0, 2], decode: q5_k },
    Format { name: "q6_K", weights: 256, bytes: 210, scales: &[208], decode: q6_k },
    Format { name: "iq4_xs", weights: 256, bytes: 136, scales: &[0], decode: iq4_xs },
    Format { name: "f32", weights: 1, bytes: 4, scales: &[], decode: |block, _| read::<f32>(block, 0) },
    Format { name: "f16", weights: 1, bytes: 2, scales: &[], decode: |block, _| read::<f16>(block, 0) },
    Format { name: "bf16", weights: 1, bytes: 2, scales: &[], decode: |block, _| read::<bf16>(block, 0) },
];

impl Format {
    pub(crate) fn named(name: &str) -> &'static Format {
        FORMATS.iter().find(|format| format.name == name).unwrap_or_else(|| panic!("no format '{name}'"))
    }

    /// Random weights of about the size of 1.
    pub(crate) fn random(&self, random: &mut Random, weights: usize) -> Vec<u8> {
        assert_eq!(weights % self.weights, 0);
        let mut bytes = match self.name {
            "f32" => return bytemuck::cast_slice(&random.numbers::<f32>(weights, -1.0, 1.0)).to_vec(),
            "f16" => return bytemuck::cast_slice(&random.numbers::<f16>(weights, -1.0, 1.0)).to_vec(),
            "bf16" => return bytemuck::cast_slice(&random.numbers::<bf16>(weights, -1.0, 1.0)).to_vec(),
            _ => random.bytes(weights / self.weights * self.bytes),
        };
        for block in bytes.chunks_mut(self.bytes) {
            for &at in self.scales {
                let largest = (0..self.weights).map(|weight| (self.decode_with_scale(block, weight)).abs());
                let scale = random.uniform(0.3, 0.5) / largest.fold(1.0, f64::max);
                block[at..at + 2].copy_from_slice(&f16::from_f64(scale).to_le_bytes());
            }
        }
        bytes
    }

    /// The weight as it would be with all scales 1.
    fn decode_with_scale(&self, block: &[u8], weight: usize) -> f64 {
        let mut block = block.to_vec();
        for &at in self.scales {
            block[at..at + 2].copy_from_slice(&f16::ONE.to_le_bytes());
        }
        (self.decode)(&block, weight)
    }

    /// The weights.
    pub(crate) fn decode(&self, bytes: &[u8]) -> Vec<f64> {
        let blocks = bytes.chunks_exact(self.bytes);
        blocks.flat_map(|block| (0..self.weights).map(|weight| (self.decode)(block, weight))).collect()
    }
}

fn read<T: Number>(block: &[u8], at: usize) -> f64 {
    bytemuck::pod_read_unaligned::<T>(&block[at..at + size_of::<T>()]).to_f64()
}

fn half(block: &[u8], at: usize) -> f64 {
    read::<f16>(block, at)
}

/// In blocks of 32, the low nibbles of 16 bytes are the first half and the high ones the second.
fn nibble(bytes: &[u8], weight: usize) -> u8 {
    (bytes[weight % 16] >> (weight / 16 * 4)) & 15
}

fn bit(bytes: &[u8], bit: usize) -> u8 {
    (bytes[bit / 8] >> (bit % 8)) & 1
}

fn q4_0(block: &[u8], weight: usize) -> f64 {
    half(block, 0) * (f64::from(nibble(&block[2..], weight)) - 8.0)
}

fn q4_1(block: &[u8], weight: usize) -> f64 {
    half(block, 0) * f64::from(nibble(&block[4..], weight)) + half(block, 2)
}

fn q5_0(block: &[u8], weight: usize) -> f64 {
    let quant = nibble(&block[6..], weight) | bit(&block[2..], weight) << 4;
    half(block, 0) * (f64::from(quant) - 16.0)
}

fn q5_1(block: &[u8], weight: usize) -> f64 {
    let quant = nibble(&block[8..], weight) | bit(&block[4..], weight) << 4;
    half(block, 0) * f64::from(quant) + half(block, 2)
}

fn q8_0(block: &[u8], weight: usize) -> f64 {
    half(block, 0) * f64::from(block[2 + weight] as i8)
}

/// The values of the formats that are not linear.
const LEVELS: [f64; 16] =
    [-127.0, -104.0, -83.0, -65.0, -49.0, -35.0, -22.0, -10.0, 1.0, 13.0, 25.0, 38.0, 53.0, 69.0, 89.0, 113.0];

fn iq4_nl(block: &[u8], weight: usize) -> f64 {
    half(block, 0) * LEVELS[usize::from(nibble(&block[2..], weight))]
}

fn iq4_xs(block: &[u8], weight: usize) -> f64 {
    let part = weight / 32;
    let low = (block[4 + part / 2] >> (part % 2 * 4)) & 15;
    let high = (u16::from_le_bytes([block[2], block[3]]) >> (2 * part)) as u8 & 3;
    let level = LEVELS[usize::from(nibble(&block[8 + 16 * part..], weight % 32))];
    half(block, 0) * (f64::from(low | high << 4) - 32.0) * level
}

/// In blocks of 256, 32 bytes hold the two bits of four times 32 weights.
fn crumb(bytes: &[u8], weight: usize) -> u8 {
    (bytes[weight / 128 * 32 + weight % 32] >> (weight % 128 / 32 * 2)) & 3
}

fn q2_k(block: &[u8], weight: usize) -> f64 {
    let scale = block[weight / 16];
    half(block, 80) * f64::from(scale & 15) * f64::from(crumb(&block[16..80], weight))
        - half(block, 82) * f64::from(scale >> 4)
}

fn q3_k(block: &[u8], weight: usize) -> f64 {
    let (scales, part) = (&block[96..108], weight / 16);
    let low = (scales[part % 8] >> (part / 8 * 4)) & 15;
    let high = (scales[8 + part % 4] >> (part / 4 * 2)) & 3;
    let is_high = (block[weight % 32] >> (weight / 32)) & 1;
    let quant = f64::from(crumb(&block[32..96], weight)) - if is_high == 1 { 0.0 } else { 4.0 };
    half(block, 108) * (f64::from(low | high << 4) - 32.0) * quant
}

/// The scale and the minimum of 32 weights, six bits each.
fn scale_and_minimum(scales: &[u8], part: usize) -> (f64, f64) {
    let (scale, minimum) = if part < 4 {
        (scales[part] & 63, scales[part + 4] & 63)
    } else {
        (scales[part + 4] & 15 | scales[part - 4] >> 6 << 4, scales[part + 4] >> 4 | scales[part] >> 6 << 4)
    };
    (scale.into(), minimum.into())
}

/// In blocks of 256, 32 bytes hold the nibbles of twice 32 weights.
fn nibble_of_256(bytes: &[u8], weight: usize) -> u8 {
    (bytes[weight / 64 * 32 + weight % 32] >> (weight % 64 / 32 * 4)) & 15
}

fn q4_k(block: &[u8], weight: usize) -> f64 {
    let (scale, minimum) = scale_and_minimum(&block[4..16], weight / 32);
    half(block, 0) * scale * f64::from(nibble_of_256(&block[16..], weight)) - half(block, 2) * minimum
}

fn q5_k(block: &[u8], weight: usize) -> f64 {
    let (scale, minimum) = scale_and_minimum(&block[4..16], weight / 32);
    let high = (block[16 + weight % 32] >> (weight / 32)) & 1;
    let quant = nibble_of_256(&block[48..], weight) | high << 4;
    half(block, 0) * scale * f64::from(quant) - half(block, 2) * minimum
}

fn q6_k(block: &[u8], weight: usize) -> f64 {
    let (part, within) = (weight / 128, weight % 128);
    let low = (block[part * 64 + within % 64] >> (within / 64 * 4)) & 15;
    let high = (block[128 + part * 32 + within % 32] >> (within / 32 * 2)) & 3;
    let scale = block[192 + weight / 16] as i8;
    half(block, 208) * f64::from(scale) * (f64::from(low | high << 4) - 32.0)
}
