//! Threadgroup memory and barriers, in threadgroups of 1 to 1024 threads: `kernels/barriers.metal`.

use crate::harness::{TestLibrary, expect};
use crate::numbers::Random;
use std::sync::LazyLock;

static SOURCE: LazyLock<&TestLibrary> = LazyLock::new(|| TestLibrary::shared_file("barriers.metal"));

/// Threads in a threadgroup: around the sizes of simdgroups, and the largest.
const SIZES: [usize; 14] = [1, 2, 5, 31, 32, 33, 50, 64, 96, 100, 256, 500, 1000, 1024];

fn numbers(seed: u64, count: usize, below: usize) -> Vec<u32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.below(below) as u32).collect()
}

/// Two threadgroups and a part of a third, which has its own number of threads.
fn threads(size: usize) -> usize {
    2 * size + size.div_ceil(3)
}

#[test]
fn reductions() {
    for size in SIZES.into_iter().chain((1..=1024).step_by(11)) {
        let values = numbers(101, threads(size), 1000);
        let run = SOURCE.kernel("reduce").buffer(&values).zeros::<u32>(3).threadgroup_memory(size * 4);
        let sums = run.threads(values.len(), size).read::<u32>(1);
        let expected: Vec<u32> = values.chunks(size).map(|chunk| chunk.iter().sum()).collect();
        assert_eq!(sums, expected, "threadgroups of {size}");
    }
}

#[test]
fn reductions_by_simdgroups() {
    for size in [1, 32, 40, 64, 250, 1024] {
        for n in [1, 31, 100, 1025] {
            let values: Vec<f32> = numbers(102, 3 * n, 100).iter().map(|x| *x as f32 * 0.5).collect();
            let run = SOURCE.kernel("reduce_by_simdgroups").buffer(&values).zeros::<f32>(3).bytes(&(n as u32));
            let sums = run.groups(3, size).read::<f32>(1);
            let expected: Vec<f32> = values.chunks(n).map(|chunk| chunk.iter().sum()).collect();
            assert_eq!(sums, expected, "{n} numbers, threadgroups of {size}");
        }
    }
}

/// As in MLX's products: the first lanes of each simdgroup join its sums.
#[test]
fn barriers_that_only_some_lanes_reach() {
    for size in [32, 64, 96, 256, 1024] {
        for n in [1u32, 4, 7] {
            let values = numbers(104, 2 * size, 1000);
            let run = SOURCE.kernel("reduce_by_first_lanes").buffer(&values).zeros::<u32>(values.len()).bytes(&n);
            let sums = run.groups(2, size).read::<u32>(1);
            expect(&format!("{n} lanes, threadgroups of {size}"), &sums, |i| {
                let (group, lane) = (i / size * size, i % size % 32);
                let simdgroups = (0..size / 32).map(|simdgroup| values[group + 32 * simdgroup + lane]);
                if lane < n as usize { simdgroups.sum() } else { 7 * values[i] }
            });
        }
    }
}

#[test]
fn scans() {
    for size in SIZES {
        let values = numbers(103, threads(size), 1000);
        let sums = SOURCE.kernel("scan").buffer(&values).threads(values.len(), size).read::<u32>(0);
        expect(&format!("threadgroups of {size}"), &sums, |i| values[i / size * size..=i].iter().sum());
    }
}

#[test]
fn transposition() {
    for (width, height) in [(16usize, 16usize), (1, 5), (33, 20), (50, 47)] {
        let values: Vec<f32> = (0..width * height).map(|x| x as f32).collect();
        let run = SOURCE.kernel("transpose_tiles").buffer(&values).zeros::<f32>(values.len());
        let run = run.bytes(&[width as u32, height as u32]);
        let out = run.groups([width.div_ceil(16), height.div_ceil(16)], [16, 16]).read::<f32>(1);
        expect(&format!("{width} by {height}"), &out, |i| (i % height * width + i / height) as f32);
    }
}

#[test]
fn generations() {
    for (size, rounds) in [(1, 4), (32, 5), (45, 7), (128, 3), (300, 2)] {
        let values = numbers(104, 2 * size, 100);
        let run = SOURCE.kernel("generations").buffer(&values).bytes(&(rounds as u32));
        let run = run.threadgroup_memory(size * 4).threadgroup_memory(size * 2);
        let out = run.threads(2 * size, size).read::<u32>(0);
        let expected: Vec<u32> = values.chunks(size).flat_map(|cells| evolve(cells, rounds)).collect();
        expect(&format!("{rounds} rounds of {size}"), &out, |i| expected[i]);
    }
}

fn evolve(cells: &[u32], rounds: usize) -> Vec<u32> {
    let size = cells.len();
    let (mut now, mut history, mut total) = (cells.to_vec(), vec![0u16; size], 0u32);
    for round in 0..rounds {
        let next: Vec<u32> =
            (0..size).map(|k| now[(k + size - 1) % size] * 3 + now[(k + 1) % size] + now[k] * 5).collect();
        for (k, next) in next.iter().enumerate() {
            history[(k + round) % size] += (next & 3) as u16;
        }
        now = next.iter().map(|next| next & 0xffff).collect();
        total += now[round % size];
    }
    (0..size).map(|k| now[k] + u32::from(history[k]) * 0x10000 + (total & 0xff) * 0x0100_0000).collect()
}

#[test]
fn loops_that_threadgroups_leave_at_different_times() {
    for size in [1, 32, 70, 128] {
        let rounds = [1u32, 9, 2, 9, 7, 9];
        let run = SOURCE.kernel("some_threadgroups_wait").buffer(&rounds).zeros::<u32>(6 * size);
        let out = run.groups(6, size).read::<u32>(1);
        expect(&format!("threadgroups of {size}"), &out, |i| {
            let (group, local) = (i / size, i % size);
            let times = if group % 2 == 0 { rounds[group].min(4) } else { 0 };
            // Every second time a value is back where it was.
            let place = if times % 2 == 0 { local } else { size - 1 - local };
            place as u32 + times
        });
    }
}

#[test]
fn values_live_across_barriers() {
    for size in [1, 32, 45, 256] {
        let values = numbers(105, threads(size), 50);
        let run = SOURCE.kernel("values_across_barriers").buffer(&values).zeros::<u32>(values.len());
        let out = run.threads(values.len(), size).read::<u32>(1);
        let expected: Vec<u32> = values.chunks(size).flat_map(across).collect();
        expect(&format!("threadgroups of {size}"), &out, |i| expected[i]);
    }
}

/// All threads of a threadgroup, from barrier to barrier.
fn across(values: &[u32]) -> Vec<u32> {
    let size = values.len();
    let mut mine: Vec<[u32; 4]> = values.iter().map(|x| [1, 2, 3, 4].map(|k| x * k)).collect();
    let mut sums = vec![0u32; size];
    for k in 0..4 {
        for (local, x) in values.iter().enumerate() {
            for j in 0..*x as usize % 5 {
                sums[local] = sums[local].wrapping_add(mine[local][(k + j) % 4]);
            }
        }
        let shared = sums.clone();
        for (local, x) in values.iter().enumerate() {
            let element = &mut mine[local][*x as usize % 4];
            *element = element.wrapping_add(shared[(local + k + 1) % size]);
            if x % 3 == 0 {
                sums[local] ^= mine[local][k];
            }
        }
    }
    (0..size).map(|k| mine[k].iter().fold(sums[k], |sum, x| sum.wrapping_add(*x))).collect()
}

#[test]
fn device_memory_between_threads() {
    for size in [1, 32, 100, 512] {
        let values = numbers(106, 2 * size, 1000);
        let out = SOURCE.kernel("through_device_memory").buffer(&values).groups(2, size).read::<u32>(0);
        expect(&format!("threadgroups of {size}"), &out, |i| values[i / size * size + (i % size + 3) % size] + 3);
    }
}

#[test]
fn threads_that_have_ended_do_not_hold_up_others() {
    for (size, n) in [(32, 20), (64, 32), (96, 33), (256, 1), (200, 150), (256, 256)] {
        let values = numbers(107, 3 * size, 1000);
        let run = SOURCE.kernel("ended_before_a_barrier").buffer(&values).zeros::<u32>(3 * size).bytes(&(n as u32));
        let out = run.groups(3, size).read::<u32>(1);
        expect(&format!("{n} of {size} threads"), &out, |i| {
            let (first, local) = (i / size * size, i % size);
            let at = |step: usize| values[first + (local + step) % n];
            // Three times the sum of neighbours.
            if local < n { at(0) + 3 * at(1) + 3 * at(2) + at(3) } else { 0 }
        });
    }
}
