// test check
#include <metal_stdlib>
using namespace metal;

kernel void k(device int *out) {
  threadgroup_barrier(mem_flags::mem_none);
  threadgroup_barrier(mem_flags::mem_device);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup_barrier(mem_flags::mem_texture);
  threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
  threadgroup_barrier(mem_flags::mem_threadgroup_imageblock);
  simdgroup_barrier(mem_flags::mem_none);
  simdgroup_barrier(mem_flags::mem_threadgroup & mem_flags::mem_device);
  constexpr mem_flags flags = mem_flags::mem_device | mem_flags::mem_texture;
  threadgroup_barrier(flags);
}
