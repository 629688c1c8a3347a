//! Walks through memory that differ per lane: `kernels/memory_walks.metal`.

use crate::harness::{TestLibrary, expect};
use crate::numbers::Random;
use std::sync::LazyLock;

const THREADS: usize = 75;

static SOURCE: LazyLock<&TestLibrary> = LazyLock::new(|| TestLibrary::shared_file("memory_walks.metal"));

fn numbers(seed: u64, count: usize, below: usize) -> Vec<i32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| random.below(below) as i32).collect()
}

#[test]
fn binary_search() {
    let mut sorted = numbers(1, 500, 1000);
    sorted.sort_unstable();
    let wanted = numbers(2, THREADS, 1010);
    let run = SOURCE.kernel("binary_search").buffer(&sorted).buffer(&wanted).zeros::<i32>(THREADS);
    let out = run.bytes(&(sorted.len() as i32)).threads(THREADS, 32).read::<i32>(2);
    expect("binary search", &out, |i| sorted.partition_point(|x| *x < wanted[i]) as i32);
}

#[test]
fn linked_lists() {
    // Every node points to an earlier one, or to none.
    let mut random = Random::new(3);
    let nodes: Vec<[i32; 2]> = (0..300)
        .map(|n| {
            let value = if random.chance(20) { -1 } else { random.below(100) as i32 };
            let next = if n == 0 || random.chance(8) { -1 } else { n - 1 - random.below(n.min(4) as usize) as i32 };
            [value, next]
        })
        .collect();
    let heads: Vec<i32> = (0..THREADS).map(|_| random.below(301) as i32 - 1).collect();
    let run = SOURCE.kernel("linked_list").buffer(&nodes).buffer(&heads);
    let finished = run.zeros::<i32>(THREADS).zeros::<i32>(THREADS).threads(THREADS, 40);
    let walk = |i: usize| {
        let (mut at, mut values) = (heads[i], Vec::new());
        while at >= 0 && nodes[at as usize][0] >= 0 {
            values.push(nodes[at as usize][0]);
            at = nodes[at as usize][1];
        }
        values
    };
    expect("sums", &finished.read::<i32>(2), |i| walk(i).iter().sum());
    expect("visits", &finished.read::<i32>(3), |i| walk(i).len() as i32);
}

#[test]
fn bubble_sort() {
    let values = numbers(4, THREADS * 9, 50);
    let finished = SOURCE.kernel("bubble_sort").buffer(&values).zeros::<u32>(THREADS).threads(THREADS, 64);
    let sorted = |i: usize| {
        let mut values = values[i * 9..i * 9 + 9].to_vec();
        values.sort_unstable();
        values
    };
    let inversions = |i: usize| {
        let values = &values[i * 9..i * 9 + 9];
        (0..9).map(|b| (0..b).filter(|a| values[*a] > values[b]).count() as u32).sum::<u32>()
    };
    expect("values", &finished.read::<i32>(0), |i| sorted(i / 9)[i % 9]);
    expect("swaps", &finished.read::<u32>(1), inversions);
}

#[test]
fn insertion_sort_of_short_integers() {
    let values: Vec<i32> = numbers(5, THREADS * 16, 60000).iter().map(|x| x - 30000).collect();
    let out = SOURCE.kernel("insertion_sort").buffer(&values).threads(THREADS, 32).read::<i32>(0);
    expect("values", &out, |i| {
        let mut part = values[i / 16 * 16..i / 16 * 16 + 16].to_vec();
        part.sort_unstable();
        part[i % 16]
    });
}

/// Programs of different lengths, with loops, and the tops of their stacks.
#[test]
fn stack_machine_per_lane() {
    const ADD: u8 = 100;
    const MULTIPLY: u8 = 101;
    const COPY: u8 = 102;
    const SWAP: u8 = 103;
    const JUMP_IF_POSITIVE: u8 = 104;
    const DECREMENT: u8 = 105;
    const END: u8 = 199;
    let programs: [(&[u8], i32); 5] = [
        (&[3, 4, ADD, END], 7),
        (&[2, COPY, MULTIPLY, COPY, MULTIPLY, COPY, MULTIPLY, END], 256),
        // A sum that counts down: 1 + 1 for each of 6 rounds.
        (&[1, 6, SWAP, 1, ADD, SWAP, DECREMENT, COPY, JUMP_IF_POSITIVE, 7, SWAP, END], 7),
        (&[9, END], 9),
        // Never ends.
        (&[5, COPY, JUMP_IF_POSITIVE, 2, END], -1),
    ];
    let mut code = Vec::new();
    let mut starts = Vec::new();
    for (program, _) in programs {
        starts.push(code.len() as u32);
        code.extend_from_slice(program);
    }
    let starts: Vec<u32> = (0..THREADS).map(|i| starts[i * 7 % 5]).collect();
    let run = SOURCE.kernel("stack_machine").buffer(&code).buffer(&starts).zeros::<i32>(THREADS);
    let out = run.threads(THREADS, 32).read::<i32>(2);
    expect("top of the stack", &out, |i| programs[i * 7 % 5].1);
}

#[test]
fn stores_and_atomics_under_divergent_control() {
    let run = SOURCE.kernel("histogram_of_divisors").zeros::<u32>(THREADS + 1).zeros::<u32>(THREADS);
    let finished = run.threads(THREADS, 32);
    let divisors = |n: usize| {
        let all = (1..=n).filter(move |d| n.is_multiple_of(*d));
        // A thread ends with its first divisor above 20.
        let mut ended = false;
        all.take_while(move |d| !std::mem::replace(&mut ended, *d > 20))
    };
    expect("counts", &finished.read::<u32>(0), |d| {
        (1..=THREADS).filter(|n| d > 0 && divisors(*n).any(|x| x == d)).count() as u32
    });
    expect("last divisor but the number", &finished.read::<u32>(1), |i| {
        divisors(i + 1).filter(|d| *d != i + 1).last().unwrap_or(0) as u32
    });
}

#[test]
fn edit_distances() {
    let mut random = Random::new(6);
    let mut words = || -> Vec<u8> {
        (0..THREADS)
            .flat_map(|_| {
                let length = random.below(9);
                let letters: Vec<u8> =
                    (0..8).map(|k| if k < length { 97 + random.below(3) as u8 } else { 0 }).collect();
                letters
            })
            .collect()
    };
    let (a, b) = (words(), words());
    let run = SOURCE.kernel("edit_distance").buffer(&a).buffer(&b).zeros::<i32>(THREADS);
    let out = run.threads(THREADS, 50).read::<i32>(2);
    expect("distance", &out, |i| {
        let word =
            |text: &[u8]| text[i * 8..i * 8 + 8].iter().copied().take_while(|c| *c != 0).collect::<Vec<u8>>();
        distance(&word(&a), &word(&b))
    });
}

/// By the definition.
fn distance(a: &[u8], b: &[u8]) -> i32 {
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for p in 0..=a.len() {
        for q in 0..=b.len() {
            table[p][q] = match (p, q) {
                (0, n) | (n, 0) => n as i32,
                _ if a[p - 1] == b[q - 1] => table[p - 1][q - 1],
                _ => 1 + table[p - 1][q].min(table[p][q - 1]).min(table[p - 1][q - 1]),
            };
        }
    }
    table[a.len()][b.len()]
}
