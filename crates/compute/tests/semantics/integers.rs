//! Integer arithmetic in every type: operators, wrap-around, shifts by any count, division towards zero, comparison.

use crate::numbers::Random;
use crate::table::Table;

const THREADS: usize = 70;

/// Numbers of any size: limits, small ones, random bits.
fn operands(seed: u64) -> Vec<i64> {
    let mut random = Random::new(seed);
    let limits = [0, 1, -1, 127, -128, 255, 32767, -32768, 65535, i64::from(i32::MAX), i64::from(i32::MIN)];
    let larger = [i64::from(u32::MAX), i64::MAX, i64::MIN, 2, -2, 7, 31, 32, 33, 63, 64];
    let mut numbers: Vec<i64> = limits.into_iter().chain(larger).collect();
    numbers.extend((numbers.len()..THREADS).map(|_| random.next() as i64 >> random.below(60)));
    // The pairs of the two operands should not always be the same.
    let count = numbers.len();
    for index in (1..count).rev() {
        numbers.swap(index, random.below(index + 1));
    }
    numbers
}

macro_rules! operators {
    ($name:ident, $type:ty, $promoted:ty) => {
        #[test]
        fn $name() {
            type T = $type;
            type P = $promoted;
            let x: Vec<T> = operands(1).iter().map(|x| *x as T).collect();
            let y: Vec<T> = operands(2).iter().map(|y| *y as T).collect();
            // Divisors: not zero, and not -1 where the quotient could overflow.
            let d: Vec<T> =
                y.iter().map(|y| if *y == 0 || *y == (0 as T).wrapping_sub(1) { 3 } else { *y }).collect();
            let (x, y, d) = (&x, &y, &d);
            let count = |i: usize| y[i] as P as u32 & (P::BITS - 1);
            let bit = |answer: bool| u8::from(answer);
            let mut table = Table::new(stringify!($name)).input("x", x).input("y", y).input("d", d);
            table
                .exact("x + y", |i| x[i].wrapping_add(y[i]))
                .exact("x - y", |i| x[i].wrapping_sub(y[i]))
                .exact("x * y", |i| x[i].wrapping_mul(y[i]))
                .exact("x / d", |i| x[i].wrapping_div(d[i]))
                .exact("x % d", |i| x[i].wrapping_rem(d[i]))
                .exact("x & y", |i| x[i] & y[i])
                .exact("x | y", |i| x[i] | y[i])
                .exact("x ^ y", |i| x[i] ^ y[i])
                .exact("~x", |i| !x[i])
                .exact("-x", |i| x[i].wrapping_neg())
                .exact("+x", |i| x[i])
                .exact("x << y", |i| ((x[i] as P) << count(i)) as T)
                .exact("x >> y", |i| ((x[i] as P) >> count(i)) as T)
                .exact("x >> 3", |i| x[i] >> 3)
                .exact("x << 5", |i| x[i] << 5)
                .exact("x / 7", |i| x[i] / 7)
                .exact("x % 16", |i| x[i] % 16)
                .exact("!x", |i| bit(x[i] == 0))
                .exact("x < y", move |i| bit(x[i] < y[i]))
                .exact("x <= y", move |i| bit(x[i] <= y[i]))
                .exact("x > y", move |i| bit(x[i] > y[i]))
                .exact("x >= y", move |i| bit(x[i] >= y[i]))
                .exact("x == y", move |i| bit(x[i] == y[i]))
                .exact("x != y", move |i| bit(x[i] != y[i]))
                .exact("x && y", move |i| bit(x[i] != 0 && y[i] != 0))
                .exact("x || y", move |i| bit(x[i] != 0 || y[i] != 0))
                .exact("r = x; r++; ++r;", |i| x[i].wrapping_add(2))
                .exact("r = x; r--; --r;", |i| x[i].wrapping_sub(2))
                .exact("auto k = +x; r = k++;", |i| x[i])
                .exact("auto k = +x; r = --k;", |i| x[i].wrapping_sub(1))
                .exact("r = x; r += y; r ^= 5; r -= 3; r *= 7;", |i| {
                    (x[i].wrapping_add(y[i]) ^ 5).wrapping_sub(3).wrapping_mul(7)
                })
                .exact("r = x; r /= d; r |= 1; r &= y; r <<= 2; r >>= 1;", |i| {
                    (((x[i].wrapping_div(d[i]) | 1) & y[i]) << 2) >> 1
                })
                .exact("r = x; r %= d;", |i| x[i].wrapping_rem(d[i]))
                .exact("y == 0 ? x : d", |i| if y[i] == 0 { x[i] } else { d[i] });
            table.run();
        }
    };
}
operators!(char_operators, i8, i32);
operators!(uchar_operators, u8, i32);
operators!(short_operators, i16, i32);
operators!(ushort_operators, u16, i32);
operators!(int_operators, i32, i32);
operators!(uint_operators, u32, u32);
operators!(long_operators, i64, i64);
operators!(ulong_operators, u64, u64);

/// Types of different sizes and signs in one expression: C++'s usual conversions.
#[test]
fn mixed_types() {
    let x: Vec<i64> = operands(3);
    let y: Vec<i64> = operands(4);
    let (x, y) = (&x, &y);
    let mut table = Table::new("mixed types").input("x", x).input("y", y);
    table
        .exact("char(x) + uchar(y)", |i| i32::from(x[i] as i8) + i32::from(y[i] as u8))
        .exact("ushort(x) * short(y)", |i| i32::from(x[i] as u16).wrapping_mul(i32::from(y[i] as i16)))
        .exact("int(x) + uint(y)", |i| (x[i] as i32 as u32).wrapping_add(y[i] as u32))
        .exact("char(x) - uint(y)", |i| (x[i] as i8 as u32).wrapping_sub(y[i] as u32))
        .exact("uint(x) + long(y)", |i| i64::from(x[i] as u32).wrapping_add(y[i]))
        .exact("int(x) * ulong(y)", |i| (x[i] as i32 as u64).wrapping_mul(y[i] as u64))
        .exact("int(x) < uint(y)", |i| u8::from((x[i] as i32 as u32) < y[i] as u32))
        .exact("char(x) < uchar(y)", |i| u8::from(i32::from(x[i] as i8) < i32::from(y[i] as u8)))
        .exact("uint(x) < long(y)", |i| u8::from(i64::from(x[i] as u32) < y[i]))
        .exact("int(x) == ulong(y)", |i| u8::from(x[i] as i32 as u64 == y[i] as u64))
        .exact("bool(x) + bool(y)", |i| i32::from(x[i] != 0) + i32::from(y[i] != 0))
        .exact("true ? char(x) : uint(y)", |i| x[i] as i8 as u32)
        .exact("uchar(x) << 20", |i| i32::from(x[i] as u8) << 20)
        .exact("ulong(uint(x)) << 32 | uint(y)", |i| u64::from(x[i] as u32) << 32 | u64::from(y[i] as u32))
        .exact("uchar c = uchar(x); c += 300; c -= uchar(y); r = c;", |i| {
            (x[i] as u8).wrapping_add(44).wrapping_sub(y[i] as u8)
        })
        .exact("short(x) / (short(y) | 1)", |i| i32::from(x[i] as i16) / i32::from(y[i] as i16 | 1))
        .exact("int(x) % (int(ushort(y)) + 1)", |i| x[i] as i32 % (i32::from(y[i] as u16) + 1))
        .exact("uint(x) / (uint(y) | 1u)", |i| x[i] as u32 / (y[i] as u32 | 1))
        .exact("size_t(x) / 10 + ptrdiff_t(y) % 10", |i| (x[i] as u64 / 10).wrapping_add((y[i] % 10) as u64));
    table.run();
}

/// Unsigned index arithmetic that wraps around, in 32 bits and before it becomes an address.
#[test]
fn wrap_around_in_indices() {
    let x: Vec<u32> = (0..THREADS as u32).collect();
    let x = &x;
    let mut table = Table::new("wrap-around").input("x", x);
    table
        .exact("x > 0u ? x_in[x - 1u] : 99u", |i| if i > 0 { i as u32 - 1 } else { 99 })
        .exact("x_in[x + 0xfffffffbu < 60u ? x + 0xfffffffbu : 0u]", |i| {
            let index = (i as u32).wrapping_sub(5);
            if index < 60 { index } else { 0 }
        })
        .exact("uint k = x - 3u; r = x >= 3u ? x_in[k] : x_in[k + 4u];", |i| {
            let k = (i as u32).wrapping_sub(3);
            if i >= 3 { k } else { k.wrapping_add(4) }
        })
        .exact(
            "uint n = 0; for (uint k = x - 1u; k + 2u > 1u && n < 9u; k--) n += x_in[k + 1u] + 1u; r = n;",
            |i| {
                // It counts x + 1 numbers down to zero, as long as there are fewer than nine.
                let (mut n, mut k) = (0, (i as u32).wrapping_sub(1));
                while k.wrapping_add(2) > 1 && n < 9 {
                    n += k.wrapping_add(1) + 1;
                    k = k.wrapping_sub(1);
                }
                n
            },
        )
        .exact("int k = int(x) - 10; r = k < 0 ? x_in[-k] : x_in[k];", |i| (i as i32 - 10).unsigned_abs())
        .exact("uchar k = uchar(x * 5u); r = x_in[k % 70];", |i| ((i as u32 * 5) & 255) % 70)
        .exact("ushort k = ushort(x - 1u); r = k;", |i| u32::from((i as u16).wrapping_sub(1)))
        .exact("device const uint *p = x_in + 10; r = p[int(x % 10u) - 10];", |i| i as u32 % 10)
        .exact("device const uint *p = &x_in[x]; r = p[-long(x)] + *(p - x + 1);", |_| 1)
        .exact("device const uint *p = x_in + x, *q = x_in + 3; r = uint(int(p - q));", |i| {
            (i as u32).wrapping_sub(3)
        })
        .exact(
            "device const uint *p = x_in + x, *q = x_in + 30; r = (p < q ? 1u : 0u) + (p == q ? 2u : 0u);",
            |i| u32::from(i < 30) + 2 * u32::from(i == 30),
        )
        .exact("x % 4u == 0u ? x_in[x * 0x40000001u] : 7u", |i| if i % 4 == 0 { i as u32 } else { 7 })
        .exact("int k = int(x * 0x40000001u); r = x % 4u == 0u ? x_in[k] : 7u;", |i| {
            if i % 4 == 0 { i as u32 } else { 7 }
        })
        .exact("device const uint *p = x_in; p += x / 2u; p++; --p; r = *p;", |i| i as u32 / 2);
    table.run();
}

/// Undefined in C++; it must not crash, least of all in inactive lanes.
#[test]
fn division_by_zero_does_not_crash() {
    let x: Vec<i32> = operands(5).iter().map(|x| *x as i32).collect();
    let y: Vec<i32> = (0..THREADS as i32).map(|y| y % 3 - 1).collect();
    let (x, y) = (&x, &y);
    let mut table = Table::new("division by zero").input("x", x).input("y", y);
    let ones = |i: usize| if y[i] == 1 { x[i] } else { 0 };
    table
        .exact("int q = x / y; r = y == 1 ? q : 0;", ones)
        .exact("int q = x % y; r = y == 1 ? q + x : 0;", ones)
        .exact("uint q = uint(x) / uint(y); r = y == 1 ? int(q) : 0;", ones)
        .exact("long q = long(x) * 0x100000000 / y; r = y == 1 ? int(q >> 32) : 0;", ones)
        .exact("char q = char(x) / char(y); r = y == 1 ? x - char(x) + q : 0;", ones)
        .exact("int4 q = int4(x) / int4(y, 1, 0, -1); r = y == 1 ? q.y : 0;", ones)
        .exact("r = 0; if (y == 1) r = x / y;", ones)
        .exact("r = 0; if (y == 1) { for (int k = 0; k < 3; k++) r = x / (y + k * (y - 1)); }", ones);
    table.run();
}
