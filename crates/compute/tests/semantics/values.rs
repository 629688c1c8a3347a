//! Rust's types for Metal's, and comparison of floating-point results.

use bytemuck::Pod;
use half::{bf16, f16};
use std::fmt::Debug;

/// A type that kernels and Rust share.
pub(crate) trait Value: Pod + PartialEq + Debug {
    /// Metal's names of the type, in a register and in memory: `("float3", "packed_float3")` for `[f32; 3]`.
    fn names() -> (String, String);

    /// True if the two have the same bits; all NaNs are equal.
    fn same(self, other: Self) -> bool {
        self == other
    }
}

macro_rules! values {
    ($($rust:ty => $metal:literal),*) => {$(
        impl Value for $rust {
            fn names() -> (String, String) {
                ($metal.into(), $metal.into())
            }
        }
    )*};
}
values!(i8 => "char", u8 => "uchar", i16 => "short", u16 => "ushort", i32 => "int", u32 => "uint", i64 => "long", u64 => "ulong");

macro_rules! float_values {
    ($($rust:ty => $metal:literal),*) => {$(
        impl Value for $rust {
            fn names() -> (String, String) {
                ($metal.into(), $metal.into())
            }

            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
            }
        }
    )*};
}
float_values!(f16 => "half", bf16 => "bfloat", f32 => "float");

impl<T: Value, const N: usize> Value for [T; N]
where
    [T; N]: Pod,
{
    fn names() -> (String, String) {
        let name = format!("{}{N}", T::names().0);
        // Three components fill the space of four, unless they are packed.
        let in_memory = if N == 3 { format!("packed_{name}") } else { name.clone() };
        (name, in_memory)
    }

    fn same(self, other: Self) -> bool {
        self.into_iter().zip(other).all(|(a, b)| a.same(b))
    }
}

/// A floating-point number, or a vector of them.
pub(crate) trait Floats: Value {
    /// The same in `f64`.
    type Exact: Copy + Debug;

    /// Maximum error in units in the last place; infinite if it is far off.
    fn ulps_from(self, exact: Self::Exact) -> f64;

    /// Maximum absolute error.
    fn distance_from(self, exact: Self::Exact) -> f64;
}

macro_rules! floats {
    ($($rust:ty, $digits:literal, $least:literal, $greatest:literal);*) => {$(
        impl Floats for $rust {
            type Exact = f64;

            fn ulps_from(self, exact: f64) -> f64 {
                let got = f64::from(self);
                if got.is_nan() || exact.is_nan() {
                    return if got.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
                }
                let least_exponent: i32 = $least;
                let exponent = if exact == 0.0 { least_exponent } else { exponent_of(exact).max(least_exponent) };
                let ulp = 2f64.powi(exponent - ($digits - 1));
                let greatest = 2f64.powi($greatest);
                if exact.abs() >= greatest - ulp / 2.0 && got.is_infinite() {
                    return if (got > 0.0) == (exact > 0.0) { 0.0 } else { f64::INFINITY };
                }
                // Metal may flush a result below the normal numbers to zero.
                if exact.abs() < 2f64.powi(least_exponent) && got == 0.0 {
                    return 0.0;
                }
                (got - exact).abs() / ulp
            }

            fn distance_from(self, exact: f64) -> f64 {
                let got = f64::from(self);
                match got.is_nan() || exact.is_nan() {
                    true if got.is_nan() && exact.is_nan() => 0.0,
                    true => f64::INFINITY,
                    false if got == exact => 0.0,
                    false => (got - exact).abs(),
                }
            }
        }
    )*};
}
floats!(f32, 24, -126, 128; f16, 11, -14, 16; bf16, 8, -126, 128);

impl<T: Floats<Exact = f64>, const N: usize> Floats for [T; N]
where
    [T; N]: Pod,
{
    type Exact = [f64; N];

    fn ulps_from(self, exact: [f64; N]) -> f64 {
        self.into_iter().zip(exact).map(|(got, exact)| got.ulps_from(exact)).fold(0.0, f64::max)
    }

    fn distance_from(self, exact: [f64; N]) -> f64 {
        self.into_iter().zip(exact).map(|(got, exact)| got.distance_from(exact)).fold(0.0, f64::max)
    }
}

/// The exponent of the highest bit.
fn exponent_of(x: f64) -> i32 {
    let bits = x.to_bits() >> 52 & 0x7ff;
    bits as i32 - 1023
}
