#include <metal_stdlib>
using namespace metal;

// A tree of sums in threadgroup memory, for any number of threads.
kernel void reduce(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],
                   threadgroup uint *shared [[threadgroup(0)]], uint i [[thread_position_in_grid]],
                   uint local [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]],
                   uint group [[threadgroup_position_in_grid]]) {
  shared[local] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint n = size; n > 1;) {
    uint upper = (n + 1) / 2;
    if (local < n / 2) shared[local] += shared[local + upper];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    n = upper;
  }
  if (local == 0) out[group] = shared[0];
}

// A reduction as kernels make it: in simdgroups, then between them.
kernel void reduce_by_simdgroups(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                                 constant uint &n [[buffer(2)]], uint local [[thread_index_in_threadgroup]],
                                 uint size [[threads_per_threadgroup]], uint group [[threadgroup_position_in_grid]],
                                 uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                                 uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float partial[32];
  float sum = 0;
  for (uint k = local; k < n; k += size) sum += in[group * n + k];
  sum = simd_sum(sum);
  if (lane == 0) partial[simdgroup] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simdgroup == 0) {
    sum = lane < simdgroups ? partial[lane] : 0;
    sum = simd_sum(sum);
    if (lane == 0) out[group] = sum;
  }
}

// Sums of all before, doubling the distance: two barriers in each round.
kernel void scan(device uint *values [[buffer(0)]], uint i [[thread_position_in_grid]],
                 uint local [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  threadgroup uint shared[1024];
  shared[local] = values[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint distance = 1; distance < size; distance *= 2) {
    uint before = local >= distance ? shared[local - distance] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    shared[local] += before;
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  values[i] = shared[local];
}

// A tile of 16 by 16, turned in threadgroup memory; the edges of the matrix are not multiples of it.
kernel void transpose_tiles(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                            constant uint2 &size [[buffer(2)]], uint2 local [[thread_position_in_threadgroup]],
                            uint2 group [[threadgroup_position_in_grid]]) {
  threadgroup float tile[16][17];
  uint2 from = group * 16 + local;
  if (from.x < size.x && from.y < size.y) tile[local.y][local.x] = in[from.y * size.x + from.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint2 to = group.yx * 16 + local;
  if (to.x < size.y && to.y < size.x) out[to.y * size.y + to.x] = tile[local.x][local.y];
}

static uint neighbours(threadgroup const uint *cells, uint local, uint size) {
  uint left = cells[(local + size - 1) % size], right = cells[(local + 1) % size];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return left * 3 + right;
}

// Generations of cells, in two buffers of dynamic size beside a static one; the barrier is in a function.
kernel void generations(device uint *cells [[buffer(0)]], constant uint &rounds [[buffer(1)]],
                        threadgroup uint *now [[threadgroup(0)]], threadgroup ushort *history [[threadgroup(1)]],
                        uint i [[thread_position_in_grid]], uint local [[thread_index_in_threadgroup]],
                        uint size [[threads_per_threadgroup]]) {
  threadgroup uint total;
  if (local == size - 1) total = 0;
  now[local] = cells[i];
  history[local] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint round = 0; round < rounds; round++) {
    uint next = neighbours(now, local, size) + now[local] * 5;
    now[local] = next & 0xffff;
    history[(local + round) % size] += ushort(next & 3);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (local == round % size) total += now[local];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  cells[i] = now[local] + history[local] * 0x10000 + (total & 0xff) * 0x1000000;
}

// Only the threadgroups at even places wait, all of their threads; the loop goes round as often as memory says.
kernel void some_threadgroups_wait(device const uint *rounds [[buffer(0)]], device uint *out [[buffer(1)]],
                                   uint i [[thread_position_in_grid]], uint local [[thread_index_in_threadgroup]],
                                   uint size [[threads_per_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
  threadgroup uint shared[128];
  uint value = local;
  if (group % 2 == 0) {
    uint k = 0;
    do {
      shared[local] = value;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      value = shared[size - 1 - local] + 1;
      threadgroup_barrier(mem_flags::mem_none);
      if (k == 3) break;
    } while (++k < rounds[group]);
  }
  out[i] = value;
}

// Values live across barriers in registers, private arrays and loops that differ per lane.
kernel void values_across_barriers(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],
                                   uint i [[thread_position_in_grid]], uint local [[thread_index_in_threadgroup]],
                                   uint size [[threads_per_threadgroup]]) {
  threadgroup uint shared[256];
  uint mine[4] = {in[i], in[i] * 2, in[i] * 3, in[i] * 4};
  uint sum = 0;
  for (uint k = 0; k < 4; k++) {
    for (uint j = 0; j < in[i] % 5; j++) sum += mine[(k + j) % 4];
    shared[local] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    mine[in[i] % 4] += shared[(local + k + 1) % size];
    if (in[i] % 3 == 0) sum ^= mine[k];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[i] = sum + mine[0] + mine[1] + mine[2] + mine[3];
}

// Device memory between the threads of a threadgroup.
kernel void through_device_memory(device uint *values [[buffer(0)]], uint i [[thread_position_in_grid]],
                                  uint local [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {
  uint first = i - local;
  for (uint round = 0; round < 3; round++) {
    uint taken = values[first + (local + 1) % size];
    threadgroup_barrier(mem_flags::mem_device);
    values[i] = taken + 1;
    threadgroup_barrier(mem_flags::mem_device);
  }
}

// Threads beyond the end have returned before the barrier, as kernels in use do it; some of whole simdgroups.
kernel void ended_before_a_barrier(device const uint *in [[buffer(0)]], device uint *out [[buffer(1)]],
                                   constant uint &n [[buffer(2)]], uint local [[thread_index_in_threadgroup]],
                                   uint group [[threadgroup_position_in_grid]], uint size [[threads_per_threadgroup]]) {
  threadgroup uint shared[256];
  if (local >= n) return;
  uint value = in[group * size + local];
  for (uint k = 0; k < 3; k++) {
    shared[local] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value += shared[(local + 1) % n];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[group * size + local] = value;
}

// The first n lanes of each simdgroup add the numbers of the lanes with the same index; a barrier in a branch, and code
// beside it.
kernel void reduce_by_first_lanes(device const uint *in, device uint *out, constant uint &n,
                                  uint i [[thread_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
                                  uint lane [[thread_index_in_simdgroup]],
                                  uint simdgroups [[simdgroups_per_threadgroup]]) {
    threadgroup uint own[1024];
    uint sum = 0, value = in[i];
    if (lane < n) {
        own[thread_index] = value;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint simdgroup = 0; simdgroup < simdgroups; simdgroup++) {
            sum += own[32 * simdgroup + lane];
        }
    } else {
        sum = 7 * value;
    }
    out[i] = sum;
}
