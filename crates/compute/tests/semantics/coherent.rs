//! `coherent` memory: an access does what it does without the word.

use crate::harness::{TestLibrary, expect};
use crate::until_exit::until_exit;
use std::sync::LazyLock;

const TEXT: &str = r"
struct Pair { uint a; ushort b; uint low : 4, high : 12; };

kernel void values(coherent device float *numbers, coherent(device) device half4 *vectors,
                   coherent(system) device bool *flags, coherent(device) device packed_float3 *packed,
                   uint i [[thread_position_in_grid]]) {
    numbers[i] = numbers[i] * 2 + 1;
    vectors[i].yx = vectors[i].zw + 1;
    flags[i] = !flags[i];
    if (i % 3 == 1) packed[i] = packed[i].zyx;
}

kernel void objects(coherent(device) device Pair *pairs, uint i [[thread_position_in_grid]]) {
    Pair pair = pairs[i];
    pair.a += i;
    pairs[i] = pair;
    pairs[i].high = i;
    pairs[i].b += 1;
}

// The last threadgroup sees what all others have written.
kernel void last(coherent(device) device uint *parts, device atomic_uint &count, device uint &sum,
                 uint group [[threadgroup_position_in_grid]], uint groups [[threadgroups_per_grid]],
                 uint lane [[thread_index_in_threadgroup]]) {
    if (lane != 0) return;
    parts[group] = group + 1;
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
    if (atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) + 1 < groups) return;
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
    uint all = 0;
    for (uint n = 0; n < groups; ++n) all += parts[n];
    sum = all;
}
";

static SOURCE: LazyLock<&TestLibrary> = LazyLock::new(|| until_exit(TestLibrary::new(TEXT)));

#[test]
fn values_and_whole_objects() {
    let numbers: Vec<f32> = (0..50).map(|i| i as f32).collect();
    // 1, 2, 3 and 4 as `half`.
    let vectors = [[0x3c00u16, 0x4000, 0x4200, 0x4400]; 50];
    let packed: Vec<[f32; 3]> = (0..50).map(|i| [i as f32, 0.5, -1.0]).collect();
    let run = SOURCE.kernel("values").buffer(&numbers).buffer(&vectors).zeros::<u8>(50).buffer(&packed);
    let finished = run.threads(50, 32);
    expect("numbers", &finished.read::<f32>(0), |i| i as f32 * 2.0 + 1.0);
    expect("vectors", &finished.read::<[u16; 4]>(1), |_| [0x4500, 0x4400, 0x4200, 0x4400]);
    expect("flags", &finished.read::<u8>(2), |_| 1);
    expect("packed", &finished.read::<[f32; 3]>(3), |i| match i % 3 {
        1 => [-1.0, 0.5, i as f32],
        _ => [i as f32, 0.5, -1.0],
    });
    let run = SOURCE.kernel("objects").buffer(&[[7u32, 100]; 40]);
    expect("objects", &run.threads(40, 32).read::<[u32; 2]>(0), |i| [7 + i as u32, 101 | (i as u32) << 20]);
}

#[test]
fn the_last_threadgroup_sees_all_parts() {
    let run = SOURCE.kernel("last").zeros::<u32>(200).zeros::<u32>(1).zeros::<u32>(1);
    assert_eq!(run.threads(200 * 32, 32).read::<u32>(2), [200 * 201 / 2]);
}
