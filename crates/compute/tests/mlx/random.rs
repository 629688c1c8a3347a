//! Pseudo-random numbers, the same in every run (SplitMix64).

use crate::array::{Array, DType, Scalar};

pub(crate) struct Random(u64);

impl Random {
    /// A different sequence for each name.
    pub(crate) fn new(name: &str) -> Random {
        // FNV-1a
        Random(
            name.bytes()
                .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)),
        )
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of `0..end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// An integer from `low` to `high`, both included.
    pub(crate) fn int(&mut self, low: i128, high: i128) -> i128 {
        low + (i128::from(self.next()) % (high - low + 1))
    }

    /// A number between `low` and `high`.
    pub(crate) fn float(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Numbers between `low` and `high`, rounded to integers and clamped as the type requires.
    pub(crate) fn array(&mut self, dtype: DType, length: usize, low: f64, high: f64) -> Array {
        let value = |random: &mut Random| match dtype {
            DType::Bool => Scalar::Int(random.int(0, 1)),
            DType::Complex64 => Scalar::Complex(random.float(low, high), random.float(low, high)),
            _ if dtype.is_float() => Scalar::Float(random.float(low, high)),
            _ => {
                let (least, greatest) = dtype.range();
                Scalar::Int(random.int((low as i128).max(least), (high as i128).min(greatest)))
            }
        };
        Array::new(dtype, (0..length).map(|_| value(self)).collect::<Vec<_>>())
    }

    /// Multiples of `step` between `low` and `high`: numbers with so few digits that their sums and products are exact
    /// in any order. A correct kernel must match exactly.
    pub(crate) fn coarse(&mut self, dtype: DType, length: usize, low: f64, high: f64, step: f64) -> Array {
        let (least, greatest) = ((low / step) as i128, (high / step) as i128);
        let value = |random: &mut Random| random.int(least, greatest) as f64 * step;
        match dtype {
            DType::Complex64 => Array::new(
                dtype,
                (0..length).map(|_| Scalar::Complex(value(self), value(self))).collect::<Vec<_>>(),
            ),
            _ => Array::floats(dtype, (0..length).map(|_| value(self)).collect::<Vec<_>>()),
        }
    }
}
