//! `volatile` memory: each access of the source happens, in order, by each thread that makes it.

use crate::harness::{TestLibrary, expect};
use crate::until_exit::until_exit;
use std::sync::LazyLock;

const TEXT: &str = r"
struct Record {
    uint count;
    volatile uint status;
    uint low : 4, high : 12;
    float4 color;
    void add(uint n) volatile device { count += n; status = count; }
};

kernel void stores(volatile device uint *out, uint i [[thread_position_in_grid]]) {
    out[i] = 1;
    out[i] = 2 + i;
}

// Lane 31 sets the flag in its fifth round; the others see it at their next look.
kernel void poll(volatile device uint *flag, device uint *rounds, uint i [[thread_position_in_grid]]) {
    uint n = 0;
    while (*flag == 0 && n < 1000) {
        ++n;
        if (i == 31 && n == 5) *flag = 1;
    }
    rounds[i] = n;
}

kernel void locals(device uint *out, uint i [[thread_position_in_grid]]) {
    volatile uint x = i;
    volatile uint squares[8] = {};
    volatile uchar small = 250;
    volatile bool is_odd = i & 1;
    volatile ulong wide = 1ul << 40;
    for (uint n = 0; n < 8; ++n) squares[n] = n * n;
    for (uint n = 0; n < i % 5; ++n) x += squares[(i + n) % 8];
    if (is_odd) small += i;
    wide += small;
    out[i] = x + (is_odd ? 1000 : 0) + uint(wide >> 40) * 10000 + small * 100000;
}

kernel void fields(volatile device Record *records, device uint *out, uint i [[thread_position_in_grid]]) {
    volatile device Record &mine = records[i];
    mine.count = i;
    if (i % 2 == 0) mine.add(5);
    mine.low = 3;
    mine.high = i;
    mine.color = float4(i);
    mine.color.yx = mine.color.zw + 1;
    out[i] = mine.status * 1000000 + mine.high * 1000 + mine.low * 100 + uint(mine.color.x - mine.color.z) * 10;
}

// Only some threads write, each to a place of its own; the others leave memory alone.
kernel void some(volatile device ushort *out, volatile device float4 *vectors, uint i [[thread_position_in_grid]]) {
    if (i % 5 == 2) {
        out[i * 7 % 64] = i;
        vectors[63 - i] = float4(i, 1, 2, 3);
    }
}

// Threads of one simdgroup that work in step need no barrier, but each step must reach memory.
kernel void sum(device const uint *in, device uint *out, uint lane [[thread_index_in_threadgroup]]) {
    threadgroup uint memory[32];
    volatile threadgroup uint *sums = memory;
    sums[lane] = in[lane];
    for (uint step = 16; step > 0; step /= 2) {
        if (lane < step) sums[lane] += sums[lane + step];
    }
    if (lane == 0) *out = sums[0];
}

kernel void matrices(volatile device float2x2 *m, device float2x2 *out, uint i [[thread_position_in_grid]]) {
    float2x2 copy = m[i];
    copy[0] += 1;
    m[i] = copy;
    out[i] = m[i];
}

// More than a code generator writes one access at a time for.
struct Long { uint v[500]; uchar c[300]; };

kernel void long_objects(device const Long *in, device Long *out, uint i [[thread_position_in_grid]]) {
    Long plain = in[i];
    volatile Long kept = plain;
    kept.v[i * 7] += i;
    if (i % 3 == 1) kept.c[i] = i;
    const volatile thread Long &seen = kept;
    for (uint n = 0; n < 500; ++n) plain.v[n] = seen.v[n];
    for (uint n = 0; n < 300; ++n) plain.c[n] = seen.c[n];
    Long copy = plain;
    plain = in[i + 1];
    copy.v[499] += plain.v[0];
    if (i % 2 == 0) out[i] = copy; else out[i] = plain;
}

kernel void one_place(volatile device uint *count, device uint *out, uint i [[thread_position_in_grid]]) {
    for (uint n = 0; n < 10; ++n) *count = *count + 1;
    out[i] = *count;
}
";

static SOURCE: LazyLock<&TestLibrary> = LazyLock::new(|| until_exit(TestLibrary::new(TEXT)));

#[test]
fn the_last_store_stays() {
    let run = SOURCE.kernel("stores").zeros::<u32>(100);
    expect("stores", &run.threads(100, 32).read::<u32>(0), |i| 2 + i as u32);
}

#[test]
fn a_loop_sees_the_flag_of_another_lane() {
    let run = SOURCE.kernel("poll").zeros::<u32>(1).zeros::<u32>(32);
    let finished = run.threads(32, 32);
    assert_eq!(finished.read::<u32>(0), [1]);
    expect("rounds", &finished.read::<u32>(1), |_| 5);
}

#[test]
fn locals() {
    let run = SOURCE.kernel("locals").zeros::<u32>(77);
    expect("locals", &run.threads(77, 32).read::<u32>(0), |i| {
        let i = i as u32;
        let x: u32 = i + (0..i % 5).map(|n| ((i + n) % 8).pow(2)).sum::<u32>();
        let small = if i % 2 == 1 { 250u8.wrapping_add(i as u8) } else { 250 };
        x + (i % 2) * 1000 + 10000 + u32::from(small) * 100_000
    });
}

#[test]
fn fields_bits_and_components() {
    let run = SOURCE.kernel("fields").zeros::<[u32; 8]>(50).zeros::<u32>(50);
    expect("fields", &run.threads(50, 32).read::<u32>(1), |i| {
        let i = i as u32;
        let status = if i.is_multiple_of(2) { i + 5 } else { 0 };
        status * 1_000_000 + i * 1000 + 300 + 10
    });
}

#[test]
fn lanes_that_are_switched_off_write_nothing() {
    let run = SOURCE.kernel("some").buffer(&[999u16; 64]).buffer(&[[-1.0f32; 4]; 64]);
    let finished = run.threads(64, 64);
    let writer = |place: usize| (0..64).find(|i| i % 5 == 2 && i * 7 % 64 == place);
    expect("numbers", &finished.read::<u16>(0), |place| writer(place).map_or(999, |i| i as u16));
    expect("vectors", &finished.read::<[f32; 4]>(1), |place| match 63 - place {
        i if i % 5 == 2 => [i as f32, 1.0, 2.0, 3.0],
        _ => [-1.0; 4],
    });
}

#[test]
fn long_objects() {
    const WORDS: usize = 575;
    let objects: Vec<[u32; WORDS]> =
        (0..41u32).map(|i| std::array::from_fn(|at| if at < 500 { i * 1000 + at as u32 } else { 0 })).collect();
    let run = SOURCE.kernel("long_objects").buffer(objects.as_flattened()).zeros::<u32>(40 * WORDS);
    let expected = |i: usize| {
        if i % 2 == 1 {
            return objects[i + 1];
        }
        let mut object = objects[i];
        object[i * 7] += i as u32;
        object[499] += objects[i + 1][0];
        if i % 3 == 1 {
            object[500 + i / 4] |= (i as u32) << (8 * (i % 4));
        }
        object
    };
    let found = run.threads(40, 32).read::<u32>(1);
    expect("long objects", &found, |at| expected(at / WORDS)[at % WORDS]);
}

#[test]
fn a_simdgroup_works_in_step() {
    let numbers: Vec<u32> = (1..=32).collect();
    let run = SOURCE.kernel("sum").buffer(&numbers).zeros::<u32>(1);
    assert_eq!(run.threads(32, 32).read::<u32>(1), [32 * 33 / 2]);
}

#[test]
fn whole_matrices() {
    let numbers: Vec<[f32; 4]> = (0..40).map(|i| [i as f32, 1.0, 2.0, 3.0]).collect();
    let run = SOURCE.kernel("matrices").buffer(&numbers).zeros::<[f32; 4]>(40);
    let finished = run.threads(40, 32);
    for buffer in 0..2 {
        expect("matrices", &finished.read::<[f32; 4]>(buffer), |i| [i as f32 + 1.0, 2.0, 2.0, 3.0]);
    }
}

#[test]
fn every_round_counts() {
    let run = SOURCE.kernel("one_place").zeros::<u32>(1).zeros::<u32>(8);
    let finished = run.threads(8, 8);
    assert_eq!(finished.read::<u32>(0), [10], "the lanes read one number at once, and write one");
    expect("count", &finished.read::<u32>(1), |_| 10);
}
