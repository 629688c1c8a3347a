//! Atomic operations, with many threads at once: `kernels/atomics.metal`.

use crate::harness::{TestLibrary, expect};
use crate::numbers::Random;
use std::sync::LazyLock;

static SOURCE: LazyLock<&TestLibrary> = LazyLock::new(|| TestLibrary::shared_file("atomics.metal"));

/// Several threadgroups of several simdgroups, the last ones partial.
const THREADS: usize = 1000;
const GROUP: usize = 96;

fn numbers(seed: u64) -> Vec<i32> {
    let mut random = Random::new(seed);
    (0..THREADS).map(|_| random.below(2000) as i32 - 1000).collect()
}

/// Results of all operations, each from its start.
fn expected(start: [i32; 8], values: &[i32]) -> [i32; 7] {
    let fold = |start: i32, f: fn(i32, i32) -> i32| values.iter().copied().fold(start, f);
    [
        fold(start[0], i32::wrapping_add),
        fold(start[1], i32::wrapping_sub),
        fold(start[2], i32::min),
        fold(start[3], i32::max),
        fold(start[4], |a, b| a & b),
        fold(start[5], |a, b| a | b),
        fold(start[6], |a, b| a ^ b),
    ]
}

#[test]
fn every_operation_in_device_memory() {
    let values = numbers(91);
    let start = [5, 6, i32::MAX, i32::MIN, -1, 0, 3, 0];
    let counters =
        SOURCE.kernel("device_int").buffer(&start).buffer(&values).threads(THREADS, GROUP).read::<i32>(0);
    assert_eq!(counters[..7], expected(start, &values));
    assert_eq!(counters[7], values[3]);

    let values: Vec<u32> = values.iter().map(|x| x.unsigned_abs().wrapping_mul(3_000_000)).collect();
    let start = [0, 0, u32::MAX, 0, u32::MAX, 0, 0, 0];
    let counters =
        SOURCE.kernel("device_uint").buffer(&start).buffer(&values).threads(THREADS, GROUP).read::<u32>(0);
    let signed: Vec<i32> = values.iter().map(|x| *x as i32).collect();
    let expected = expected(start.map(|x| x as i32), &signed).map(|x| x as u32);
    let order = (values.iter().min().copied().unwrap_or(0), values.iter().max().copied().unwrap_or(0));
    assert_eq!((counters[0], counters[1], counters[2], counters[3]), (expected[0], expected[1], order.0, order.1));
    assert_eq!(counters[4..7], expected[4..]);
}

#[test]
fn every_operation_in_threadgroup_memory() {
    let values: Vec<i32> = numbers(92).iter().map(|x| x + 1001).collect();
    let most = i32::MAX;
    for kernel in ["threadgroup_int", "threadgroup_uint"] {
        let groups = THREADS.div_ceil(GROUP);
        let run = SOURCE.kernel(kernel).zeros::<i32>(groups * 7).buffer(&values);
        let out = run.threads(THREADS, GROUP).read::<i32>(0);
        expect(kernel, &out, |k| {
            let group = k / 7 * GROUP..(k / 7 * GROUP + GROUP).min(THREADS);
            expected([0, 0, most, 0, most, 0, 0, 0], &values[group])[k % 7]
        });
    }
}

#[test]
fn old_values_are_a_permutation() {
    let run = SOURCE.kernel("tickets").zeros::<u32>(1).zeros::<u32>(THREADS);
    let finished = run.zeros::<u32>(1).zeros::<u32>(THREADS).threads(THREADS, GROUP);
    assert_eq!(finished.read::<u32>(0), [THREADS as u32]);
    let mut tickets = finished.read::<u32>(1);
    tickets.sort_unstable();
    expect("tickets", &tickets, |i| i as u32);
    // Every thread's number was handed on to another, but for the one that is left.
    let mut handed = [finished.read::<u32>(2), finished.read::<u32>(3)].concat();
    handed.sort_unstable();
    expect("handed on", &handed, |i| i as u32);
}

#[test]
fn tickets_in_divergent_code() {
    let total: usize = (0..THREADS).map(|i| i % 4).sum();
    let run = SOURCE.kernel("divergent_tickets").zeros::<u32>(1).zeros::<u32>(total);
    let finished = run.threads(THREADS, GROUP);
    assert_eq!(finished.read::<u32>(0), [total as u32]);
    let mut slots = finished.read::<u32>(1);
    slots.sort_unstable();
    let all: Vec<u32> = (0..THREADS as u32).flat_map(|i| std::iter::repeat_n(i, i as usize % 4)).collect();
    assert_eq!(slots, all);
}

#[test]
fn addresses_that_differ_per_lane() {
    let values = numbers(93);
    let run = SOURCE.kernel("per_lane_addresses").buffer(&[-5000i32; 12]).buffer(&values);
    let bins = run.threads(THREADS, GROUP).read::<i32>(0);
    expect("bins", &bins, |k| match k {
        0..8 => values.iter().filter(|x| *x & 7 == k as i32).sum::<i32>() - 5000,
        _ => values.iter().copied().filter(|x| x & 3 == k as i32 - 8).max().unwrap_or(0),
    });
}

#[test]
fn compare_and_exchange() {
    let values: Vec<f32> = numbers(94).iter().map(|x| *x as f32 * 0.5).collect();
    let run = SOURCE.kernel("compare_exchange").buffer(&[1u32]).buffer(&[-1e9f32]).zeros::<i32>(1).buffer(&values);
    let finished = run.threads(THREADS, GROUP);
    assert_eq!(finished.read::<u32>(0), [3u32.wrapping_pow(THREADS as u32)]);
    assert_eq!(finished.read::<f32>(1), [values.iter().copied().fold(f32::NEG_INFINITY, f32::max)]);
}

#[test]
fn floating_point() {
    let values: Vec<f32> = numbers(95).iter().map(|x| *x as f32 * 0.25).collect();
    let run = SOURCE.kernel("floats").zeros::<f32>(6).buffer(&values).zeros::<f32>(THREADS);
    let finished = run.threads(THREADS, GROUP);
    let sums = finished.read::<f32>(0);
    let total: f32 = values.iter().sum();
    assert_eq!(sums[..3], [total, -total, THREADS as f32 / 2.0]);
    // The exchanged values are the inputs and the initial zeros.
    let mut gone = [finished.read::<f32>(2), sums[3..].to_vec()].concat();
    let mut came = [values, vec![0.0; 3]].concat();
    gone.sort_by(f32::total_cmp);
    came.sort_by(f32::total_cmp);
    assert_eq!(gone, came);
}

#[test]
fn sixty_four_bits() {
    let values: Vec<u64> = numbers(96).iter().map(|x| (*x as u64).wrapping_mul(0x0123_4567_89ab_cdef)).collect();
    let counters =
        SOURCE.kernel("longs").buffer(&[0, u64::MAX]).buffer(&values).threads(THREADS, GROUP).read::<u64>(0);
    let (most, least) = (values.iter().max().copied(), values.iter().min().copied());
    assert_eq!(counters, [most.unwrap_or(0), least.unwrap_or(0)]);
}

#[test]
fn booleans() {
    let run = SOURCE.kernel("bools").buffer(&[0u8, 9, 9, 9, 1]).buffer(&numbers(97)).zeros::<i32>(THREADS);
    let finished = run.threads(THREADS, GROUP);
    let flags = finished.read::<u8>(0);
    assert_eq!(flags[0], 1);
    assert!(flags[1..4].iter().all(|flag| *flag < 2), "{flags:?}");
    expect("loaded", &finished.read::<i32>(2), |_| 1);
}

#[test]
fn the_last_threadgroup_sums() {
    let values: Vec<u32> = numbers(98).iter().map(|x| x.unsigned_abs()).collect();
    let groups = THREADS.div_ceil(GROUP);
    for _ in 0..20 {
        let run =
            SOURCE.kernel("last_one_sums").buffer(&values).zeros::<u32>(groups).zeros::<u32>(1).zeros::<u32>(1);
        let finished = run.threads(THREADS, GROUP);
        assert_eq!(finished.read::<u32>(3), [values.iter().sum::<u32>()]);
    }
}
