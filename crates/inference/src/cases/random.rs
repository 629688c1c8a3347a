//! Random numbers that are the same on every machine.

use crate::formats::Format;
use half::{bf16, f16};
use std::cell::Cell;

/// SplitMix64.
pub(crate) struct Random(Cell<u64>);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(Cell::new(seed))
    }

    pub(crate) fn bits(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform between −1 and 1: 24 bits, so nothing is rounded.
    fn number(&self) -> f32 {
        (self.bits() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    /// Exponentially distributed, approximately: half of the numbers are below 1.4, half of the rest below 2.8, and so
    /// on. They are uniform within each half, because a logarithm is not the same on all machines.
    pub(crate) fn exponential(&self) -> f32 {
        let bits = self.bits();
        let part = ((bits >> 8) & 0xffff) as f32 / 65_536.0;
        1.375 * (bits.leading_zeros().min(16) as f32 + part)
    }

    /// Blocks of weights of about 1 or less. All bytes except the scales may have any value.
    pub(crate) fn blocks(&self, format: Format, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity((count + 1) * format.block_size());
        for _ in 0..count {
            let number = self.number();
            match format {
                Format::F32 => bytes.extend(number.to_le_bytes()),
                Format::F16 => bytes.extend(f16::from_f32(number).to_le_bytes()),
                Format::BF16 => bytes.extend(bf16::from_f32(number).to_le_bytes()),
                _ => {
                    let start = bytes.len();
                    while bytes.len() < start + format.block_size() {
                        bytes.extend(self.bits().to_le_bytes());
                    }
                    bytes.truncate(start + format.block_size());
                    format.set_scales(&mut bytes[start..], || 0.5 + 0.5 * number.abs());
                }
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_always_the_same() {
        let random = Random::new(1);
        assert_eq!([random.bits(), random.bits()], [0x910a_2dec_8902_5cc1, 0xbeeb_8da1_658e_ec67]);
        assert_eq!(random.number().to_bits(), 0x3f71_2744);
        let few: Vec<f32> = (0..4000).map(|_| random.exponential()).collect();
        let above = |bound: f32| few.iter().filter(|number| **number > bound).count();
        assert!((1900..2100).contains(&above(1.375)) && (900..1100).contains(&above(2.75)), "{}", above(1.375));
    }
}
