//! Conversions between all types, at the limits of each.

use crate::harness::device;
use crate::numbers::Random;
use crate::table::Table;
use half::{bf16, f16};
use metalworks_compute::DeviceKind;

const THREADS: usize = 90;

/// Floating-point numbers around the limits of the integers, and NaN.
fn floats() -> Vec<f32> {
    let limits = [0.0f32, 1.0, 127.0, 128.0, 255.0, 256.0, 32767.0, 32768.0, 65535.0, 65536.0, 65504.0, 65520.0];
    let larger = [2147483520.0f32, 2147483648.0, 4294967040.0, 4294967296.0, 9.223372e18, 1.8446744e19, 1e30];
    let small = [0.5f32, 0.99, 1.5, 2.5, 1e-3, 6e-8, 3e-8, 5.9604645e-8, 6.1035156e-5, 1.0009765, 2049.0, 2051.0];
    let odd = [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN_POSITIVE];
    let mut values: Vec<f32> = limits.into_iter().chain(larger).chain(small).chain(odd).collect();
    values.extend(values.clone().iter().map(|x| -x));
    let mut random = Random::new(11);
    values.extend((values.len()..THREADS).map(|_| (random.next() as i64 >> random.below(64)) as f32));
    values.truncate(THREADS);
    values
}

fn integers() -> Vec<i64> {
    let mut random = Random::new(12);
    let mut values = vec![0, 1, -1, i64::MAX, i64::MIN, 65504, 65519, 65520, 65535, 70000, -70000];
    values.extend([16777216, 16777217, 16777219, -16777217, 2147483647, -2147483648, 4294967295, 2049, 2051]);
    // Halfway between two `float`s, and just beside.
    values.extend([(1 << 40) + (1 << 16), (1 << 40) + (1 << 16) + 1, (1 << 40) + (3 << 16), i64::MAX - 511]);
    values.extend((values.len()..THREADS).map(|_| random.next() as i64 >> random.below(64)));
    values
}

/// Rounds towards zero and saturates; NaN gives 0. Rust's `as` does the same.
#[test]
fn float_to_integer() {
    let x = &floats();
    let mut table = Table::new("float to integer").safe().input("x", x);
    table
        .exact("char(x)", move |i| x[i] as i8)
        .exact("uchar(x)", move |i| x[i] as u8)
        .exact("short(x)", move |i| x[i] as i16)
        .exact("ushort(x)", move |i| x[i] as u16)
        .exact("int(x)", move |i| x[i] as i32)
        .exact("uint(x)", move |i| x[i] as u32)
        .exact("long(x)", move |i| x[i] as i64)
        .exact("ulong(x)", move |i| x[i] as u64)
        .exact("int2(float2(x, -x))", move |i| [x[i] as i32, -x[i] as i32])
        .exact("uchar4(float4(x))", move |i| [x[i] as u8; 4])
        .exact("int v = x; r = v;", move |i| x[i] as i32)
        .exact("bool(x)", move |i| u8::from(x[i] != 0.0))
        .exact("!x", move |i| u8::from(x[i] == 0.0));
    table.run();
}

#[test]
fn half_to_integer() {
    let x: &Vec<f16> = &floats().iter().map(|x| f16::from_f32(*x)).collect();
    let mut table = Table::new("half to integer").safe().input("x", x);
    let wide = move |i: usize| x[i].to_f32();
    table
        .exact("char(x)", move |i| wide(i) as i8)
        .exact("uchar(x)", move |i| wide(i) as u8)
        .exact("short(x)", move |i| wide(i) as i16)
        .exact("ushort(x)", move |i| wide(i) as u16)
        .exact("int(x)", move |i| wide(i) as i32)
        .exact("uint(x)", move |i| wide(i) as u32)
        .exact("long(x)", move |i| wide(i) as i64)
        .exact("ulong(x)", move |i| wide(i) as u64)
        .exact("bool(x)", move |i| u8::from(wide(i) != 0.0));
    table.run();
}

#[test]
fn integer_to_float() {
    let x = &integers();
    let mut table = Table::new("integer to float").safe().input("x", x);
    table
        .exact("float(char(x))", move |i| f32::from(x[i] as i8))
        .exact("float(uchar(x))", move |i| f32::from(x[i] as u8))
        .exact("float(short(x))", move |i| f32::from(x[i] as i16))
        .exact("float(ushort(x))", move |i| f32::from(x[i] as u16))
        .exact("float(int(x))", move |i| x[i] as i32 as f32)
        .exact("float(uint(x))", move |i| x[i] as u32 as f32)
        .exact("float(x)", move |i| x[i] as f32)
        .exact("float(ulong(x))", move |i| x[i] as u64 as f32)
        .exact("float3(int3(int(x), 1, 2))", move |i| [x[i] as i32 as f32, 1.0, 2.0])
        .exact("float(bool(x))", move |i| f32::from(u8::from(x[i] != 0)))
        .exact("half(char(x))", move |i| f16::from_f32(f32::from(x[i] as i8)))
        .exact("half(short(x))", move |i| f16::from_f32(f32::from(x[i] as i16)))
        .exact("half(ushort(x))", move |i| f16::from_f32(f32::from(x[i] as u16)))
        .exact("half(int(x))", move |i| f16::from_f64(f64::from(x[i] as i32)))
        .exact("half(uint(x))", move |i| f16::from_f64(f64::from(x[i] as u32)));
    table.run();
}

#[test]
fn between_floating_point_types() {
    let x = &floats();
    let h: &Vec<f16> = &x.iter().map(|x| f16::from_f32(*x)).collect();
    let b: &Vec<bf16> = &x.iter().map(|x| bf16::from_f32(*x)).collect();
    let mut table = Table::new("between floating-point types").safe().input("x", x).input("h", h).input("b", b);
    table
        .exact("half(x)", move |i| f16::from_f32(x[i]))
        .exact("bfloat(x)", move |i| bf16::from_f32(x[i]))
        .exact("float(h)", move |i| h[i].to_f32())
        .exact("float(b)", move |i| b[i].to_f32())
        .exact("bfloat(float(h))", move |i| bf16::from_f32(h[i].to_f32()))
        .exact("half(float(b))", move |i| f16::from_f32(b[i].to_f32()))
        .exact("half4(float4(x, 1, 2, -x))", move |i| [x[i], 1.0, 2.0, -x[i]].map(f16::from_f32))
        .exact("float2(half2(h, 3))", move |i| [h[i].to_f32(), 3.0])
        .exact("h + h", move |i| f16::from_f32(h[i].to_f32() + h[i].to_f32()))
        .exact("h * h", move |i| f16::from_f32(h[i].to_f32() * h[i].to_f32()))
        .exact("b + b", move |i| bf16::from_f32(b[i].to_f32() + b[i].to_f32()))
        .exact("float(h) + x", move |i| h[i].to_f32() + x[i])
        .exact("h < 100.0h", move |i| u8::from(h[i].to_f32() < 100.0))
        .exact("b > bfloat(0.5f)", move |i| u8::from(b[i].to_f32() > 0.5))
        .exact("-h", move |i| -h[i])
        .exact("bfloat(-float(b))", move |i| bf16::from_f32(-b[i].to_f32()))
        .exact("h == h", move |i| u8::from(!h[i].is_nan()));
    table.run();
}

#[test]
fn bits_of_one_type_as_another() {
    let x = &floats();
    let n: &Vec<u32> = &integers().iter().map(|n| *n as u32).collect();
    let l: &Vec<u64> = &integers().iter().map(|n| (*n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    // Operations on NaN give NaN with other bits on a GPU (docs/cuda.md).
    let keeps_nan = device().kind() == DeviceKind::Cpu;
    let y: &Vec<f32> = &x.iter().map(|&x| if x.is_nan() && !keeps_nan { 1.0 } else { x }).collect();
    let mut table = Table::new("as_type").safe().input("x", x).input("y", y).input("n", n).input("l", l);
    let halves = |n: u32| [n as u16, (n >> 16) as u16];
    table
        .exact("as_type<uint>(x)", move |i| x[i].to_bits())
        .exact("as_type<int>(x)", move |i| x[i].to_bits() as i32)
        .exact("as_type<float>(n)", move |i| f32::from_bits(n[i]))
        .exact("as_type<ushort2>(n)", move |i| halves(n[i]))
        .exact("as_type<half2>(n)", move |i| halves(n[i]).map(f16::from_bits))
        .exact("as_type<uchar4>(x)", move |i| x[i].to_bits().to_le_bytes())
        .exact("as_type<uint>(uchar4(1, 2, uchar(n), 4))", move |i| u32::from_le_bytes([1, 2, n[i] as u8, 4]))
        .exact("as_type<uint>(half2(half(y), 1.0h))", move |i| {
            u32::from(f16::from_f32(y[i]).to_bits()) | 0x3c00_0000
        })
        .exact("as_type<ushort>(half(y))", move |i| f16::from_f32(y[i]).to_bits())
        .exact("as_type<half>(ushort(n))", move |i| f16::from_bits(n[i] as u16))
        .exact("as_type<ushort>(bfloat(y))", move |i| bf16::from_f32(y[i]).to_bits())
        .exact("as_type<uint2>(l)", move |i| [l[i] as u32, (l[i] >> 32) as u32])
        .exact("as_type<ulong>(uint2(n, 5u))", move |i| u64::from(n[i]) | 5 << 32)
        .exact("as_type<ushort4>(l)", move |i| [0, 16, 32, 48].map(|shift| (l[i] >> shift) as u16))
        .exact("as_type<char4>(n)", move |i| n[i].to_le_bytes().map(|byte| byte as i8))
        .exact("as_type<float4>(uint4(n))", move |i| [f32::from_bits(n[i]); 4])
        .exact("as_type<int2>(float2(y, -y))", move |i| [y[i].to_bits() as i32, (-y[i]).to_bits() as i32]);
    // All NaNs are equal, except where their bits are read.
    table.run();
}

#[test]
fn booleans() {
    let x: &Vec<i32> = &(0..THREADS as i32).map(|x| x % 4 * 16).collect();
    let mut table = Table::new("booleans").input("x", x);
    table
        .exact("bool b = x; r = b;", move |i| i32::from(x[i] != 0))
        .exact("bool b = x; r = b * 5 + !b;", move |i| if x[i] != 0 { 5 } else { 1 })
        .exact("bool b = x > 20; b = !b; r = b ? 1 : 2;", move |i| if x[i] > 20 { 2 } else { 1 })
        .exact("bool b = x & 16; b |= x > 40; r = b;", move |i| i32::from(x[i] & 16 != 0 || x[i] > 40))
        .exact("bool b = x & 16; b &= x > 40; r = b;", move |i| i32::from(x[i] & 16 != 0 && x[i] > 40))
        .exact("bool b = x & 16; b ^= x > 40; r = b;", move |i| i32::from((x[i] & 16 != 0) != (x[i] > 40)))
        .exact(
            "bool a[4]; for (int k = 0; k < 4; k++) a[k] = x > k * 16; r = a[0] + a[1] + a[2] + a[3];",
            move |i| x[i] / 16,
        )
        .exact("bool2 b = bool2(x, x & 32); r = b.x * 2 + b.y;", move |i| {
            i32::from(x[i] != 0) * 2 + i32::from(x[i] & 32 != 0)
        })
        .exact(
            "bool4 b = int4(x, 0, 1, x - 16) != 0; b.y = true; r = int(b.x) + b.y * 2 + b.z * 4 + b.w * 8;",
            move |i| i32::from(x[i] != 0) + 6 + 8 * i32::from(x[i] != 16),
        )
        .exact("bool4 b = !bool4(x); r = any(b) ? 1 : 0;", move |i| i32::from(x[i] == 0))
        .exact("(x > 0) + (x > 16) + (x > 32)", move |i| x[i] / 16)
        .exact("(x > 0) == (x > 16)", move |i| i32::from(x[i] != 16))
        .exact("(x > 16) < (x > 0)", move |i| i32::from(x[i] == 16));
    table.run();
}
