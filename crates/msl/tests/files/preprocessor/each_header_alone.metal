// test check
#include <metal_atomic>
kernel void k(device metal::atomic_int *a) { metal::atomic_fetch_add_explicit(a, 1, metal::memory_order_relaxed); }
