// test check
#include <metal_stdlib>
using namespace metal;

struct Counters { atomic_int hits; atomic_uint misses[4]; };

kernel void device_atomics(device atomic_int *i, device atomic_uint *u, device atomic_float *f, device atomic_bool *b,
                           device atomic_ulong *w, device Counters &counters, device atomic<int> *g) {
  const memory_order order = memory_order_relaxed;
  atomic_store_explicit(i, 1, memory_order_relaxed);
  int x = atomic_load_explicit(i, order);
  x = atomic_exchange_explicit(&i[1], x, memory_order_relaxed);
  x = atomic_fetch_add_explicit(i, 1, memory_order_relaxed);
  x = atomic_fetch_sub_explicit(i, 1, memory_order_relaxed);
  x = atomic_fetch_and_explicit(i, 1, memory_order_relaxed);
  x = atomic_fetch_or_explicit(i, 1, memory_order_relaxed);
  x = atomic_fetch_xor_explicit(i, 1, memory_order_relaxed);
  x = atomic_fetch_max_explicit(i, 1, memory_order_relaxed);
  x = atomic_fetch_min_explicit(i, 1, memory_order_relaxed);
  uint y = atomic_fetch_add_explicit(u, 1u, memory_order_relaxed);
  y = atomic_fetch_add_explicit(u, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(f, 1.5f, memory_order_relaxed);
  atomic_fetch_sub_explicit(f, 1.5f, memory_order_relaxed);
  float z = atomic_load_explicit(f, memory_order_relaxed);
  atomic_store_explicit(f, z, memory_order_relaxed);
  z = atomic_exchange_explicit(f, z, memory_order_relaxed);
  atomic_store_explicit(b, true, memory_order_relaxed);
  bool t = atomic_exchange_explicit(b, false, memory_order_relaxed);
  int expected = 0;
  t = atomic_compare_exchange_weak_explicit(i, &expected, 2, memory_order_relaxed, memory_order_relaxed);
  while (!t) t = atomic_compare_exchange_weak_explicit(g, &expected, 2, order, order);
  atomic_max_explicit(w, 1ul, memory_order_relaxed);
  atomic_min_explicit(w, 1ul, memory_order_relaxed);
  atomic_fetch_add_explicit(&counters.hits, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&counters.misses[2], y, memory_order_relaxed);
  volatile device atomic_int *v = i;
  atomic_fetch_add_explicit(v, 1, memory_order_relaxed);
}

kernel void threadgroup_atomics(device uint *out) {
  threadgroup atomic_uint count;
  threadgroup atomic_int bins[8];
  atomic_store_explicit(&count, 0, memory_order_relaxed);
  atomic_fetch_add_explicit(&count, 1u, memory_order_relaxed);
  atomic_fetch_max_explicit(bins + 1, 1, memory_order_relaxed);
  atomic_exchange_explicit(&count, 3u, memory_order_relaxed);
  uint expected = 1;
  atomic_compare_exchange_weak_explicit(&count, &expected, 2u, memory_order_relaxed, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[0] = atomic_load_explicit(&count, memory_order_relaxed);
}

template <typename T> void add(device atomic<T> *p, T x) { atomic_fetch_add_explicit(p, x, memory_order_relaxed); }
kernel void generic(device atomic_uint *u, device atomic_float *f, device uint *plain) {
  add(u, 1u);
  add(f, 1.0f);
  add<int>((device atomic_int *)plain, 1);
  atomic_fetch_add_explicit((device atomic_uint *)&plain[1], 1u, memory_order_relaxed);
}
