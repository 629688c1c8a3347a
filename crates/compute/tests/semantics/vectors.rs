//! Vectors: constructors, swizzles read and written, operators by component, comparison, conversion.

use crate::numbers::Random;
use crate::table::Table;

const THREADS: usize = 45;

fn fours(seed: u64) -> Vec<[i32; 4]> {
    let mut random = Random::new(seed);
    (0..THREADS).map(|_| [0; 4].map(|_| random.below(2001) as i32 - 1000)).collect()
}

fn floats(seed: u64) -> Vec<[f32; 4]> {
    // Multiples of 1/8, so that sums and products are exact.
    fours(seed).iter().map(|four| four.map(|x| x as f32 / 8.0)).collect()
}

fn zip<T: Copy, U, const N: usize>(a: [T; N], b: [T; N], f: impl Fn(T, T) -> U) -> [U; N] {
    std::array::from_fn(|k| f(a[k], b[k]))
}

#[test]
fn swizzles() {
    let v = &fours(1);
    let mut table = Table::new("swizzles").input("v", v);
    let at = |i: usize, indices: &[usize]| -> Vec<i32> { indices.iter().map(|k| v[i][*k]).collect() };
    let two = move |i: usize, indices: [usize; 2]| indices.map(|k| v[i][k]);
    let three = move |i: usize, indices: [usize; 3]| indices.map(|k| v[i][k]);
    let four = move |i: usize, indices: [usize; 4]| indices.map(|k| v[i][k]);
    table
        .exact("v.x", move |i| v[i][0])
        .exact("v.a", move |i| v[i][3])
        .exact("v.yx", move |i| two(i, [1, 0]))
        .exact("v.zz", move |i| two(i, [2, 2]))
        .exact("v.wzy", move |i| three(i, [3, 2, 1]))
        .exact("v.bgr", move |i| three(i, [2, 1, 0]))
        .exact("v.wwxx", move |i| four(i, [3, 3, 0, 0]))
        .exact("v.wzyx.xz", move |i| two(i, [3, 1]))
        .exact("v.abgr.yzw.zx", move |i| two(i, [0, 2]))
        .exact("v[2]", move |i| v[i][2])
        .exact("v[i & 3]", move |i| v[i][i & 3])
        .exact("v.zyx[i % 3]", move |i| v[i][2 - i % 3])
        .exact("r = v; r.x = 7; r.w = r.y;", move |i| [7, v[i][1], v[i][2], v[i][1]])
        .exact("r = v; r.yx = r.zw;", move |i| four(i, [3, 2, 2, 3]))
        .exact("r = v; r.xyzw = r.wzyx;", move |i| four(i, [3, 2, 1, 0]))
        .exact("r = v; r.zw += int2(1, 2); r.x *= 3; r.yz -= r.xx;", move |i| {
            let x = v[i][0] * 3;
            [x, v[i][1] - x, v[i][2] + 1 - x, v[i][3] + 2]
        })
        .exact("r = v; r[i & 3] = -1;", move |i| {
            let mut r = v[i];
            r[i & 3] = -1;
            r
        })
        .exact("r = v; r[i & 3] += 5; r[(i + 1) & 3]++; r[3] ^= 1;", move |i| {
            let mut r = v[i];
            r[i & 3] += 5;
            r[(i + 1) & 3] += 1;
            r[3] ^= 1;
            r
        })
        .exact("r = v; if (i & 1) r.xz = r.yy; else r.w = 0;", move |i| match i & 1 {
            1 => four(i, [1, 1, 1, 3]),
            _ => [v[i][0], v[i][1], v[i][2], 0],
        })
        .exact("r = v; for (uint k = 0; k < (i & 3); k++) r = r.yzwx;", move |i| {
            let mut r = v[i];
            r.rotate_left(i & 3);
            r
        })
        .exact("int2 t = v.xy; t.y++; r = int4(t, v.zw);", move |i| [v[i][0], v[i][1] + 1, v[i][2], v[i][3]]);
    let _ = at;
    table.run();
}

#[test]
fn constructors() {
    let v = &fours(2);
    let mut table = Table::new("constructors").input("v", v);
    table
        .exact("int4(v.x)", move |i| [v[i][0]; 4])
        .exact("int4(v.x, 1, v.y, 2)", move |i| [v[i][0], 1, v[i][1], 2])
        .exact("int4(v.xy, v.zw)", move |i| v[i])
        .exact("int4(v.xyz, 5)", move |i| [v[i][0], v[i][1], v[i][2], 5])
        .exact("int4(5, v.wzy)", move |i| [5, v[i][3], v[i][2], v[i][1]])
        .exact("int4(1, v.yz, 2)", move |i| [1, v[i][1], v[i][2], 2])
        .exact("int3(v.xy, 3)", move |i| [v[i][0], v[i][1], 3])
        .exact("int3(v.xyz)", move |i| [v[i][0], v[i][1], v[i][2]])
        .exact("float4(v)", move |i| v[i].map(|x| x as f32))
        .exact("float2(v.x, v.y) * 0.5f", move |i| [v[i][0] as f32 * 0.5, v[i][1] as f32 * 0.5])
        .exact("char4(v)", move |i| v[i].map(|x| x as i8))
        .exact("ushort2(v.zw)", move |i| [v[i][2] as u16, v[i][3] as u16])
        .exact("long3(v.xyz)", move |i| [v[i][0], v[i][1], v[i][2]].map(i64::from))
        .exact("uchar4(bool4(v & 1))", move |i| v[i].map(|x| (x & 1) as u8))
        .exact("static_cast<uint4>(v)", move |i| v[i].map(|x| x as u32))
        .exact("int2 t{v.w, 1}; r = t;", move |i| [v[i][3], 1])
        .exact("int4 t = {v.x, 2, 3, v.w}; r = t;", move |i| [v[i][0], 2, 3, v[i][3]])
        .exact("vec<int, 3> t(v.yzw); r = t.zyx;", move |i| [v[i][3], v[i][2], v[i][1]])
        .exact("int4 t = 3; r = t * v;", move |i| v[i].map(|x| 3 * x));
    table.run();
}

#[test]
fn operators() {
    let (v, w) = (&fours(3), &fours(4));
    let d: &Vec<[i32; 4]> = &w.iter().map(|four| four.map(|x| x | 1)).collect();
    let mut table = Table::new("vector operators").input("v", v).input("w", w).input("d", d);
    table
        .exact("v + w", move |i| zip(v[i], w[i], |a, b| a + b))
        .exact("v - w", move |i| zip(v[i], w[i], |a, b| a - b))
        .exact("v * w", move |i| zip(v[i], w[i], |a, b| a * b))
        .exact("v / d", move |i| zip(v[i], d[i], |a, b| a / b))
        .exact("v % d", move |i| zip(v[i], d[i], |a, b| a % b))
        .exact("v & w | 5", move |i| zip(v[i], w[i], |a, b| a & b | 5))
        .exact("v ^ ~w", move |i| zip(v[i], w[i], |a, b| a ^ !b))
        .exact("v << w", move |i| zip(v[i], w[i], |a, b| a << (b & 31)))
        .exact("v >> (w & 7)", move |i| zip(v[i], w[i], |a, b| a >> (b & 7)))
        .exact("char4(v) << char4(w)", move |i| zip(v[i], w[i], |a, b| (a as i8) << (b & 7)))
        .exact("ushort3(v.xyz) >> ushort3(w.xyz)", move |i| {
            let shifted = zip(v[i], w[i], |a, b| a as u16 >> (b & 15));
            [shifted[0], shifted[1], shifted[2]]
        })
        .exact("-v", move |i| v[i].map(|x| -x))
        .exact("v * 3 + 1", move |i| v[i].map(|x| x * 3 + 1))
        .exact("10 - v", move |i| v[i].map(|x| 10 - x))
        .exact("uchar4(v) * uchar4(w)", move |i| zip(v[i], w[i], |a, b| (a as u8).wrapping_mul(b as u8)))
        .exact("uchar4(v < w)", move |i| zip(v[i], w[i], |a, b| u8::from(a < b)))
        .exact("uchar4(v >= w)", move |i| zip(v[i], w[i], |a, b| u8::from(a >= b)))
        .exact("uchar2(v.xy == w.xy)", move |i| [u8::from(v[i][0] == w[i][0]), u8::from(v[i][1] == w[i][1])])
        .exact("uchar4(v != w)", move |i| zip(v[i], w[i], |a, b| u8::from(a != b)))
        .exact("uchar4(uint4(v) < uint4(w))", move |i| zip(v[i], w[i], |a, b| u8::from((a as u32) < b as u32)))
        .exact("uchar4(!(v > w))", move |i| zip(v[i], w[i], |a, b| u8::from(a <= b)))
        .exact("uchar4((v > w) && (v > 0))", move |i| zip(v[i], w[i], |a, b| u8::from(a > b && a > 0)))
        .exact("uchar4((v > w) || (v > 0))", move |i| zip(v[i], w[i], |a, b| u8::from(a > b || a > 0)))
        .exact("all(v > w)", move |i| u8::from(v[i] > w[i] && zip(v[i], w[i], |a, b| a > b) == [true; 4]))
        .exact("any(v.xyz > w.xyz)", move |i| u8::from((0..3).any(|k| v[i][k] > w[i][k])))
        .exact("select(v, w, v < w)", move |i| zip(v[i], w[i], i32::max))
        .exact("v.x > 0 ? v : w", move |i| if v[i][0] > 0 { v[i] } else { w[i] })
        .exact("r = v; r++; --r.y; r += w;", move |i| {
            let sums = zip(v[i], w[i], |a, b| a + b + 1);
            [sums[0], sums[1] - 1, sums[2], sums[3]]
        });
    table.run();
}

#[test]
fn floating_point_operators() {
    let (v, w) = (&floats(5), &floats(6));
    let mut table = Table::new("floating-point vectors").safe().input("v", v).input("w", w);
    table
        .exact("v + w", move |i| zip(v[i], w[i], |a, b| a + b))
        .exact("v - w * 2", move |i| zip(v[i], w[i], |a, b| a - b * 2.0))
        .exact("v * w", move |i| zip(v[i], w[i], |a, b| a * b))
        .exact("v / 4.0f", move |i| v[i].map(|x| x / 4.0))
        .exact("-v.xyz", move |i| [-v[i][0], -v[i][1], -v[i][2]])
        .exact("uchar4(v < w)", move |i| zip(v[i], w[i], |a, b| u8::from(a < b)))
        .exact("uchar4(v == w)", move |i| zip(v[i], w[i], |a, b| u8::from(a == b)))
        .exact("int4(v)", move |i| v[i].map(|x| x as i32))
        .exact("half4(v)", move |i| v[i].map(half::f16::from_f32))
        .exact("float2(half2(v.xy)) + w.zw", move |i| {
            [0, 1].map(|k| half::f16::from_f32(v[i][k]).to_f32() + w[i][k + 2])
        })
        .exact("r = v; r.xy *= w.yx; r.z = 1; r.w += r.x;", move |i| {
            let x = v[i][0] * w[i][1];
            [x, v[i][1] * w[i][0], 1.0, v[i][3] + x]
        });
    table.run();
}

/// Every type and width, through memory and back.
#[test]
fn every_type_and_width() {
    let v = &fours(7);
    let mut table = Table::new("every vector type").input("v", v);
    macro_rules! widths {
        ($($rust:ty, $metal:literal);*) => {$(
            table
                .exact(concat!($metal, "2(v.xy) + ", $metal, "2(v.zw)"), move |i| {
                    [0, 1].map(|k| (v[i][k] as $rust).wrapping_add(v[i][k + 2] as $rust))
                })
                .exact(concat!($metal, "3(v.xyz) - ", $metal, "3(v.yzw)"), move |i| {
                    [0, 1, 2].map(|k| (v[i][k] as $rust).wrapping_sub(v[i][k + 1] as $rust))
                })
                .exact(concat!($metal, "4(v) * ", $metal, "4(v.w)"), move |i| {
                    v[i].map(|x| (x as $rust).wrapping_mul(v[i][3] as $rust))
                });
        )*};
    }
    widths!(i8, "char"; u8, "uchar"; i16, "short"; u16, "ushort"; i32, "int"; u32, "uint"; i64, "long"; u64, "ulong");
    table.run();
}

/// Packed vectors lie in memory as tightly as their components; in expressions they are vectors.
#[test]
fn packed_vectors() {
    let (v, f) = (&fours(8), &floats(9));
    let mut table = Table::new("packed vectors").safe().input("v", v).input("f", f);
    table
        .exact("packed_int3 p = packed_int3(v.xyz); p.y += 5; r = int3(p);", move |i| [v[i][0], v[i][1] + 5, v[i][2]])
        .exact("packed_float3 p = f.xyz; r = p * 2.0f;", move |i| [0, 1, 2].map(|k| f[i][k] * 2.0))
        .exact("packed_float2 p(f.x, 1.0f), q = f.zw; r = p + q;", move |i| [f[i][0] + f[i][2], 1.0 + f[i][3]])
        .exact("packed_uchar4 p = packed_uchar4(uchar4(v)); p[i & 3] = 7; r = uchar4(p);", move |i| {
            let mut bytes = v[i].map(|x| x as u8);
            bytes[i & 3] = 7;
            bytes
        })
        .exact("packed_short3 p[3]; for (int k = 0; k < 3; k++) p[k] = packed_short3(short3(v.xyz) + short(k)); r = short3(p[i % 3]);", move |i| {
            [0, 1, 2].map(|k| (v[i][k] + i as i32 % 3) as i16)
        })
        .exact("packed_half4 p = half4(f); r = half4(p.xyz, 1);", move |i| {
            [f[i][0], f[i][1], f[i][2], 1.0].map(half::f16::from_f32)
        })
        .exact("packed_long2 p(long(v.x) << 40, v.y); r = long2(p);", move |i| [i64::from(v[i][0]) << 40, i64::from(v[i][1])])
        .exact("packed_float4 p(f); p = p.wzyx; r = float4(p);", move |i| {
            let [x, y, z, w] = f[i];
            [w, z, y, x]
        })
        .exact("thread packed_float3 *p = (thread packed_float3 *)&f; r = float3(p[0]);", move |i| [f[i][0], f[i][1], f[i][2]])
        .exact("int(sizeof(packed_float3)) * 1000 + int(sizeof(packed_char3)) * 100 + int(alignof(packed_half4))", |_| 12302);
    table.run();
}

/// Vectors of `half` and `bfloat`, rounded after every operation.
#[test]
fn vectors_of_narrow_floats() {
    use half::{bf16, f16};
    let f = &floats(10);
    let mut table = Table::new("narrow floats").safe().input("f", f);
    let h = move |i: usize| f[i].map(f16::from_f32);
    let b = move |i: usize| f[i].map(bf16::from_f32);
    let round = |x: f32| f16::from_f32(x);
    table
        .exact("half4(f) + half4(f.wzyx)", move |i| {
            std::array::from_fn::<f16, 4, _>(|k| round(h(i)[k].to_f32() + h(i)[3 - k].to_f32()))
        })
        .exact("half3(f.xyz) * half(f.w)", move |i| [0, 1, 2].map(|k| round(h(i)[k].to_f32() * h(i)[3].to_f32())))
        .exact("uchar4(half4(f) < half4(f.yzwx))", move |i| {
            std::array::from_fn::<u8, 4, _>(|k| u8::from(h(i)[k] < h(i)[(k + 1) % 4]))
        })
        .exact("half4 t = half4(f); t.yz = t.xw; t[i & 3] -= 1.0h; r = t;", move |i| {
            let mut t = [h(i)[0], h(i)[0], h(i)[3], h(i)[3]];
            t[i & 3] = round(t[i & 3].to_f32() - 1.0);
            t
        })
        .exact("bfloat4 t = bfloat4(f); r = t;", b)
        .exact("bfloat2 t = bfloat2(f.xy); r = float2(t) + f.zw;", move |i| {
            [0, 1].map(|k| b(i)[k].to_f32() + f[i][k + 2])
        })
        .exact("bfloat3 t = bfloat3(f.xyz); t.y = bfloat(2.0f); r = t;", move |i| {
            [b(i)[0], bf16::from_f32(2.0), b(i)[2]]
        })
        .exact("bfloat a[4]; for (int k = 0; k < 4; k++) a[k] = bfloat(f[k]); r = a[i & 3];", move |i| b(i)[i & 3])
        .exact("half a[4]; for (int k = 0; k < 4; k++) a[k] = half(f[k]); r = a[i & 3] + a[0];", move |i| {
            round(h(i)[i & 3].to_f32() + h(i)[0].to_f32())
        });
    table.run();
}
