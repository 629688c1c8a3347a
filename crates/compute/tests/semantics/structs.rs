//! Structs, classes, templates, arrays, pointers, tables and enumerations: `kernels/structs.metal` and others, where
//! each thread writes one number.

use crate::harness::{TestLibrary, expect};
use crate::numbers::Random;

const THREADS: usize = 70;

/// A kernel, and the value that thread `i` writes, given all inputs.
type Case = (&'static str, fn(usize, &[i32]) -> i32);

fn run_all(file: &str, cases: &[Case]) {
    let source = TestLibrary::file(file);
    let mut random = Random::new(21);
    let inputs: Vec<i32> = (0..THREADS).map(|_| random.below(100) as i32).collect();
    for (name, expected) in cases {
        let out = source.kernel(name).buffer(&inputs).zeros::<i32>(THREADS).threads(THREADS, 32).read::<i32>(1);
        expect(name, &out, |i| expected(i, &inputs));
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels").join(file);
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let kernels = text.lines().filter_map(|line| line.strip_prefix("PER_THREAD(")?.split(')').next());
    let tested: Vec<&str> = cases.iter().map(|case| case.0).collect();
    assert_eq!(kernels.collect::<Vec<_>>(), tested, "every kernel of {file} has a case");
}

#[test]
fn structs_and_classes() {
    run_all(
        "structs.metal",
        &[
            ("nested_by_value", |i, x| x[i] + 2 * (x[i] + 1) + 3 * 7 + 4 * 4),
            ("copies_are_independent", |i, x| 10 * x[i] + 5),
            ("by_pointer_and_reference", |i, x| (x[i] + 3) * 2 + 100),
            ("returned_from_functions", |i, x| (x[i] + 2) * 100 + x[i] * 2),
            ("methods", |i, x| (1..=x[i] % 7).sum::<i32>() + 50),
            ("operators", |i, x| {
                let (a, b) = ((x[i], 2), (3, x[i]));
                let product = (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0);
                product.0 - a.0 + (product.1 - a.1) * 10 + i32::from(x[i] == 3) * 100_000
            }),
            ("constructors", |i, x| 7 + x[i] + 2 * x[i] + x[i] + 5 + 3),
            ("inheritance", |i, x| x[i] + 10 + 2 * x[i]),
            ("conversion_operator", |i, x| x[i] * 2 + 1),
            ("array_of_structs_per_lane", |i, x| {
                let k = x[i] & 3;
                k * 10 + k * k
            }),
            ("struct_in_loop_and_branch", |i, x| {
                let (mut a, mut b) = (0, 1);
                for k in 0..x[i] & 15 {
                    if k & 1 == 1 { a += b } else { b += 2 }
                }
                a * 1000 + b
            }),
            ("static_members_and_functions", |i, x| x[i] * 4 + 9),
            ("unions_of_the_same_size", |i, x| (x[i] as f32).to_bits() as i32),
            ("bit_fields", |i, x| {
                // Five bits with a sign.
                let five = |x: i32| x << 27 >> 27;
                let sign = five(five(x[i]) - 1);
                (x[i] + 1) % 8 + x[i] * 20 % 1024 * 10 + sign * 100_000 + 9 + 4
            }),
            ("packed_members", |i, x| x[i] + 2 * (x[i] + 1) + 3 * (x[i] + 2) + 16 * 1000),
            ("struct_of_everything", |i, x| x[i] * 3 + (x[i] & 1) + 11),
            ("moves", |i, x| x[i] + 100 + 1000 + 20_000 + 100_000),
            ("brace_lists", |i, x| (200 + x[i] + 1) + (300 + x[i] + 5)),
            ("columns_of_matrices", |i, x| x[i] + 5 + 6 + 222),
            ("templates_in_classes", |i, x| x[i] + 1 + 25 + 7 + 15 + 7),
            ("pointers_to_second_bases", |i, x| 1 + 3 * (x[i] + 10) - 100 + 3000 + 30_000 + 16 + 7),
            ("references_in_parentheses", |i, x| x[i] + 1111),
            ("pointers_to_members", |i, x| {
                let odd = x[i] & 1 == 1;
                let (count, word) = if odd { (x[i] + 3, 1000) } else { (x[i], 1003) };
                let (entry_count, entry_word) = if odd { (27, 0) } else { (7, 20) };
                let chosen = if odd { count } else { word };
                let r = chosen + count + word + 5 + entry_count * 10 + entry_word + 30 + 10_000;
                let method = if x[i] & 2 == 2 { x[i] * 4 } else { x[i] + 4 };
                r + method * 100_000 + (x[i] + 5) * 2
            }),
        ],
    );
}

#[test]
fn templates() {
    run_all(
        "templates.metal",
        &[
            ("function_template", |i, x| x[i].max(30) + (x[i] as f32 * 0.5) as i32),
            ("value_parameters", |i, x| x[i] * 5 + 3 * 3),
            ("class_template", |i, x| x[i] * 3 + 6),
            ("specialization", |i, x| x[i] * 100 + 2 * 10 + 1),
            ("partial_specialization", |i, x| if x[i] % 2 == 1 { 34 } else { 12 }),
            ("recursion_of_templates", |i, x| x[i] + 5040),
            ("variadic", |i, x| x[i] + 1 + x[i] + 10),
            ("function_as_parameter", |i, x| x[i] * x[i] + (x[i] + x[i])),
            ("function_as_value_parameter", |i, x| x[i] + 2 + x[i] * 81),
            ("lambda", |i, x| x[i] * 2 + 3 + x[i]),
            ("constexpr_if", |i, x| x[i] + 8),
            ("deduced_address_space", |i, x| x[i] + x[0] + 7),
            ("type_traits", |i, x| x[i] + 1 + 2 + 8),
        ],
    );
}

#[test]
fn arrays() {
    run_all(
        "arrays.metal",
        &[
            ("constant_index", |i, x| x[i] + 3 * x[i]),
            ("uniform_index", |i, x| (0..8).map(|k| (x[i] + k) * k).sum()),
            ("per_lane_index", |i, x| x[i] * 10 + (x[i] & 7) * (x[i] & 7)),
            ("per_lane_writes", |i, x| {
                let mut a = [0; 8];
                for k in 0..5 {
                    a[((x[i] + k * 3) & 7) as usize] += k + 1;
                }
                a.iter().enumerate().map(|(k, v)| v * (k as i32 + 1)).sum()
            }),
            ("two_dimensions", |i, x| {
                let (r, c) = (x[i] % 3, x[i] % 5);
                r * 10 + c + (c % 3 * 10 + r)
            }),
            ("of_half", |i, x| x[i] * 2 + (x[i] & 3)),
            ("of_char", |i, x| {
                let sum: i32 = (0..16).map(|k| i32::from((x[i] * (k - 8)) as i8)).sum();
                sum + i32::from((x[i] * ((x[i] & 15) - 8)) as i8)
            }),
            ("of_vectors", |i, x| {
                let k = x[i] & 3;
                x[i] + k + 2 * k + 3 * (x[i] * k)
            }),
            ("of_float3", |i, x| (x[i] % 3) * 111 + 6),
            ("of_long", |i, x| x[i] & 3),
            ("of_bool", |i, x| (0..=(x[i] & 7)).filter(|k| k % 3 == 0).count() as i32),
            ("copied_and_passed", |i, x| (0..4).map(|k| x[i] + k).sum::<i32>() * 1000 + x[i] + 100),
            ("reversed_through_pointers", |i, x| {
                let a: Vec<i32> = (0..6).map(|k| x[i] + k * k).collect();
                a.iter().rev().enumerate().map(|(k, v)| v * k as i32).sum()
            }),
            ("pointer_into_one_of_two", |i, x| if x[i] & 1 == 1 { 5 + 100 * (x[i] + 1) } else { 6 + 100 * x[i] }),
            ("pointer_walk_per_lane", |i, x| (0..10).take_while(|k| k * k <= x[i]).sum()),
            ("metal_array", |i, x| x[i] * 4 + 6 + 4),
            ("large", |i, x| (x[i] * 37) % 256 + 255),
            ("partly_initialized", |i, x| x[i] + [5, 6, 0, 0, 0, 0][(x[i] % 6) as usize]),
            ("swapped_elements", |i, x| {
                let mut a = [0, 1, 2, 3, 4, 5];
                a.swap((x[i] % 6) as usize, (x[i] / 6 % 6) as usize);
                a.iter().fold(0, |sum, v| sum * 6 + v)
            }),
        ],
    );
}

#[test]
fn tables_enumerations_and_names() {
    run_all(
        "tables.metal",
        &[
            ("constant_table_per_lane", |i, x| [2, 3, 5, 7, 11, 13, 17, 19][(x[i] & 7) as usize] + 19),
            ("table_of_vectors", |i, x| (x[i] & 3) * 10 + (x[i] & 3) + 1),
            ("table_of_structs", |i, x| [105, 206, 307][(x[i] % 3) as usize]),
            ("two_dimensional_table", |i, x| (x[i] % 3 * 4 + x[i] % 4) * 2),
            ("table_of_half_and_char", |i, x| {
                let k = (x[i] & 3) as usize;
                [1, 3, 5, 7][k] + [-1, 2, -3, 4][k]
            }),
            ("pointer_to_a_table", |i, x| {
                if x[i] & 1 == 1 { [2, 3, 5, 7, 11, 13, 17, 19][(x[i] & 7) as usize] } else { 6 }
            }),
            ("computed_constants", |i, x| x[i] + 1 + 4 + 9 + 16),
            ("enumerations", |i, x| [1, 2, 40, 41][(x[i] & 3) as usize] * 10 + (x[i] & 3)),
            ("enum_classes", |i, x| [100, 200, 300][(x[i] % 3) as usize]),
            ("namespaces", |i, x| x[i] * 2 + x[i] * 3),
            ("macros", |i, x| (x[i] + 1) * 2 + 33),
            ("local_types", |i, x| x[i] + 14),
            ("string_of_characters", |i, x| i32::from(b"kernel"[(x[i] % 6) as usize])),
            ("sizes", |i, x| x[i] + 4 + 16 + 12 + 8 + 24),
        ],
    );
}

#[test]
fn deduced_types() {
    run_all(
        "deduction.metal",
        &[
            ("forwarding_references", |i, x| (x[i] + 2) * 2 + 100),
            ("categories_of_arguments", |i, x| x[i] + 321_321 + 4_000_000 + 100),
            ("deduced_references_as_results", |i, x| x[i] * 10 + 3 + 2 + 6),
            ("arrays_of_constant_memory", |i, x| {
                let rows = [[1, 2 + x[i], 3], [4, 5, 6]];
                rows[(x[i] & 1) as usize][(x[i] % 3) as usize]
            }),
        ],
    );
}

#[test]
fn extensions() {
    run_all(
        "extensions.metal",
        &[
            ("case_ranges", |i, x| match x[i] {
                0..=9 => 1,
                10 => 2,
                11..=50 => 7,
                51..=60 => 4,
                _ => 5,
            }),
            ("structured_bindings", |i, x| {
                let (a, b) = (x[i] + 1, 2);
                let p = (x[i] + 10, 6);
                a + b + p.0 * 10 + p.1 + x[i] + 7 + 8 + 100 + 6
            }),
            ("mutable_fields", |i, x| (x[i] + 1) * 10 + 2),
            ("functions_of_clang", |i, x| {
                let n = (x[i] + 1) as u32;
                let ones = n.count_ones();
                (ones + 10 * n.trailing_zeros() + 1000 * n.leading_zeros() + ones % 2) as i32
            }),
            ("loops_over_iterators", |i, x| {
                let even = (0..x[i]).step_by(2).filter(|x| *x != 40 && *x <= 60).sum::<i32>();
                even + x[..3].iter().sum::<i32>()
            }),
            ("default_constructed_constants", |i, x| (x[i] & 7) * (x[i] & 7)),
            ("loops_over_lists", |i, x| 103 + x[i] * 10 + x[i] * 2 + 30),
            ("inherited_constructors", |i, x| x[i] * 3 + 5 + x[i] * 2 + 50 + 700),
            ("statement_expressions", |i, x| {
                let sum = (0..6).filter(|k| *k != x[i] % 5).sum::<i32>();
                let even = i32::from(x[i] % 2 == 0);
                let value = x[i].max(20).max(x[i] * 2 + 1) + sum + x[i] + 1000 * even + 3 + even;
                if x[i] > 90 { -1 } else { value }
            }),
        ],
    );
}

#[test]
fn translated_from_other_languages() {
    run_all(
        "translated.metal",
        &[
            ("arrays_with_operators", |i, x| {
                let local = [x[i], 2, 3, 4];
                let second = local[(x[i] & 3) as usize] + [2, 4][(x[i] & 1) as usize];
                x[i] * 20 + second
            }),
            ("specialization_constants", |i, x| x[i] * 3 + 6000 + 2),
            ("arrays_of_constant_size", |i, x| 7 * x[i] + x[i] % 8 * x[i]),
            ("helper_templates", |i, x| {
                let column = (x[i] % 3) as usize;
                let first = (x[i] + 1).trailing_zeros() as i32;
                let last = if x[i] == 0 { -1 } else { 31 - x[i].leading_zeros() as i32 };
                let sign = (x[i] - 50).signum() * 10_000;
                [4, 5, 6][column] + [1, 2, 3][column] * 10 + first * 100 + last * 1000 + sign + x[i] % 7 * 100_000
            }),
            ("wrapped_arrays", |i, x| {
                let mut local = [1, 2, 3, 4];
                local[(x[i] & 3) as usize] += 2 * x[i];
                let guarded = local.get((x[i] % 6) as usize).copied().unwrap_or(0);
                guarded + x[i] * 1000 + x[i] * 100_000
            }),
        ],
    );
}

#[test]
fn zeros_in_threadgroup_memory() {
    // Each threadgroup finds zeros, whatever the one before it left there.
    let source = TestLibrary::new(
        "kernel void k(device int *out [[buffer(0)]], uint i [[thread_position_in_grid]],
                       uint lane [[thread_index_in_threadgroup]]) {
           threadgroup int sums[64] = {};
           threadgroup int last = 0;
           out[i] = sums[63 - lane] + last;
           threadgroup_barrier(mem_flags::mem_threadgroup);
           sums[lane] = 7;
           if (lane == 63) last = 9;
         }",
    );
    let out = source.kernel("k").zeros::<i32>(640).threads(640, 64).read::<i32>(0);
    expect("k", &out, |_| 0);
}
