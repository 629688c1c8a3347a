//! Floating-point numbers of Metal's three formats, held in `f64`.
//!
//! An `f64` holds every `float`, `half` and `bfloat` exactly. Sums, products, quotients and square roots computed in
//! `f64` and then rounded here are correctly rounded: `f64` has more than twice the digits of `float` plus two, so
//! that rounding twice gives the same. Where that argument fails ([`from_int`], [`fma`]) the first step rounds to odd.

use crate::types::FloatKind;

/// The shape of an IEEE-like binary format.
struct Format {
    /// Digits, the implicit one included.
    precision: i32,
    /// The exponent of the smallest normal number.
    min_exponent: i32,
    /// The exponent of the largest number.
    max_exponent: i32,
}

fn format(kind: FloatKind) -> Format {
    match kind {
        FloatKind::Half => Format { precision: 11, min_exponent: -14, max_exponent: 15 },
        FloatKind::BFloat => Format { precision: 8, min_exponent: -126, max_exponent: 127 },
        FloatKind::Float => Format { precision: 24, min_exponent: -126, max_exponent: 127 },
    }
}

/// Two to the power of `exponent`, which is that of a normal `f64`.
fn power_of_two(exponent: i32) -> f64 {
    debug_assert!((-1022..=1023).contains(&exponent));
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// `value` rounded to the nearest number of `kind`, ties to even; beyond the largest it becomes infinite.
pub(crate) fn round_to(kind: FloatKind, value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let format = format(kind);
    // A subnormal `f64` reads as -1023 here, which is below every `min_exponent` and thus exact enough.
    let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let unit = exponent.max(format.min_exponent) - (format.precision - 1);
    if exponent > format.max_exponent {
        return f64::INFINITY.copysign(value);
    }
    let rounded = (value * power_of_two(-unit)).round_ties_even() * power_of_two(unit);
    if rounded.abs() >= power_of_two(format.max_exponent + 1) { f64::INFINITY.copysign(value) } else { rounded }
}

/// `value` rounded to the nearest number of `kind`.
pub(crate) fn from_int(kind: FloatKind, value: i128) -> f64 {
    let magnitude = value.unsigned_abs();
    let excess = (128 - magnitude.leading_zeros()).saturating_sub(53);
    let sticky = u128::from(magnitude & ((1u128 << excess) - 1) != 0);
    let odd = ((magnitude >> excess) | sticky) as f64 * power_of_two(excess as i32);
    round_to(kind, if value < 0 { -odd } else { odd })
}

/// `a * b + c` for numbers of `kind`, rounded once.
pub(crate) fn fma(kind: FloatKind, a: f64, b: f64, c: f64) -> f64 {
    let product = a * b; // exact: at most 48 digits
    let sum = product + c;
    if !sum.is_finite() || sum == 0.0 {
        return round_to(kind, sum);
    }
    // Knuth's two-sum: `sum + error` is the exact result.
    let from_c = sum - product;
    let error = (product - (sum - from_c)) + (c - from_c);
    let bits = sum.to_bits();
    let odd = if error == 0.0 || bits & 1 == 1 {
        sum
    } else if (error > 0.0) == (sum > 0.0) {
        f64::from_bits(bits + 1)
    } else {
        f64::from_bits(bits - 1)
    };
    round_to(kind, odd)
}

/// The bits of `value`, rounded to `kind`, in the low 16 or 32 bits.
pub(crate) fn to_bits(kind: FloatKind, value: f64) -> u32 {
    let value = round_to(kind, value);
    match kind {
        FloatKind::Float => (value as f32).to_bits(),
        // A `bfloat` is the upper half of a `float`; a NaN keeps its quiet bit there.
        FloatKind::BFloat => (value as f32).to_bits() >> 16,
        FloatKind::Half => half_bits(value),
    }
}

fn half_bits(value: f64) -> u32 {
    let sign = u32::from(value.is_sign_negative()) << 15;
    let magnitude = value.abs();
    if value.is_nan() {
        sign | 0x7e00
    } else if magnitude.is_infinite() {
        sign | 0x7c00
    } else if magnitude < power_of_two(-14) {
        sign | (magnitude * power_of_two(24)) as u32
    } else {
        let exponent = ((magnitude.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        let digits = (magnitude * power_of_two(10 - exponent)) as u32 & 0x3ff;
        sign | ((exponent + 15) as u32) << 10 | digits
    }
}

/// The number with these bits.
pub(crate) fn from_bits(kind: FloatKind, bits: u32) -> f64 {
    match kind {
        FloatKind::Float => f64::from(f32::from_bits(bits)),
        FloatKind::BFloat => f64::from(f32::from_bits(bits << 16)),
        FloatKind::Half => {
            let exponent = (bits >> 10 & 0x1f) as i32;
            let digits = f64::from(bits & 0x3ff);
            let magnitude = match exponent {
                0 => digits * power_of_two(-24),
                0x1f if digits == 0.0 => f64::INFINITY,
                0x1f => f64::NAN,
                _ => (digits + 1024.0) * power_of_two(exponent - 25),
            };
            if bits & 0x8000 != 0 { -magnitude } else { magnitude }
        }
    }
}

/// The smallest normal number of `kind`.
pub(crate) fn smallest_normal(kind: FloatKind) -> f64 {
    power_of_two(format(kind).min_exponent)
}

/// The largest number of `kind` below 1.
pub(crate) fn below_one(kind: FloatKind) -> f64 {
    1.0 - power_of_two(-format(kind).precision)
}

#[cfg(test)]
mod tests {
    use super::*;
    use FloatKind::{BFloat, Float, Half};

    #[test]
    fn every_half_and_bfloat_survives() {
        for kind in [Half, BFloat] {
            for bits in 0..=0xffffu32 {
                let value = from_bits(kind, bits);
                if value.is_nan() {
                    assert!(from_bits(kind, to_bits(kind, value)).is_nan());
                    continue;
                }
                assert_eq!(round_to(kind, value).to_bits(), value.to_bits(), "{kind:?} {bits:#x}");
                assert_eq!(to_bits(kind, value), bits, "{kind:?}");
            }
        }
    }

    /// A value halfway between two neighbours rounds to the even one, any other to the nearer one.
    #[test]
    fn rounds_to_nearest_even_everywhere() {
        for (kind, infinity) in [(Half, 0x7c00), (BFloat, 0x7f80)] {
            for bits in 0..infinity - 1 {
                let (low, high) = (from_bits(kind, bits), from_bits(kind, bits + 1));
                let middle = (low + high) / 2.0;
                let even = if bits & 1 == 0 { low } else { high };
                assert_eq!(round_to(kind, middle), even, "{kind:?} {bits:#x}");
                assert_eq!(round_to(kind, middle.next_down()), low);
                assert_eq!(round_to(kind, middle.next_up()), high);
                assert_eq!(round_to(kind, -middle.next_up()), -high);
            }
        }
    }

    #[test]
    fn float_agrees_with_the_hardware() {
        let mut state = 1u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = f64::from_bits(state ^ state >> 29);
            // Another with an exponent near the range of `float`.
            let near = f64::from_bits(value.to_bits() & !(0x7ff << 52) | (700 + (state >> 40) % 500) << 52);
            for value in [value, near] {
                let expected = f64::from(value as f32);
                let found = round_to(Float, value);
                assert!(found == expected || (found.is_nan() && expected.is_nan()), "{value:e}");
            }
        }
    }

    #[test]
    fn overflows_to_infinity() {
        assert_eq!(round_to(Half, 65519.0), 65504.0);
        assert_eq!(round_to(Half, 65520.0), f64::INFINITY);
        assert_eq!(round_to(Half, -1e300), f64::NEG_INFINITY);
        assert_eq!(round_to(Float, 1e39), f64::INFINITY);
        assert_eq!(smallest_normal(Float), f64::from(f32::MIN_POSITIVE));
        assert_eq!(round_to(Half, 5e-324), 0.0);
        assert!(round_to(Half, -5e-324).is_sign_negative());
        assert!(round_to(BFloat, f64::NAN).is_nan());
    }

    #[test]
    fn integers_are_rounded_once() {
        // 2^24 + 1 + a bit far below: through f64 first, the bit would be lost and the tie go to even.
        let value = (1i128 << 60) + (1 << 36) + 1;
        assert_eq!(from_int(Float, value), f64::from(value as f32));
        assert_eq!(from_int(Float, -value), f64::from(-value as f32));
        assert_eq!(from_int(Float, i128::from(u64::MAX)), f64::from(u64::MAX as f32));
        assert_eq!(from_int(Half, 2049), 2048.0);
        assert_eq!(from_int(Half, 0), 0.0);
    }

    #[test]
    fn fma_rounds_once() {
        let mut state = 7u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from_bits(state ^ state >> 13)
        };
        for _ in 0..100_000 {
            let (a, b, c) = (next(), next(), next());
            let expected = f64::from(a.mul_add(b, c));
            let found = fma(Float, f64::from(a), f64::from(b), f64::from(c));
            assert!(found == expected || (found.is_nan() && expected.is_nan()), "{a:e} {b:e} {c:e}");
        }
    }
}
