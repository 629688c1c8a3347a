//! The functions of `<metal_integer>`, for every type, against the same in wider numbers.

use crate::numbers::Random;
use crate::table::Table;

const THREADS: usize = 75;

fn operands(seed: u64) -> Vec<i64> {
    let mut random = Random::new(seed);
    (0..THREADS).map(|_| random.number()).collect()
}

macro_rules! functions {
    ($name:ident, $type:ty, $unsigned:ty, $metal:literal) => {
        #[test]
        fn $name() {
            type T = $type;
            type U = $unsigned;
            const BITS: i128 = T::BITS as i128;
            let x: &Vec<T> = &operands(41).iter().map(|x| *x as T).collect();
            let y: &Vec<T> = &operands(42).iter().map(|x| *x as T).collect();
            let z: &Vec<T> = &operands(43).iter().map(|x| *x as T).collect();
            // All in numbers in which nothing overflows.
            let wide = move |values: &'static str, i: usize| match values {
                "x" => x[i] as i128,
                "y" => y[i] as i128,
                _ => z[i] as i128,
            };
            let saturated = |value: i128| value.clamp(T::MIN as i128, T::MAX as i128) as T;
            let ordered = move |i: usize| {
                let mut three = [x[i], y[i], z[i]];
                three.sort_unstable();
                three
            };
            let offset = |i: usize| i as u32 % T::BITS;
            let mut table = Table::new(stringify!($name)).input("x", x).input("y", y).input("z", z);
            table
                .exact("abs(x)", move |i| wide("x", i).unsigned_abs() as T)
                .exact(concat!("(", $metal, ")absdiff(x, y)"), move |i| {
                    wide("x", i).abs_diff(wide("y", i)) as U as T
                })
                .exact("addsat(x, y)", move |i| saturated(wide("x", i) + wide("y", i)))
                .exact("subsat(x, y)", move |i| saturated(wide("x", i) - wide("y", i)))
                .exact("clamp(x, min(y, z), max(y, z))", move |i| x[i].clamp(y[i].min(z[i]), y[i].max(z[i])))
                .exact("clz(x)", move |i| x[i].leading_zeros() as T)
                .exact("ctz(x)", move |i| x[i].trailing_zeros() as T)
                .exact("popcount(x)", move |i| x[i].count_ones() as T)
                .exact("reverse_bits(x)", move |i| x[i].reverse_bits())
                .exact("hadd(x, y)", move |i| ((wide("x", i) + wide("y", i)) >> 1) as T)
                .exact("rhadd(x, y)", move |i| ((wide("x", i) + wide("y", i) + 1) >> 1) as T)
                .exact("mulhi(x, y)", move |i| ((wide("x", i) * wide("y", i)) >> BITS) as T)
                .exact("madhi(x, y, z)", move |i| (((wide("x", i) * wide("y", i)) >> BITS) + wide("z", i)) as T)
                .exact("madsat(x, y, z)", move |i| saturated(wide("x", i) * wide("y", i) + wide("z", i)))
                .exact("min(x, y)", move |i| x[i].min(y[i]))
                .exact("max(x, y)", move |i| x[i].max(y[i]))
                .exact("min3(x, y, z)", move |i| ordered(i)[0])
                .exact("median3(x, y, z)", move |i| ordered(i)[1])
                .exact("max3(x, y, z)", move |i| ordered(i)[2])
                .exact("rotate(x, y)", move |i| x[i].rotate_left(y[i] as u32 & (T::BITS - 1)))
                .exact(
                    concat!(
                        "uint o = i % ",
                        "(8 * sizeof(x)), n = 8 * sizeof(x) - o; r = extract_bits(x, o, n / 2);"
                    ),
                    move |i| {
                        let count = (T::BITS - offset(i)) / 2;
                        if count == 0 {
                            return 0;
                        }
                        let up = T::BITS - offset(i) - count;
                        (x[i] << up) >> (T::BITS - count)
                    },
                )
                .exact(
                    "uint o = i % (8 * sizeof(x)); r = insert_bits(x, y, o, (8 * sizeof(x) - o) / 2);",
                    move |i| {
                        let count = (T::BITS - offset(i)) / 2;
                        let ones = ((1u128 << count) - 1) as T;
                        x[i] & !(ones << offset(i)) | (y[i] & ones) << offset(i)
                    },
                )
                .exact(concat!($metal, "2(x, y) + min(", $metal, "2(x, y), ", $metal, "2(y, z))"), move |i| {
                    [x[i].wrapping_add(x[i].min(y[i])), y[i].wrapping_add(y[i].min(z[i]))]
                })
                .exact(concat!("popcount(", $metal, "4(x, y, z, 7))"), move |i| {
                    [x[i].count_ones() as T, y[i].count_ones() as T, z[i].count_ones() as T, 3]
                })
                .exact(concat!("addsat(", $metal, "3(x, y, z), ", $metal, "3(y, z, x))"), move |i| {
                    [x[i].saturating_add(y[i]), y[i].saturating_add(z[i]), z[i].saturating_add(x[i])]
                });
            table.run();
        }
    };
}
functions!(char_functions, i8, u8, "char");
functions!(uchar_functions, u8, u8, "uchar");
functions!(short_functions, i16, u16, "short");
functions!(ushort_functions, u16, u16, "ushort");
functions!(int_functions, i32, u32, "int");
functions!(uint_functions, u32, u32, "uint");
functions!(long_functions, i64, u64, "long");

/// Products of two `ulong`s do not fit in `i128`: the same with another width.
#[test]
fn ulong_functions() {
    let x: &Vec<u64> = &operands(44).iter().map(|x| *x as u64).collect();
    let y: &Vec<u64> = &operands(45).iter().map(|x| *x as u64).collect();
    let high = move |i: usize| ((u128::from(x[i]) * u128::from(y[i])) >> 64) as u64;
    let mut table = Table::new("ulong functions").input("x", x).input("y", y);
    table
        .exact("abs(x)", move |i| x[i])
        .exact("absdiff(x, y)", move |i| x[i].abs_diff(y[i]))
        .exact("addsat(x, y)", move |i| x[i].saturating_add(y[i]))
        .exact("subsat(x, y)", move |i| x[i].saturating_sub(y[i]))
        .exact("clz(x)", move |i| u64::from(x[i].leading_zeros()))
        .exact("ctz(x)", move |i| u64::from(x[i].trailing_zeros()))
        .exact("popcount(x)", move |i| u64::from(x[i].count_ones()))
        .exact("reverse_bits(x)", move |i| x[i].reverse_bits())
        .exact("hadd(x, y)", move |i| ((u128::from(x[i]) + u128::from(y[i])) >> 1) as u64)
        .exact("rhadd(x, y)", move |i| ((u128::from(x[i]) + u128::from(y[i]) + 1) >> 1) as u64)
        .exact("mulhi(x, y)", high)
        .exact("madhi(x, y, 5ul)", move |i| high(i).wrapping_add(5))
        .exact("madsat(x, y, x)", move |i| {
            (u128::from(x[i]) * u128::from(y[i])).saturating_add(u128::from(x[i])).min(u128::from(u64::MAX)) as u64
        })
        .exact("min(x, y) ^ max3(x, y, 9ul)", move |i| x[i].min(y[i]) ^ x[i].max(y[i]).max(9))
        .exact("rotate(x, y)", move |i| x[i].rotate_left(y[i] as u32 & 63))
        .exact("extract_bits(x, 8, 40)", move |i| x[i] >> 8 & 0xff_ffff_ffff)
        .exact("insert_bits(x, y, 16, 32)", move |i| x[i] & 0xffff_0000_0000_ffff | (y[i] & 0xffff_ffff) << 16);
    table.run();
}

/// Of 24 bits.
#[test]
fn products_of_24_bits() {
    let x: &Vec<i32> = &operands(46).iter().map(|x| (*x as i32) << 8 >> 8).collect();
    let y: &Vec<i32> = &operands(47).iter().map(|x| (*x as i32) << 8 >> 8).collect();
    let positive = |x: i32| x as u32 & 0xff_ffff;
    let mut table = Table::new("products of 24 bits").input("x", x).input("y", y);
    table
        .exact("mul24(x, y)", move |i| x[i].wrapping_mul(y[i]))
        .exact("mad24(x, y, 77)", move |i| x[i].wrapping_mul(y[i]).wrapping_add(77))
        .exact("mul24(uint(x) & 0xffffff, uint(y) & 0xffffff)", move |i| {
            positive(x[i]).wrapping_mul(positive(y[i]))
        })
        .exact("mad24(uint2(uint(x) & 0xffffff), uint2(3, 4), uint2(5, 6))", move |i| {
            [positive(x[i]).wrapping_mul(3).wrapping_add(5), positive(x[i]).wrapping_mul(4).wrapping_add(6)]
        });
    table.run();
}
