#include <metal_stdlib>
using namespace metal;

#define RELAXED memory_order_relaxed

// Every operation on a device counter of its own, with contention of all threads.
template <typename T>
kernel void device_operations(device atomic<T> *c [[buffer(0)]], device const T *in [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&c[0], in[i], RELAXED);
  atomic_fetch_sub_explicit(&c[1], in[i], RELAXED);
  atomic_fetch_min_explicit(&c[2], in[i], RELAXED);
  atomic_fetch_max_explicit(&c[3], in[i], RELAXED);
  atomic_fetch_and_explicit(&c[4], in[i], RELAXED);
  atomic_fetch_or_explicit(&c[5], in[i], RELAXED);
  atomic_fetch_xor_explicit(&c[6], in[i], RELAXED);
  if (i == 3) atomic_store_explicit(&c[7], in[i], RELAXED);
}
template [[host_name("device_int")]] kernel decltype(device_operations<int>) device_operations<int>;
template [[host_name("device_uint")]] kernel decltype(device_operations<uint>) device_operations<uint>;

// The same in threadgroup memory; the first thread hands over the results of its threadgroup.
template <typename T>
kernel void threadgroup_operations(device T *out [[buffer(0)]], device const T *in [[buffer(1)]],
                                   uint i [[thread_position_in_grid]], uint local [[thread_index_in_threadgroup]],
                                   uint group [[threadgroup_position_in_grid]]) {
  threadgroup atomic<T> c[8];
  if (local < 8) atomic_store_explicit(&c[local], local == 2 || local == 4 ? T(0x7fffffff) : T(0), RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&c[0], in[i], RELAXED);
  atomic_fetch_sub_explicit(&c[1], in[i], RELAXED);
  atomic_fetch_min_explicit(&c[2], in[i], RELAXED);
  atomic_fetch_max_explicit(&c[3], in[i], RELAXED);
  atomic_fetch_and_explicit(&c[4], in[i], RELAXED);
  atomic_fetch_or_explicit(&c[5], in[i], RELAXED);
  atomic_fetch_xor_explicit(&c[6], in[i], RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (local == 0)
    for (int k = 0; k < 7; k++) out[group * 7 + k] = atomic_load_explicit(&c[k], RELAXED);
}
template [[host_name("threadgroup_int")]] kernel decltype(threadgroup_operations<int>) threadgroup_operations<int>;
template [[host_name("threadgroup_uint")]] kernel decltype(threadgroup_operations<uint>) threadgroup_operations<uint>;

// fetch_add and exchange return each number once: a ticket.
kernel void tickets(device atomic_uint *counter [[buffer(0)]], device uint *out [[buffer(1)]],
                    device atomic_uint *last [[buffer(2)]], device uint *handed [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
  out[i] = atomic_fetch_add_explicit(counter, 1u, RELAXED);
  handed[i] = atomic_exchange_explicit(last, i + 1u, RELAXED);
}

// Tickets that only some lanes draw, in divergent code, several at a time.
kernel void divergent_tickets(device atomic_uint *counter [[buffer(0)]], device uint *slots [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
  for (uint k = 0; k < i % 4; k++) {
    uint at = atomic_fetch_add_explicit(counter, 1u, RELAXED);
    slots[at] = i;
  }
}

// An append to a list and a lookup, through pointers that differ per lane.
kernel void per_lane_addresses(device atomic_int *bins [[buffer(0)]], device const int *in [[buffer(1)]],
                               uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&bins[in[i] & 7], in[i], RELAXED);
  atomic_fetch_max_explicit(bins + 8 + (in[i] & 3), in[i], RELAXED);
}

// A product and a maximum of floats by compare and exchange.
kernel void compare_exchange(device atomic_uint *product [[buffer(0)]], device atomic_float *largest [[buffer(1)]],
                             device atomic_int *spins [[buffer(2)]], device const float *in [[buffer(3)]],
                             uint i [[thread_position_in_grid]]) {
  uint old = atomic_load_explicit(product, RELAXED);
  while (!atomic_compare_exchange_weak_explicit(product, &old, old * 3u + 0u, RELAXED, RELAXED)) {
    atomic_fetch_add_explicit(spins, 1, RELAXED);
  }
  float seen = atomic_load_explicit(largest, RELAXED);
  while (seen < in[i] && !atomic_compare_exchange_weak_explicit(largest, &seen, in[i], RELAXED, RELAXED)) {}
}

kernel void floats(device atomic_float *sum [[buffer(0)]], device const float *in [[buffer(1)]],
                   device float *out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&sum[0], in[i], RELAXED);
  atomic_fetch_sub_explicit(&sum[1], in[i], RELAXED);
  if (i % 2) atomic_fetch_add_explicit(&sum[2], 1.0f, RELAXED);
  out[i] = atomic_exchange_explicit(&sum[3 + i % 3], in[i], RELAXED);
}

kernel void longs(device atomic_ulong *c [[buffer(0)]], device const ulong *in [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  atomic_max_explicit(&c[0], in[i], RELAXED);
  atomic_min_explicit(&c[1], in[i], RELAXED);
}

kernel void bools(device atomic_bool *flags [[buffer(0)]], device const int *in [[buffer(1)]],
                  device int *out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  if (in[i] > 90) atomic_store_explicit(&flags[0], true, RELAXED);
  atomic_store_explicit(&flags[1 + i % 3], i % 2 == 0, RELAXED);
  out[i] = atomic_load_explicit(&flags[4], RELAXED);
}

// The last threadgroup to finish adds up what the others left: a reduction in one dispatch.
kernel void last_one_sums(device const uint *in [[buffer(0)]], device atomic_uint *partial [[buffer(1)]],
                          device atomic_uint *finished [[buffer(2)]], device uint *result [[buffer(3)]],
                          uint i [[thread_position_in_grid]], uint local [[thread_index_in_threadgroup]],
                          uint group [[threadgroup_position_in_grid]], uint groups [[threadgroups_per_grid]]) {
  threadgroup atomic_uint sum;
  threadgroup bool is_last;
  if (local == 0) atomic_store_explicit(&sum, 0u, RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&sum, in[i], RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (local == 0) {
    atomic_store_explicit(&partial[group], atomic_load_explicit(&sum, RELAXED), RELAXED);
    is_last = atomic_fetch_add_explicit(finished, 1u, RELAXED) == groups - 1;
  }
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  if (is_last && local == 0) {
    uint total = 0;
    for (uint k = 0; k < groups; k++) total += atomic_load_explicit(&partial[k], RELAXED);
    *result = total;
  }
}
