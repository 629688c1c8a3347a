//! Types of numbers, and random ones.

use bytemuck::Pod;
use half::{bf16, f16};

/// A type of numbers in a buffer.
pub(crate) trait Number: Pod {
    /// The distance from 1 to the next number; 0 for integers.
    const EPSILON: f64;
    /// The smallest number; it and its like may be flushed to zero in single precision.
    const TINY: f64;
    /// As candle calls it.
    const NAME: &'static str;
    /// The value.
    fn to_f64(self) -> f64;
    /// The number next to a value.
    fn from_f64(value: f64) -> Self;
}

macro_rules! numbers {
    ($($number:ty, $epsilon:expr, $tiny:expr, $name:literal, |$x:ident| $to:expr, |$y:ident| $from:expr;)*) => { $(
        impl Number for $number {
            const EPSILON: f64 = $epsilon;
            const TINY: f64 = $tiny;
            const NAME: &'static str = $name;
            fn to_f64(self) -> f64 {
                let $x = self;
                $to
            }
            fn from_f64($y: f64) -> Self {
                $from
            }
        }
    )* };
}

numbers! {
    f32, f32::EPSILON as f64, f32::MIN_POSITIVE as f64, "f32", |x| x.into(), |y| y as f32;
    f16, 1.0 / 1024.0, 1.0 / 16_777_216.0, "f16", |x| x.into(), |y| f16::from_f64(y);
    bf16, 1.0 / 128.0, f32::MIN_POSITIVE as f64, "bf16", |x| x.into(), |y| bf16::from_f64(y);
    i64, 0.0, 0.0, "i64", |x| x as f64, |y| y as i64;
    i32, 0.0, 0.0, "i32", |x| x.into(), |y| y as i32;
    u32, 0.0, 0.0, "u32", |x| x.into(), |y| y as u32;
    u8, 0.0, 0.0, "u8", |x| x.into(), |y| y as u8;
    i8, 0.0, 0.0, "i8", |x| x.into(), |y| y as i8;
}

/// The values of numbers.
pub(crate) fn values<T: Number>(numbers: &[T]) -> Vec<f64> {
    numbers.iter().map(|number| number.to_f64()).collect()
}

/// Random numbers, the same in every run (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From `low` up to, and without, `high`.
    pub(crate) fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    /// Numbers of any type from `low` up to `high`.
    pub(crate) fn numbers<T: Number>(&mut self, count: usize, low: f64, high: f64) -> Vec<T> {
        (0..count).map(|_| T::from_f64(self.uniform(low, high))).collect()
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.bits() as u8).collect()
    }

    /// The numbers from 0 up to `count` in a random order.
    pub(crate) fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}
