//! `<metal_common>`, `<metal_geometric>`, `<metal_relational>` and `<metal_pack>`.

use crate::numbers::Random;
use crate::table::Table;
use half::f16;

const THREADS: usize = 100;

fn numbers(seed: u64, scale: f32) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..THREADS).map(|_| (random.below(20001) as f32 / 10000.0 - 1.0) * scale).collect()
}

fn vectors(seed: u64, scale: f32) -> Vec<[f32; 4]> {
    let mut random = Random::new(seed);
    (0..THREADS).map(|_| [0; 4].map(|_| (random.below(20001) as f32 / 10000.0 - 1.0) * scale)).collect()
}

#[test]
fn common_functions() {
    let (x, y, z) = (&numbers(51, 2.0), &numbers(52, 2.0), &numbers(53, 0.5));
    let mut table = Table::new("common functions").input("x", x).input("y", y).input("z", z);
    let wide = |x: f32| f64::from(x);
    let smooth = |low: f64, high: f64, x: f64| {
        let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    };
    table
        .exact("clamp(x, -0.5f, 0.75f)", move |i| x[i].clamp(-0.5, 0.75))
        .exact("saturate(x)", move |i| x[i].clamp(0.0, 1.0))
        .exact("precise::saturate(NAN * x)", |_| 0f32)
        .exact("precise::clamp(x, 0.1f, 0.2f)", move |i| x[i].clamp(0.1, 0.2))
        .exact("fast::clamp(x, 0.1f, 0.2f)", move |i| x[i].clamp(0.1, 0.2))
        .exact("sign(x)", move |i| if x[i] == 0.0 { x[i] } else { x[i].signum() })
        .exact("sign(float2(0.0f, -x))", move |i| [0.0, if x[i] == 0.0 { 0.0 } else { -x[i].signum() }])
        .exact("step(x, y)", move |i| if y[i] < x[i] { 0f32 } else { 1.0 })
        .near::<f32>("mix(x, y, z)", move |i| (wide(x[i]) + (wide(y[i]) - wide(x[i])) * wide(z[i]), 1e-6))
        .near::<f32>("smoothstep(-1.0f, 1.5f, x)", move |i| (smooth(-1.0, 1.5, wide(x[i])), 1e-6))
        .near::<[f32; 4]>("mix(float4(x), float4(y), float4(z, 0, 1, 0.5f))", move |i| {
            let (x, y) = (wide(x[i]), wide(y[i]));
            ([wide(z[i]), 0.0, 1.0, 0.5].map(|a| x + (y - x) * a), 1e-6)
        })
        .exact("clamp(float3(x, y, z), float3(0), float3(0.5f))", move |i| {
            [x[i], y[i], z[i]].map(|x| x.clamp(0.0, 0.5))
        })
        .exact("clamp(half(x), -0.5h, 0.5h)", move |i| f16::from_f32(f16::from_f32(x[i]).to_f32().clamp(-0.5, 0.5)))
        .exact("saturate(half2(x, y))", move |i| {
            [x[i], y[i]].map(|x| f16::from_f32(f16::from_f32(x).to_f32().clamp(0.0, 1.0)))
        })
        .ulps::<f16>("mix(1.0h, 3.0h, half(0.25f))", 1.0, |_| 1.5)
        .exact("sign(half(x))", move |i| {
            f16::from_f32(if x[i] == 0.0 { 0.0 } else { f16::from_f32(x[i]).to_f32().signum() })
        });
    table.run();
}

#[test]
fn geometric_functions() {
    let (v, w) = (&vectors(54, 3.0), &vectors(55, 3.0));
    let mut table = Table::new("geometric functions").input("v", v).input("w", w);
    let wide = |v: [f32; 4]| v.map(f64::from);
    let dot = move |i: usize, n: usize| (0..n).map(|k| wide(v[i])[k] * wide(w[i])[k]).sum::<f64>();
    let square = move |i: usize, n: usize| (0..n).map(|k| wide(v[i])[k].powi(2)).sum::<f64>();
    let apart = move |i: usize, n: usize| (0..n).map(|k| (wide(v[i])[k] - wide(w[i])[k]).powi(2)).sum::<f64>();
    let cross = move |i: usize| {
        let (a, b) = (wide(v[i]), wide(w[i]));
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let unit = move |i: usize| wide(w[i]).map(|x| x / wide(w[i]).iter().map(|x| x * x).sum::<f64>().sqrt());
    let reflected = move |i: usize| {
        let (v, n) = (wide(v[i]), unit(i));
        let d: f64 = (0..4).map(|k| v[k] * n[k]).sum();
        std::array::from_fn::<f64, 4, _>(|k| v[k] - 2.0 * d * n[k])
    };
    table
        .near::<f32>("dot(v, w)", move |i| (dot(i, 4), 1e-5))
        .near::<f32>("dot(v.xyz, w.xyz)", move |i| (dot(i, 3), 1e-5))
        .near::<f32>("dot(v.xy, w.xy)", move |i| (dot(i, 2), 1e-5))
        .near::<f32>("length_squared(v)", move |i| (square(i, 4), 1e-5))
        .near::<f32>("length(v)", move |i| (square(i, 4).sqrt(), 1e-5))
        .near::<f32>("precise::length(v.xyz)", move |i| (square(i, 3).sqrt(), 1e-5))
        .near::<f32>("fast::length(v.xy)", move |i| (square(i, 2).sqrt(), 1e-5))
        .near::<f32>("distance(v, w)", move |i| (apart(i, 4).sqrt(), 1e-5))
        .near::<f32>("distance_squared(v.xyz, w.xyz)", move |i| (apart(i, 3), 2e-5))
        .near::<f32>("precise::distance(v.xy, w.xy)", move |i| (apart(i, 2).sqrt(), 1e-5))
        .near::<[f32; 3]>("cross(v.xyz, w.xyz)", move |i| (cross(i), 1e-5))
        .near::<[f32; 4]>("normalize(w)", move |i| (unit(i), 1e-6))
        .near::<[f32; 4]>("fast::normalize(w)", move |i| (unit(i), 1e-6))
        .near::<[f32; 4]>("precise::normalize(w)", move |i| (unit(i), 1e-6))
        .near::<[f32; 4]>("reflect(v, normalize(w))", move |i| (reflected(i), 1e-5))
        .near::<[f32; 4]>("faceforward(v, w, v)", move |i| {
            let sign = if dot(i, 4) < 0.0 { 1.0 } else { -1.0 };
            (wide(v[i]).map(|x| sign * x), 0.0)
        })
        .near::<[f32; 2]>("refract(float2(0.6f, -0.8f), float2(0, 1), 0.5f)", |_| {
            ([0.3, -(1.0f64 - 0.09).sqrt()], 1e-6)
        })
        .near::<[f32; 2]>("refract(float2(1, 0), float2(0, 1), 1.5f)", |_| ([0.0, 0.0], 0.0))
        .near::<f16>("dot(half4(1, 2, 3, 4), half4(0.5h))", |_| (5.0, 0.0))
        .near::<[f16; 3]>("cross(half3(1, 0, 0), half3(0, 1, 0))", |_| ([0.0, 0.0, 1.0], 0.0))
        .near::<f16>("length(half2(3, 4))", |_| (5.0, 0.01));
    table.run();
}

#[test]
fn relational_functions() {
    let x: &Vec<f32> =
        &[0.0, -0.0, 1.0, -2.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN, 1e-30, f32::MAX]
            .repeat(THREADS / 10);
    let y: &Vec<f32> = &x.iter().rev().copied().collect();
    let mut table = Table::new("relational functions").safe().input("x", x).input("y", y);
    let bit = |answer: bool| u8::from(answer);
    // No denormal numbers: Metal may flush them to zero.
    table
        .exact("isnan(x)", move |i| bit(x[i].is_nan()))
        .exact("isinf(x)", move |i| bit(x[i].is_infinite()))
        .exact("isfinite(x)", move |i| bit(x[i].is_finite()))
        .exact("isnormal(x)", move |i| bit(x[i].is_normal()))
        .exact("signbit(x)", move |i| bit(x[i].is_sign_negative()))
        .exact("isordered(x, y)", move |i| bit(!x[i].is_nan() && !y[i].is_nan()))
        .exact("isunordered(x, y)", move |i| bit(x[i].is_nan() || y[i].is_nan()))
        .exact("uchar2(isnan(float2(x, y)))", move |i| [bit(x[i].is_nan()), bit(y[i].is_nan())])
        .exact("uchar4(isfinite(float4(x, y, 1, 2)))", move |i| {
            [bit(x[i].is_finite()), bit(y[i].is_finite()), 1, 1]
        })
        .exact("isnan(half(x))", move |i| bit(x[i].is_nan()))
        .exact("isinf(half(x))", move |i| bit(x[i].is_infinite() || x[i] == f32::MAX))
        .exact("all(bool3(isnan(x), true, isnan(y)))", move |i| bit(x[i].is_nan() && y[i].is_nan()))
        .exact("any(bool2(isnan(x), isnan(y)))", move |i| bit(x[i].is_nan() || y[i].is_nan()))
        .exact("select(1, 2, isnan(x))", move |i| if x[i].is_nan() { 2 } else { 1 })
        .exact("select(x, 5.0f, x != x)", move |i| if x[i].is_nan() { 5.0 } else { x[i] })
        .exact("select(int4(1), int4(2), isnan(float4(x, y, x, y)))", move |i| {
            [x[i], y[i], x[i], y[i]].map(|x| if x.is_nan() { 2 } else { 1 })
        })
        .exact("select(half2(1), half2(2), bool2(signbit(x), true))", move |i| {
            [f16::from_f32(if x[i].is_sign_negative() { 2.0 } else { 1.0 }), f16::from_f32(2.0)]
        })
        .exact("x < y", move |i| bit(x[i] < y[i]))
        .exact("!(x < y)", move |i| 1 - bit(x[i] < y[i]))
        .exact("x <= y", move |i| bit(x[i] <= y[i]))
        .exact("x == y", move |i| bit(x[i] == y[i]))
        .exact("x != y", move |i| bit(x[i] != y[i]))
        .exact("!(x >= y)", move |i| 1 - bit(x[i] >= y[i]))
        .exact("x > y ? 1 : x < y ? 2 : 3", move |i| {
            if x[i] > y[i] {
                1
            } else if x[i] < y[i] {
                2
            } else {
                3
            }
        });
    table.run();
}

#[test]
fn packing() {
    let v = &vectors(56, 1.3);
    let mut table = Table::new("packing").input("v", v);
    // To the nearest, halves to even, as the specification's rint.
    let unorm = |x: f32, bits: u32| (x.clamp(0.0, 1.0) * ((1u32 << bits) - 1) as f32).round_ties_even() as u32;
    let snorm = |x: f32, bits: u32| {
        let greatest = (1u32 << (bits - 1)) - 1;
        (x.clamp(-1.0, 1.0) * greatest as f32).round_ties_even() as i32 as u32 & ((1u64 << bits) - 1) as u32
    };
    let joined = |parts: &[(u32, u32)]| parts.iter().rev().fold(0, |sum, (value, bits)| sum << bits | value);
    let narrow = |v: [f32; 4]| v.map(|x| f16::from_f32(x).to_f32());
    let srgb = |x: f32| {
        let x = f64::from(x.clamp(0.0, 1.0));
        let curved = if x < 0.0031308 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
        (curved * 255.0).round() as u32
    };
    table
        .exact("pack_float_to_unorm4x8(v)", move |i| joined(&v[i].map(|x| (unorm(x, 8), 8))))
        .exact("pack_float_to_snorm4x8(v)", move |i| joined(&v[i].map(|x| (snorm(x, 8), 8))))
        .exact("pack_float_to_unorm2x16(v.xy)", move |i| joined(&[v[i][0], v[i][1]].map(|x| (unorm(x, 16), 16))))
        .exact("pack_float_to_snorm2x16(v.xy)", move |i| joined(&[v[i][0], v[i][1]].map(|x| (snorm(x, 16), 16))))
        .exact("pack_float_to_unorm10a2(v)", move |i| {
            let [x, y, z, w] = v[i];
            joined(&[(unorm(x, 10), 10), (unorm(y, 10), 10), (unorm(z, 10), 10), (unorm(w, 2), 2)])
        })
        .exact("pack_half_to_unorm4x8(half4(v))", move |i| joined(&narrow(v[i]).map(|x| (unorm(x, 8), 8))))
        .exact("pack_half_to_snorm4x8(half4(v))", move |i| joined(&narrow(v[i]).map(|x| (snorm(x, 8), 8))))
        .exact("pack_float_to_srgb_unorm4x8(float4(v.xyz, 0.5f))", move |i| {
            let [x, y, z, _] = v[i];
            joined(&[(srgb(x), 8), (srgb(y), 8), (srgb(z), 8), (128, 8)])
        });
    table.run();

    let mut random = Random::new(57);
    let n: &Vec<u32> = &(0..THREADS).map(|_| random.next() as u32).collect();
    let mut table = Table::new("unpacking").input("n", n);
    let part = move |i: usize, from: u32, bits: u32| n[i] >> from & ((1u64 << bits) - 1) as u32;
    let unsigned =
        move |i: usize, from: u32, bits: u32| f64::from(part(i, from, bits)) / ((1u64 << bits) - 1) as f64;
    let signed = move |i: usize, from: u32, bits: u32| {
        let value = (part(i, from, bits) << (32 - bits)) as i32 >> (32 - bits);
        (f64::from(value) / ((1u64 << (bits - 1)) - 1) as f64).max(-1.0)
    };
    let linear = |x: f64| if x <= 0.04045 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) };
    table
        .near::<[f32; 4]>("unpack_unorm4x8_to_float(n)", move |i| ([0, 8, 16, 24].map(|k| unsigned(i, k, 8)), 1e-6))
        .near::<[f32; 4]>("unpack_snorm4x8_to_float(n)", move |i| ([0, 8, 16, 24].map(|k| signed(i, k, 8)), 1e-6))
        .near::<[f32; 2]>("unpack_unorm2x16_to_float(n)", move |i| ([0, 16].map(|k| unsigned(i, k, 16)), 1e-6))
        .near::<[f32; 2]>("unpack_snorm2x16_to_float(n)", move |i| ([0, 16].map(|k| signed(i, k, 16)), 1e-6))
        .near::<[f32; 4]>("unpack_unorm10a2_to_float(n)", move |i| {
            ([unsigned(i, 0, 10), unsigned(i, 10, 10), unsigned(i, 20, 10), unsigned(i, 30, 2)], 1e-6)
        })
        .near::<[f32; 4]>("unpack_unorm4x8_srgb_to_float(n)", move |i| {
            let [x, y, z] = [0, 8, 16].map(|k| linear(unsigned(i, k, 8)));
            ([x, y, z, unsigned(i, 24, 8)], 1e-4)
        })
        .near::<[f16; 4]>("unpack_unorm4x8_to_half(n)", move |i| ([0, 8, 16, 24].map(|k| unsigned(i, k, 8)), 1e-3))
        .near::<[f16; 2]>("unpack_snorm2x16_to_half(n)", move |i| ([0, 16].map(|k| signed(i, k, 16)), 1e-3));
    table.run();
}

/// Red is in the upper bits of 5:6:5, unlike in the other formats.
#[test]
fn packing_of_565() {
    let v = &vectors(58, 1.1);
    let mut table = Table::new("5:6:5").input("v", v);
    let unorm = |x: f32, most: f32| (x.clamp(0.0, 1.0) * most).round_ties_even();
    table
        .exact("pack_float_to_unorm565(v.xyz)", move |i| {
            let [x, y, z, _] = v[i];
            (unorm(x, 31.0) as u16) << 11 | (unorm(y, 63.0) as u16) << 5 | unorm(z, 31.0) as u16
        })
        .near::<[f32; 3]>("unpack_unorm565_to_float(pack_float_to_unorm565(v.xyz))", move |i| {
            let [x, y, z, _] = v[i];
            ([unorm(x, 31.0) / 31.0, unorm(y, 63.0) / 63.0, unorm(z, 31.0) / 31.0].map(f64::from), 1e-6)
        });
    table.run();
}
