// test check
#include <metal_stdlib>
using namespace metal;

kernel void variables(device float *out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float one;
  threadgroup float tile[32];
  threadgroup float rows[4][8];
  threadgroup float a, b[2];
  threadgroup struct { float x; float y[2]; } s;
  threadgroup atomic_uint counter;
  threadgroup float4 vectors[8];
  if (i == 0) {
    threadgroup int nested[2];
    nested[0] = 1;
    one = 1;
    a = b[0] = s.x = s.y[1] = 0;
    atomic_store_explicit(&counter, 0u, memory_order_relaxed);
  }
  tile[i] = 1;
  rows[0][i] = 2;
  vectors[0].xy = float2(1);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup float *p = tile;
  threadgroup float(*q)[8] = rows;
  out[i] = p[i] + q[1][i] + *tile + vectors[0][1];
}

template <typename T, int N> kernel void templated(device T *out) {
  threadgroup T tile[N];
  tile[0] = out[0];
}
template [[host_name("templated_float")]] kernel void templated<float, 8>(device float *);
