//! Control flow that differs between lanes: `kernels/divergence.metal`, each kernel beside the same in Rust.

use crate::harness::{TestLibrary, expect, expect_kernel_error};
use crate::numbers::Random;

/// Threads: two full simdgroups and a part of a third.
const THREADS: usize = 77;

/// Initial value of outputs, kept where a kernel does not write.
const UNTOUCHED: i32 = -12345;

/// A kernel, and the value that thread `i` writes, if any, given all inputs.
type Case = (&'static str, fn(usize, &[i32]) -> Option<i32>);

const CASES: &[Case] = &[
    ("if_else", |i, x| {
        Some(match x[i] % 3 {
            0 => x[i] * 2,
            1 => x[i] + 100,
            _ => -x[i],
        })
    }),
    ("nested_ifs", |i, x| {
        let bit = |n: i32| x[i] >> n & 1 == 1;
        let inner = if bit(1) {
            10 + if bit(2) {
                100
            } else if bit(3) {
                200
            } else {
                0
            }
        } else {
            20
        };
        Some(if bit(0) { (1 + inner) * 3 } else { 0 })
    }),
    ("only_some_store", |i, x| (x[i] > 20).then_some(x[i])),
    ("trip_count_per_lane", |i, x| Some((0..x[i]).map(|k| k * k).sum())),
    ("temporal_divergence", |i, x| Some(x[i] * 7 * 1000 + x[i] - 1)),
    ("temporal_divergence_of_an_address", |i, x| Some(x[3 * (x[i] & 7) as usize])),
    ("uniform_loop_in_divergent_if", |i, x| {
        Some(if x[i] & 1 == 1 { x[..5].iter().sum::<i32>() + 10 } else { -x[..3].iter().sum::<i32>() })
    }),
    ("divergent_loop_in_uniform_loop", |i, x| {
        let mut r = 0i32;
        for outer in 0..4 {
            for k in 0..(x[i] + outer) & 7 {
                r = r.wrapping_mul(3).wrapping_add(k + outer);
            }
            r ^= outer;
        }
        Some(r)
    }),
    ("break_continue_return", break_continue_return),
    ("continue_in_while", |i, x| Some((1..=x[i] % 17).filter(|k| k % (1 + (x[i] & 3)) != 0).sum())),
    ("do_while", |i, x| {
        let (mut k, mut r) = (x[i] % 13, 0);
        loop {
            r += k;
            if r <= 40 {
                r ^= 5;
            }
            if k <= 3 {
                return Some(r);
            }
            k -= 1;
        }
    }),
    ("endless_until_return", |i, x| {
        let mut state = x[i] as u32 | 1;
        for k in 0..=200 {
            if state & 63 == 7 {
                return Some(k);
            }
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        }
        Some(-1)
    }),
    ("early_return", |i, x| match x[i] {
        x if x % 5 == 2 => None,
        x if x > 30 => (x % 2 == 0).then_some(1001),
        x => Some(x + 1),
    }),
    ("switch_per_lane", |i, x| {
        Some(match x[i] % 9 {
            0 => 1,
            1 => (5 + 2 + 3) * 2,
            2 => (5 + 3) * 2,
            3 => 10,
            4 | 5 => -5,
            6 => 25 + 100 + 1,
            8 => 6,
            _ => 106,
        })
    }),
    ("switch_in_loop", switch_in_loop),
    ("switch_on_negative_and_large", |i, x| {
        Some(match x[i].wrapping_sub(3) {
            -3 => 1,
            -1 => 2,
            1000000 => 3,
            i32::MAX => 4,
            12 => 5,
            _ => 6,
        })
    }),
    ("loop_in_switch", |i, x| {
        let r = match x[i] & 3 {
            0 => (0..x[i].min(9)).sum(),
            1 => (x[i] + 6) / 7 * 7,
            // It counts at least once, and lanes that come to 4 leave.
            2 if (x[i] & 15).max(1) >= 4 => return None,
            2 => (x[i] & 15).max(1),
            _ => 0,
        };
        Some(r + 1)
    }),
    ("short_circuit", |i, x| {
        let bit = |n: i32| x[i] >> n & 1 == 1;
        let mut calls = 0;
        let mut note = |answer: bool| {
            calls += 1;
            answer
        };
        let a = note(bit(0)) && note(bit(1));
        let b = note(bit(2)) || note(bit(3)) || note(bit(4));
        let c = (note(bit(0)) && note(bit(2))) || (note(bit(1)) && note(bit(3)));
        Some(calls * 8 + i32::from(a) + 2 * i32::from(b) + 4 * i32::from(c))
    }),
    ("ternary_with_effects", |i, x| {
        let (mut a, mut b, r);
        match x[i] % 3 {
            0 => (r, a, b) = (0, 1, 0),
            1 => (r, a, b) = (5, 0, 5),
            _ => (r, a, b) = (-1, -1, 0),
        }
        *(if x[i] & 1 == 1 { &mut a } else { &mut b }) += 100;
        Some(r + 10 * a + 10000 * b)
    }),
    ("guarded_accesses", |i, x| {
        let before = if i > 0 { x[i - 1] } else { 0 };
        let indirect = if x[i] < 32 { x[x[i] as usize] * 100 } else { 0 };
        Some(before + indirect + if i == 5 { 0 } else { x[0] })
    }),
    ("guarded_division", |i, x| {
        let d = x[i] % 4;
        Some(if d == 0 { 77 } else { x[i] / d + x[i] % d })
    }),
    ("collatz", |i, x| {
        let (mut n, mut steps) = (x[i] + 1, 0);
        while n != 1 {
            n = if n & 1 == 1 { 3 * n + 1 } else { n / 2 };
            steps += 1;
        }
        Some(steps)
    }),
    ("greatest_common_divisor", |i, x| {
        let (mut a, mut b) = (x[i] + 12, i as i32 * 6 + 4);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Some(a)
    }),
    ("loop_carried_swap", |i, x| {
        let (mut a, mut b, mut c) = (x[i], 1, 2);
        for _ in 0..x[i] & 7 {
            (a, b, c) = (b, c, a);
        }
        Some(a * 10000 + b * 100 + c)
    }),
    ("three_loops", three_loops),
    ("overlapping_conditions", |i, x| {
        let x = x[i];
        let (start, done) = match x {
            0..8 => (x & 1, x & 1 == 0),
            8..16 => (2, x & 2 != 0),
            _ => (0, false),
        };
        let r = if done { start } else { start + 10 };
        Some(if r == 1 {
            r
        } else if x % 5 == 1 {
            r + 1000
        } else {
            r + 100
        })
    }),
    ("return_from_loop_of_function", |i, x| {
        let find = |wanted: i32| x[..64].iter().position(|x| *x == wanted).map_or(-1, |k| k as i32);
        Some(find(x[i] / 2) * 3 + find(i as i32))
    }),
    ("condition_from_loop", |i, x| Some(i32::from(19 * 19 > x[i] * 3))),
];

fn break_continue_return(i: usize, x: &[i32]) -> Option<i32> {
    let (x, mut r) = (x[i], 0);
    for a in 0..10 {
        if a == x & 15 {
            break;
        }
        for b in 0..8 {
            if (a + b) & 3 == x & 3 {
                continue;
            }
            if b > x >> 1 & 7 {
                break;
            }
            if a * b == x % 29 {
                return Some(-r);
            }
            r += a * 10 + b;
        }
        r += 1;
    }
    Some(r)
}

fn switch_in_loop(i: usize, x: &[i32]) -> Option<i32> {
    let (mut state, mut r) = (x[i] & 3, 0);
    for k in 0..12 {
        match state {
            0 => {
                (state, r) = (2, r + 1);
                continue;
            }
            1 => state = 3,
            2 if k > x[i] & 7 => state = 9,
            2 => (state, r) = (1, r + 10),
            3 => {
                (state, r) = (0, r + 100);
                continue;
            }
            _ => return Some(r * 2 + k),
        }
        r += 1000;
    }
    Some(r)
}

fn three_loops(i: usize, x: &[i32]) -> Option<i32> {
    let n = x[i] & 15;
    let (mut a, mut b, mut c) = (0, 0, 0);
    while a < n {
        b = 0;
        while b < a + 2 {
            c = b;
            while c < n && !((a + b + c) % 11 == n % 11 && c > 3) {
                c += 1;
            }
            if c == n && b & 1 == 1 {
                break;
            }
            b += 1;
        }
        if b * c > 40 {
            break;
        }
        a += 1;
    }
    Some(a * 10000 + b * 100 + c)
}

#[test]
fn lanes_diverge() {
    let source = TestLibrary::file("divergence.metal");
    let mut random = Random::new(7);
    let inputs: Vec<i32> = (0..THREADS).map(|_| random.below(61) as i32).collect();
    for (name, expected) in CASES {
        for group in [32, 20, 77] {
            let run = source.kernel(name).buffer(&inputs).buffer(&[UNTOUCHED; THREADS]);
            let out = run.threads(THREADS, group).read::<i32>(1);
            expect(name, &out, |i| expected(i, &inputs).unwrap_or(UNTOUCHED));
        }
    }
}

#[test]
fn every_kernel_has_a_case() {
    let text = include_str!("../kernels/divergence.metal");
    let kernels = text.lines().filter_map(|line| line.strip_prefix("PER_THREAD(")?.split(')').next());
    let tested: Vec<&str> = CASES.iter().map(|case| case.0).collect();
    assert_eq!(kernels.collect::<Vec<_>>(), tested);
}

#[test]
fn a_trap_ends_the_command_buffer_with_an_error() {
    let library = TestLibrary::new(
        "#include <metal_stdlib>
         int checked(int x) { if (x < 0) __builtin_trap(); return x + 1; }
         kernel void k(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {
           out[i] = checked(in[i]);
         }",
    );
    let run = |numbers: &[i32]| library.kernel("k").buffer(numbers).zeros::<i32>(numbers.len());
    let numbers: Vec<i32> = (0..40).collect();
    assert_eq!(run(&numbers).failure(40, 32), None);
    expect("without a trap", &run(&numbers).threads(40, 32).read::<i32>(1), |i| i as i32 + 1);
    let negative: Vec<i32> = (0..40).map(|i| i - 3).collect();
    let error = run(&negative).failure(40, 32).expect("three threads trap");
    expect_kernel_error(&error, "k", "the kernel executed a trap (__builtin_trap)");
}

/// Both are long enough to be compiled in another way than short ones (`growth` in `air`).
#[test]
fn long_conditions_and_arrays() {
    let condition = (0..300).map(|n| format!("x == {n} && o[{n}] > x")).collect::<Vec<_>>().join(" || ");
    let items = (0..4500).map(|n| format!("x * {n} + 1")).collect::<Vec<_>>().join(", ");
    let library = TestLibrary::new(&format!(
        "kernel void condition(device const int *in, device const int *o, device int *out,
                               uint i [[thread_position_in_grid]]) {{
           int x = in[i];
           out[i] = {condition};
         }}
         kernel void array(device const int *in, device int *out, uint i [[thread_position_in_grid]]) {{
           int x = in[i];
           int a[4500] = {{ {items} }};
           out[i] = a[x * 14 % 4500];
         }}"
    ));
    let numbers: Vec<i32> = (0..THREADS as i32).map(|i| i * 5 - 7).collect();
    let others: Vec<i32> = (0..300).map(|n| n + n % 3 - 1).collect();
    let run = library.kernel("condition").buffer(&numbers).buffer(&others).zeros::<i32>(THREADS);
    let is_met = |x: i32| (0..300).contains(&x) && others[x as usize] > x;
    expect("condition", &run.threads(THREADS, 32).read::<i32>(2), |i| i32::from(is_met(numbers[i])));
    let positions: Vec<i32> = (0..THREADS as i32).map(|i| i * 5).collect();
    let run = library.kernel("array").buffer(&positions).zeros::<i32>(THREADS);
    expect("array", &run.threads(THREADS, 32).read::<i32>(1), |i| positions[i] * (positions[i] * 14 % 4500) + 1);
}
