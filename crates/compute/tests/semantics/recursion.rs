//! Functions that call themselves: `kernels/recursion.metal`, each kernel beside the same in Rust.

use crate::harness::{TestLibrary, expect, expect_kernel_error};

/// Threads: two full simdgroups and a part of a third.
const THREADS: usize = 77;

fn fib(n: i32) -> i32 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

fn ackermann(m: i32, n: i32) -> i32 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

fn gcd(a: i32, b: i32) -> i32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The sum over an implicit tree whose shape differs between threads.
fn tree(node: i32, seed: i32) -> i32 {
    let mut sum = node;
    for child in 0..(node ^ seed) % 3 {
        if node < 200 {
            sum = sum.wrapping_add(tree(node * 3 + child + 1, seed).wrapping_mul(child + 2));
        }
    }
    sum
}

fn hanoi(n: i32, from: usize, to: usize, counts: &mut [i32; 3]) {
    if n > 0 {
        hanoi(n - 1, from, 3 - from - to, counts);
        counts[to] += n;
        hanoi(n - 1, 3 - from - to, to, counts);
    }
}

fn own_arrays(outer: &mut [i32; 4], n: i32) {
    let mut own = [n, n + 1, n + 2, n + 3];
    if n > 0 {
        own_arrays(&mut own, n - 1);
    }
    for (to, from) in outer.iter_mut().zip(own) {
        *to += from;
    }
}

/// Terms and their product modulo 1000, in a struct.
fn power(x: i32, n: i32) -> [i32; 2] {
    if n == 0 {
        return [1, 1];
    }
    let [value, calls] = power(x, n / 2);
    let square = value * value % 1000;
    [if n % 2 == 1 { square * x % 1000 } else { square }, calls + 1]
}

fn term(n: i32) -> i32 {
    if n <= 0 { 1 } else { factor(n - 1) + term(n - 2) }
}

fn factor(n: i32) -> i32 {
    if n <= 0 { 2 } else { term(n - 1) * 3 % 101 }
}

fn collatz(n: u64) -> i32 {
    match n {
        1 => 0,
        n if n % 2 == 0 => 1 + collatz(n / 2),
        n => 1 + collatz(3 * n + 1),
    }
}

fn half_sum(n: i32) -> f32 {
    if n == 0 { 0.5 } else { (n as f32 + half_sum(n - 1)) * 0.5 }
}

/// A kernel, and the value that thread `i` writes.
type Case = (&'static str, fn(i32) -> i32);

const CASES: &[Case] = &[
    ("fibonacci", |i| fib(i % 17)),
    ("ack", |i| ackermann(i % 3, i % 6)),
    ("divisor", |i| gcd(i * 12, 84 + i)),
    ("trees", |i| tree(i % 5, i)),
    ("towers", |i| {
        let mut counts = [0; 3];
        hanoi(i % 7, 0, 2, &mut counts);
        counts[0] + 10 * counts[1] + 100 * counts[2]
    }),
    ("arrays_of_callers", |i| {
        let mut all = [0; 4];
        own_arrays(&mut all, i % 9);
        all.iter().enumerate().map(|(k, value)| (k as i32 + 1) * value).sum()
    }),
    ("structs", |i| {
        let [value, calls] = power(i % 10, i);
        value * 100 + calls
    }),
    ("mutual", |i| term(i % 20) * 1000 + factor(i % 11)),
    ("mutual_tail_calls", |i| i % 2),
    ("template_member_functor", |i| fib(i % 10) + (i % 10) * 2 + (i % 10) * (i % 10 + 1) / 2),
    ("long_numbers", |i| collatz(i as u64 + 1)),
    ("floats", |i| (half_sum(i % 30) * 64.0) as i32),
    ("cycle_in_a_cycle", |i| outer(i % 6)),
    ("in_a_branch", |i| if i % 3 == 0 { fib(i % 13) } else { -i }),
    ("doubling_calls", |i| if i % 2 == 1 { twice(12, i) } else { twice(11, i).wrapping_add(twice(10, i)) }),
    ("parameters_of_several_types", |i| (stretch(i % 12, i as f32) * 16.0) as i32),
    ("bytes_and_bits", |i| i32::from(bits((i * 37) as u8, i % 2 == 0, 0))),
];

/// Not recursive in Metal: there is a function for each `n`.
fn twice(n: i32, x: i32) -> i32 {
    match (n, x % 3) {
        (0, _) if x & 4 != 0 => x.wrapping_mul(7).wrapping_add(3),
        (0, _) => x ^ 21,
        (n, 0) => twice(n - 1, x.wrapping_add(1)).wrapping_sub(twice(n - 1, x)),
        (n, _) => twice(n - 1, x) ^ twice(n - 1, x.wrapping_mul(3).wrapping_add(n)),
    }
}

fn stretch(n: i32, x: f32) -> f32 {
    if n <= 0 { x } else { shrink(x + n as f32, n - 1, x as i32 % 7) - x }
}

fn shrink(x: f32, n: i32, m: i32) -> f32 {
    match n <= 0 {
        true => x * m as f32,
        false => stretch(n - m % 2, x * 0.5) + stretch(m - 3, n as f32) + x,
    }
}

fn outer(n: i32) -> i32 {
    if n == 0 { 1 } else { fib(n + 3) + 2 * outer(n - 1) + outer(n - 1) % 7 }
}

fn bits(value: u8, flag: bool, depth: i16) -> i16 {
    if value == 0 {
        return if flag { depth } else { -depth };
    }
    bits(value >> 1, flag ^ (value & 1 == 1), depth + 1) + i16::from(flag) + i16::from(value & 1)
}

#[test]
fn recursive_functions() {
    let library = TestLibrary::file("recursion.metal");
    for (name, expected) in CASES {
        for group in [64, 20] {
            let run = library.kernel(name).zeros::<i32>(THREADS).threads(THREADS, group);
            expect(name, &run.read::<i32>(0), |i| expected(i as i32));
        }
    }
}

#[test]
fn a_thread_that_exhausts_its_stack_ends_the_command_buffer_with_an_error() {
    let library = TestLibrary::file("recursion.metal");
    let run = |depth: i32| library.kernel("deep").zeros::<i32>(THREADS).bytes(&depth).failure(THREADS, 64);
    assert_eq!(run(500), None);
    let error = run(100_000).expect("the stack is bounded");
    expect_kernel_error(&error, "deep", "call stack of 16384 bytes exhausted: recursion deeper than 1024");
    let endless = library.kernel("endless").zeros::<i32>(THREADS).failure(THREADS, 64);
    assert!(endless.is_some_and(|error| error.to_string().contains("call stack")));
    // Later work runs.
    assert_eq!(run(10), None);
}

#[test]
fn functions_between_lanes_are_refused_in_recursive_functions() {
    for statement in ["threadgroup_barrier(mem_flags::mem_none);", "n += simd_sum(n) & 1;"] {
        let text = format!(
            "int f(int n) {{ if (n < 2) return n; int a = f(n - 1); {statement} return a + f(n - 2); }}\n\
             kernel void k(device int *out, uint i [[thread_position_in_grid]]) {{ out[i] = f(i); }}"
        );
        let error = TestLibrary::new(&text).kernel("k").zeros::<i32>(8).failure(8, 8).expect("it is refused");
        let error = error.to_string();
        assert!(error.contains("in the recursive function 'f'"), "{error}");
    }
}

/// A call at the end of a function is a jump, so that a barrier there is one of a loop.
#[test]
fn a_barrier_in_a_loop_of_tail_calls_works() {
    let library = TestLibrary::file("recursion.metal");
    let run = library.kernel("barrier_in_tail_calls").zeros::<i32>(64).threads(64, 64);
    expect("barrier_in_tail_calls", &run.read::<i32>(0), |i| ((i + 7) % 64) as i32);
}
