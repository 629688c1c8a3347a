//! Calls through function pointers: `kernels/function_pointers.metal`, each kernel beside the same in Rust.

use crate::harness::{TestLibrary, expect, expect_kernel_error};

/// Threads: two full simdgroups and a part of a third.
const THREADS: usize = 77;

/// A kernel, and the value that thread `i` writes.
type Case = (&'static str, fn(i32) -> i32);

const CASES: &[Case] = &[
    ("by_lane", |i| [i + 7, i - 7, i * 7][i as usize % 3]),
    ("constant_table", |i| [i * 5, i + 5, i - 5][i as usize % 3] + 2 * i),
    ("compared_with_null", |i| [-1, -i, i * i, -1][i as usize % 4]),
    ("compared_with_others", |i| if i % 2 == 1 { 1 - i } else { 2 + i * i }),
    ("template_arguments", |i| i * i - i),
    ("in_structs", |i| (i + 3 - 3) * 3),
    ("structs_as_results", |i| if i % 2 == 1 { (i + 3) * 100 + 16 } else { (i - 3) * 100 + 4 }),
    ("recursion_by_pointer", |i| {
        let n = i % 12;
        n * (n + 1) / 2 + n + 1
    }),
    ("effects", |i| if i % 5 == 0 { 50 } else { i + 1 }),
    ("library_functions", |i| i + i % 2),
];

#[test]
fn calls_through_pointers() {
    let library = TestLibrary::file("function_pointers.metal");
    for (name, expected) in CASES {
        for group in [64, 20] {
            let run = library.kernel(name).zeros::<i32>(THREADS).threads(THREADS, group);
            expect(name, &run.read::<i32>(0), |i| expected(i as i32));
        }
    }
}

#[test]
fn a_call_through_a_null_pointer_ends_the_command_buffer_with_an_error() {
    let library = TestLibrary::file("function_pointers.metal");
    let run = |null_at: i32| library.kernel("never_set").zeros::<i32>(THREADS).bytes(&null_at);
    let error = run(60).failure(THREADS, 64).expect("it is called");
    expect_kernel_error(&error, "never_set", "call through a function pointer that is null or was never set");
    let ran = run(1000).threads(THREADS, 64);
    expect("never_set", &ran.read::<i32>(0), |i| (i * i) as i32);
}
