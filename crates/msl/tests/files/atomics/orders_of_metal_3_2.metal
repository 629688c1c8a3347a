// test check
// options: --std metal3.2
#include <metal_stdlib>
using namespace metal;

kernel void orders(device atomic_int *i) {
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);
  atomic_thread_fence(mem_flags::mem_device | mem_flags::mem_threadgroup, memory_order_acq_rel, thread_scope_threadgroup);
  atomic_store_explicit(i, 1, memory_order_relaxed);
}
