//! Simdgroup functions: on every type, with all lanes, with the lanes of a partial simdgroup, inside divergent code,
//! and after some lanes have returned.

use crate::harness::{TestLibrary, expect};
use crate::numbers::Random;
use crate::table::Table;
use half::f16;

/// Two full simdgroups and 11 lanes of a third.
const PARTIAL: usize = 75;
const FULL: usize = 96;

fn small(seed: u64, count: usize) -> Vec<i32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.below(41) as i32 - 20).collect()
}

/// The numbers of the threads in the simdgroup of thread `i`.
fn simdgroup(i: usize, threads: usize) -> std::ops::Range<usize> {
    i / 32 * 32..(i / 32 * 32 + 32).min(threads)
}

/// Reductions of all lanes, and of those for which `x > 3`, in an integer type.
macro_rules! integers {
    ($name:ident, $type:ty, $metal:literal) => {
        #[test]
        fn $name() {
            type T = $type;
            let x: &Vec<T> = &small(61, PARTIAL).iter().map(|x| *x as T).collect();
            let all = move |i: usize| simdgroup(i, PARTIAL).map(move |k| x[k]);
            let some = move |i: usize| all(i).filter(|x| *x > 3);
            let before = move |i: usize| (i / 32 * 32..i).map(move |k| x[k]);
            let product = |values: &mut dyn Iterator<Item = T>| values.fold(1, T::wrapping_mul);
            let sum = |values: &mut dyn Iterator<Item = T>| values.fold(0, T::wrapping_add);
            let mut table = Table::new(stringify!($name)).input("x", x);
            table
                .exact("simd_sum(x)", move |i| sum(&mut all(i)))
                .exact("simd_product(x)", move |i| product(&mut all(i)))
                .exact("simd_min(x)", move |i| all(i).min().unwrap_or(0))
                .exact("simd_max(x)", move |i| all(i).max().unwrap_or(0))
                .exact("simd_and(x)", move |i| all(i).fold(!0, |a, b| a & b))
                .exact("simd_or(x)", move |i| all(i).fold(0, |a, b| a | b))
                .exact("simd_xor(x)", move |i| all(i).fold(0, |a, b| a ^ b))
                .exact("simd_prefix_inclusive_sum(x)", move |i| sum(&mut (i / 32 * 32..i + 1).map(|k| x[k])))
                .exact("simd_prefix_exclusive_sum(x)", move |i| sum(&mut before(i)))
                .exact("simd_prefix_exclusive_product(x)", move |i| product(&mut before(i)))
                .exact("simd_broadcast_first(x)", move |i| x[i / 32 * 32])
                .exact("simd_broadcast(x, 7)", move |i| x[i / 32 * 32 + 7])
                .exact(
                    "r = x; if (x > 3) r = simd_sum(x);",
                    move |i| if x[i] > 3 { sum(&mut some(i)) } else { x[i] },
                )
                .exact("r = x; if (x > 3) r = simd_max(x); else r = simd_min(x);", move |i| match x[i] > 3 {
                    true => some(i).max().unwrap_or(0),
                    false => all(i).filter(|x| *x <= 3).min().unwrap_or(0),
                })
                .exact("r = 0; if (x > 3) r = simd_broadcast_first(x);", move |i| match x[i] > 3 {
                    true => some(i).next().unwrap_or(0),
                    false => 0,
                })
                .exact("r = 0; if (x > 3) r = simd_prefix_inclusive_sum(x);", move |i| match x[i] > 3 {
                    true => sum(&mut (i / 32 * 32..i + 1).map(|k| x[k]).filter(|x| *x > 3)),
                    false => 0,
                });
            table.run();
        }
    };
}
integers!(char_reductions, i8, "char");
integers!(uchar_reductions, u8, "uchar");
integers!(short_reductions, i16, "short");
integers!(ushort_reductions, u16, "ushort");
integers!(int_reductions, i32, "int");
integers!(uint_reductions, u32, "uint");

/// In numbers whose sums and products are exact.
#[test]
fn float_reductions() {
    let x: &Vec<f32> = &small(62, PARTIAL).iter().map(|x| *x as f32 / 4.0).collect();
    let h: &Vec<f16> =
        &small(63, PARTIAL).iter().map(|x| f16::from_f32(if *x > 15 { -2.0 } else { 1.0 })).collect();
    let all = move |i: usize| simdgroup(i, PARTIAL).map(move |k| x[k]);
    let halves = move |i: usize| simdgroup(i, PARTIAL).map(move |k| h[k].to_f32());
    let mut table = Table::new("floating-point reductions").input("x", x).input("h", h);
    table
        .exact("simd_sum(x)", move |i| all(i).sum::<f32>())
        .exact("simd_min(x)", move |i| all(i).fold(f32::INFINITY, f32::min))
        .exact("simd_max(x)", move |i| all(i).fold(f32::NEG_INFINITY, f32::max))
        .exact("simd_prefix_inclusive_sum(x)", move |i| (i / 32 * 32..=i).map(|k| x[k]).sum::<f32>())
        .exact("simd_prefix_exclusive_sum(x)", move |i| (i / 32 * 32..i).map(|k| x[k]).fold(0.0, |a, b| a + b))
        .exact("simd_sum(h)", move |i| f16::from_f32(halves(i).sum::<f32>()))
        .exact("simd_product(h)", move |i| f16::from_f32(halves(i).product::<f32>()))
        .exact("simd_product(float(h))", move |i| halves(i).product::<f32>())
        .exact("simd_min(h)", move |i| f16::from_f32(halves(i).fold(f32::INFINITY, f32::min)))
        .exact("simd_prefix_inclusive_product(h)", move |i| {
            f16::from_f32((i / 32 * 32..=i).map(|k| h[k].to_f32()).product::<f32>())
        })
        .exact("r = 0; if (x < 0) r = simd_sum(x);", move |i| match x[i] < 0.0 {
            true => all(i).filter(|x| *x < 0.0).sum::<f32>(),
            false => 0.0,
        })
        .exact("simd_sum(float2(x, -x * 2))", move |i| [all(i).sum::<f32>(), -2.0 * all(i).sum::<f32>()])
        .exact("simd_max(float3(x, 1, -x))", move |i| {
            let (least, greatest) =
                (all(i).fold(f32::INFINITY, f32::min), all(i).fold(f32::NEG_INFINITY, f32::max));
            [greatest, 1.0, -least]
        })
        .exact("simd_sum(int4(int(x), 1, 2, 3))", move |i| {
            let count = simdgroup(i, PARTIAL).len() as i32;
            [all(i).map(|x| x as i32).sum(), count, 2 * count, 3 * count]
        })
        .exact("simd_broadcast(half4(h, 1, 2, h), 3)", move |i| {
            let of_three = h[i / 32 * 32 + 3];
            [of_three, f16::from_f32(1.0), f16::from_f32(2.0), of_three]
        });
    table.run();
}

#[test]
fn shuffles() {
    let x = &small(64, FULL);
    let f: &Vec<f32> = &small(65, FULL).iter().map(|x| *x as f32 * 0.5).collect();
    let at = |i: usize, lane: usize| i / 32 * 32 + lane;
    let mut table = Table::new("shuffles").input("x", x).input("f", f);
    table
        .exact("simd_shuffle(x, ushort((i * 7 + 3) & 31))", move |i| x[at(i, (i * 7 + 3) & 31)])
        .exact("simd_shuffle(f, 5)", move |i| f[at(i, 5)])
        .exact("simd_shuffle(f, ushort(x & 31))", move |i| f[at(i, (x[i] & 31) as usize)])
        .exact("simd_shuffle_xor(x, 1)", move |i| x[i ^ 1])
        .exact("simd_shuffle_xor(f, 16)", move |i| f[i ^ 16])
        .exact("simd_shuffle_xor(short(x), 21)", move |i| x[i ^ 21] as i16)
        .exact("r = x; for (ushort m = 16; m > 0; m /= 2) r += simd_shuffle_xor(r, m);", move |i| {
            simdgroup(i, FULL).map(|k| x[k]).sum::<i32>()
        })
        .exact(
            "float s = f; for (ushort m = 1; m < 32; m *= 2) s = max(s, simd_shuffle_xor(s, m)); r = s;",
            move |i| simdgroup(i, FULL).map(|k| f[k]).fold(f32::NEG_INFINITY, f32::max),
        )
        .exact("simd_shuffle_up(x, 3)", move |i| if i % 32 >= 3 { x[i - 3] } else { x[i] })
        .exact("simd_shuffle_down(f, 4)", move |i| if i % 32 < 28 { f[i + 4] } else { f[i] })
        .exact("simd_shuffle_rotate_up(x, 3)", move |i| x[at(i, (i + 32 - 3) % 32)])
        .exact("simd_shuffle_rotate_down(f, 9)", move |i| f[at(i, (i + 9) % 32)])
        .exact("simd_shuffle_and_fill_up(x, 100 + x, 3)", move |i| match i % 32 {
            lane if lane >= 3 => x[i - 3],
            lane => 100 + x[at(i, lane + 32 - 3)],
        })
        .exact("simd_shuffle_and_fill_down(x, 100 + x, 5)", move |i| match i % 32 {
            lane if lane < 27 => x[i + 5],
            lane => 100 + x[at(i, lane + 5 - 32)],
        })
        .exact("simd_shuffle_and_fill_up(f, f * 2, 3, 8)", move |i| match i % 8 {
            lane if lane >= 3 => f[i - 3],
            _ => f[i + 5] * 2.0,
        })
        .exact("simd_shuffle_and_fill_down(f, f * 2, 1, 4)", move |i| match i % 4 {
            3 => f[i - 3] * 2.0,
            _ => f[i + 1],
        })
        .exact("simd_shuffle(float2(f, x), ushort(31 - (i & 31)))", move |i| {
            let from = at(i, 31 - i % 32);
            [f[from], x[from] as f32]
        })
        .exact("simd_shuffle_down(uchar(x), 1)", move |i| if i % 32 < 31 { x[i + 1] as u8 } else { x[i] as u8 })
        .exact("simd_shuffle_xor(half3(f, 1, x), 3)", move |i| [f[i ^ 3], 1.0, x[i ^ 3] as f32].map(f16::from_f32))
        .exact("r = -1; if (x & 1) r = simd_shuffle(x, ushort((i & 31) ^ 0));", move |i| {
            if x[i] & 1 == 1 { x[i] } else { -1 }
        });
    table.run();
}

#[test]
fn votes() {
    let x = &small(66, PARTIAL);
    let bits = move |i: usize, vote: fn(i32) -> bool| -> u64 {
        simdgroup(i, PARTIAL).filter(|k| vote(x[*k])).map(|k| 1 << (k % 32)).sum()
    };
    let agree = move |i: usize, vote: fn(i32) -> bool| simdgroup(i, PARTIAL).all(|k| vote(x[k]));
    let mut table = Table::new("votes").input("x", x);
    table
        .exact("ulong(simd_ballot(x > 3))", move |i| bits(i, |x| x > 3))
        .exact("ulong(simd_ballot(true))", move |i| bits(i, |_| true))
        .exact("ulong(simd_active_threads_mask())", move |i| bits(i, |_| true))
        .exact("r = 0; if (x & 1) r = ulong(simd_active_threads_mask());", move |i| match x[i] & 1 {
            1 => bits(i, |x| x & 1 == 1),
            _ => 0,
        })
        .exact("r = 7; if (x & 1) r = ulong(simd_ballot(x > 0));", move |i| match x[i] & 1 {
            1 => bits(i, |x| x & 1 == 1 && x > 0),
            _ => 7,
        })
        .exact("simd_all(x > -21)", |_| 1u8)
        .exact("simd_all(x > -18)", move |i| u8::from(agree(i, |x| x > -18)))
        .exact("simd_any(x > 19)", move |i| u8::from(!agree(i, |x| x <= 19)))
        .exact("simd_any(x > 20)", |_| 0u8)
        .exact("simd_ballot(x > 0).all()", move |i| u8::from(agree(i, |x| x > 0)))
        .exact("simd_ballot(x > 19).any()", move |i| u8::from(!agree(i, |x| x <= 19)))
        .exact("r = 9; if (x > 0) r = simd_all(x > 0);", move |i| if x[i] > 0 { 1u8 } else { 9 })
        .exact("simd_is_first()", |i| u8::from(i % 32 == 0))
        .exact("r = 0; if (x & 1) r = simd_is_first();", move |i| {
            u8::from(simdgroup(i, PARTIAL).find(|k| x[*k] & 1 == 1) == Some(i))
        })
        .exact("popcount(uint(ulong(simd_ballot(x < 0)) & ((1ul << (i & 31)) - 1)))", move |i| {
            (i / 32 * 32..i).filter(|k| x[*k] < 0).count() as u32
        })
        .exact("uint n = 0; for (int k = 0; k < (x & 7); k++) n = n * 2 + popcount(uint(ulong(simd_active_threads_mask()))); r = n;", move |i| {
            (0..x[i] & 7).fold(0u32, |n, k| {
                n.wrapping_mul(2).wrapping_add(simdgroup(i, PARTIAL).filter(|j| x[*j] & 7 > k).count() as u32)
            })
        });
    table.run();
}

#[test]
fn quadgroups() {
    let x = &small(67, FULL);
    let f: &Vec<f32> = &small(68, FULL).iter().map(|x| *x as f32 * 0.25).collect();
    let quad = move |i: usize| (i / 4 * 4..i / 4 * 4 + 4).map(move |k| x[k]);
    let before = move |i: usize| (i / 4 * 4..i).map(move |k| x[k]);
    let mut table = Table::new("quad functions").input("x", x).input("f", f);
    table
        .exact("quad_sum(x)", move |i| quad(i).sum::<i32>())
        .exact("quad_product(x)", move |i| quad(i).product::<i32>())
        .exact("quad_min(x)", move |i| quad(i).min().unwrap_or(0))
        .exact("quad_max(f)", move |i| (i / 4 * 4..i / 4 * 4 + 4).map(|k| f[k]).fold(f32::NEG_INFINITY, f32::max))
        .exact("quad_and(x)", move |i| quad(i).fold(!0, |a, b| a & b))
        .exact("quad_or(x)", move |i| quad(i).fold(0, |a, b| a | b))
        .exact("quad_xor(x)", move |i| quad(i).fold(0, |a, b| a ^ b))
        .exact("quad_sum(f)", move |i| (i / 4 * 4..i / 4 * 4 + 4).map(|k| f[k]).sum::<f32>())
        .exact("quad_prefix_inclusive_sum(x)", move |i| before(i).sum::<i32>() + x[i])
        .exact("quad_prefix_exclusive_sum(x)", move |i| before(i).sum::<i32>())
        .exact("quad_prefix_inclusive_product(x)", move |i| before(i).product::<i32>() * x[i])
        .exact("quad_prefix_exclusive_product(x)", move |i| before(i).product::<i32>())
        .exact("quad_broadcast(x, 2)", move |i| x[i / 4 * 4 + 2])
        .exact("quad_broadcast_first(f)", move |i| f[i / 4 * 4])
        .exact("quad_shuffle(x, ushort((i + 1) & 3))", move |i| x[i / 4 * 4 + (i + 1) % 4])
        .exact("quad_shuffle_xor(f, 3)", move |i| f[i ^ 3])
        .exact("quad_shuffle_up(x, 1)", move |i| if i % 4 > 0 { x[i - 1] } else { x[i] })
        .exact("quad_shuffle_down(x, 2)", move |i| if i % 4 < 2 { x[i + 2] } else { x[i] })
        .exact("quad_shuffle_rotate_up(x, 1)", move |i| x[i / 4 * 4 + (i + 3) % 4])
        .exact("quad_shuffle_rotate_down(x, 1)", move |i| x[i / 4 * 4 + (i + 1) % 4])
        .exact("quad_shuffle_and_fill_up(x, x + 50, 1)", move |i| if i % 4 > 0 { x[i - 1] } else { x[i + 3] + 50 })
        .exact(
            "quad_shuffle_and_fill_down(x, x + 50, 1)",
            move |i| if i % 4 < 3 { x[i + 1] } else { x[i - 3] + 50 },
        )
        .exact("ushort(quad_vote::vote_t(quad_ballot(x > 3)))", move |i| {
            quad(i).enumerate().filter(|(_, x)| *x > 3).map(|(k, _)| 1u16 << k).sum::<u16>()
        })
        .exact("quad_all(x > -10)", move |i| u8::from(quad(i).all(|x| x > -10)))
        .exact("quad_any(x > 10)", move |i| u8::from(quad(i).any(|x| x > 10)))
        .exact("quad_is_first()", |i| u8::from(i % 4 == 0))
        .exact("quad_sum(int2(x, 1))", move |i| [quad(i).sum::<i32>(), 4])
        .exact("r = 0; if (x > 0) r = quad_sum(x);", move |i| match x[i] > 0 {
            true => quad(i).filter(|x| *x > 0).sum::<i32>(),
            false => 0,
        });
    table.run();
}

const EARLY_EXIT: &str = "
// Lanes with in[i] % 3 == 1 leave first, then those above 10; what remains is summed.
kernel void after_return(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  int x = in[i];
  if (x % 3 == 1) return;
  out[i] = simd_sum(x);
  if (x > 10) {
    out[i] += 1000 * simd_sum(1);
    return;
  }
  out[i] += 100000 * simd_max(x + 20);
}

// Lanes leave the loop one after the other, and those still in it count each other.
kernel void in_a_loop(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  int total = 0;
  for (int k = 0; k < in[i]; k++) {
    if (k == 6) break;
    total = total * 3 + simd_sum(1);
  }
  out[i] = total + 1000000 * simd_sum(1);
}

// The function is called in each case of a switch, and after it with all lanes again.
kernel void in_a_switch(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
  int x = in[i], r = 0;
  switch (x & 3) {
    case 0: r = simd_sum(x); break;
    case 1: r = -simd_max(x);
    case 2: r += simd_min(x); break;
    default: break;
  }
  out[i] = r * 100 + simd_sum(x & 1);
}
";

#[test]
fn after_early_exits() {
    let source = TestLibrary::new(EARLY_EXIT);
    let x: Vec<i32> = small(69, PARTIAL).iter().map(|x| (x + 20) / 2).collect();
    let lanes = |i: usize| simdgroup(i, PARTIAL).map(|k| x[k]);
    let run = |name: &str| source.kernel(name).buffer(&x).zeros::<i32>(PARTIAL).threads(PARTIAL, 32).read::<i32>(1);
    expect("after return", &run("after_return"), |i| {
        let stays = |x: &i32| x % 3 != 1;
        let sum: i32 = lanes(i).filter(stays).sum();
        match x[i] {
            x if !stays(&x) => 0,
            11.. => sum + 1000 * lanes(i).filter(stays).filter(|x| *x > 10).count() as i32,
            _ => sum + 100_000 * (lanes(i).filter(stays).filter(|x| *x <= 10).max().unwrap_or(0) + 20),
        }
    });
    expect("in a loop", &run("in_a_loop"), |i| {
        let total = (0..x[i].min(6)).fold(0, |total, k| total * 3 + lanes(i).filter(|x| *x > k).count() as i32);
        total + 1_000_000 * lanes(i).count() as i32
    });
    expect("in a switch", &run("in_a_switch"), |i| {
        let case = |wanted: &'static [i32]| lanes(i).filter(move |x| wanted.contains(&(x & 3)));
        let least = |x: i32| if x == 1 || x == 2 { case(&[1, 2]).min().unwrap_or(0) } else { 0 };
        let r = match x[i] & 3 {
            0 => case(&[0]).sum::<i32>(),
            1 => -case(&[1]).max().unwrap_or(0) + least(1),
            2 => least(2),
            _ => 0,
        };
        r * 100 + lanes(i).filter(|x| x & 1 == 1).count() as i32
    });
}
