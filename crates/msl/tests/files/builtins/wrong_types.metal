// test check
#include <metal_stdlib>
using namespace metal;

kernel void k1(int i [[thread_position_in_grid]]) {}  // error: not valid for attribute 'thread_position_in_grid'
kernel void k2(float i [[thread_position_in_grid]]) {}  // error: not valid for attribute 'thread_position_in_grid'
kernel void k3(uint4 i [[thread_position_in_grid]]) {}  // error: not valid for attribute 'thread_position_in_grid'
kernel void k4(ulong i [[thread_position_in_grid]]) {}  // error: not valid for attribute 'thread_position_in_grid'
kernel void k5(int3 i [[threads_per_threadgroup]]) {}  // error: not valid for attribute 'threads_per_threadgroup'
kernel void k6(uint2 i [[thread_index_in_threadgroup]]) {}  // error: not valid for attribute 'thread_index_in_threadgroup'
kernel void k7(uint3 i [[thread_index_in_simdgroup]]) {}  // error: not valid for attribute 'thread_index_in_simdgroup'
kernel void k8(uchar i [[simdgroup_index_in_threadgroup]]) {}  // error: not valid for attribute 'simdgroup_index_in_threadgroup'
kernel void k9(bool i [[threads_per_simdgroup]]) {}  // error: not valid for attribute 'threads_per_simdgroup'
kernel void k10(device uint *i [[thread_position_in_grid]]) {}  // error: not valid for attribute 'thread_position_in_grid'
kernel void k11(packed_uint3 i [[thread_position_in_grid]]) {}  // error: not valid for attribute 'thread_position_in_grid'
kernel void k12(uint i [[thread_position_in_grud]]) {}  // error: unknown attribute 'thread_position_in_grud'
kernel void k13(uint i [[threads_position_in_grid]]) {}  // error: did you mean 'thread_position_in_grid'
kernel void k14(uint i [[thread_index_in_grid]]) {}  // error: unknown attribute 'thread_index_in_grid'
kernel void k15(size_t i [[thread_position_in_grid]]) {}  // error: not valid for attribute 'thread_position_in_grid'
kernel void k16(half2 i [[threads_per_grid]]) {}  // error: not valid for attribute 'threads_per_grid'
