// test check
#include <metal_stdlib>
using namespace metal;

kernel void refused(device atomic_int *i, device atomic_float *f, device int *p, threadgroup atomic_float *t, constant atomic_int *c) {
  int x = *i;  // error: atomic
  *i = 1;  // error: atomic
  i[0] += 1;  // error: atomic
  atomic_fetch_add_explicit(p, 1, memory_order_relaxed);  // error: no matching function for call to 'atomic_fetch_add_explicit'
  atomic_fetch_add_explicit(i, 1);  // error: no matching function for call to 'atomic_fetch_add_explicit'
  atomic_fetch_or_explicit(f, 1.0f, memory_order_relaxed);  // error: no matching function for call to 'atomic_fetch_or_explicit'
  atomic_fetch_add_explicit(*i, 1, memory_order_relaxed);  // error: no matching function for call to 'atomic_fetch_add_explicit'
  atomic_store_explicit(c, 1, memory_order_relaxed);  // error: no matching function for call to 'atomic_store_explicit'
  atomic_load_explicit(i, memory_order_seq_cst);  // error: undeclared identifier 'memory_order_seq_cst'
  int e = 0;
  atomic_compare_exchange_weak_explicit(i, e, 1, memory_order_relaxed, memory_order_relaxed);  // error: no matching function
  atomic<half> h;  // error: cannot be atomic
  atomic<float4> v;  // error: cannot be atomic
}
