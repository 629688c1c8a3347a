// test check
#include <metal_stdlib>
using namespace metal;

struct Sums { float total; int counts[3]; };

kernel void k(device float *out, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float a[32] = {0};
  threadgroup float b[32] = {};
  threadgroup int c = 0;
  threadgroup float4 d = float4(0);
  threadgroup float2x2 e = {};
  threadgroup Sums f[2] = {};
  threadgroup float g[2][3] = {{0, 0}, {}};
  out[i] = a[i] + b[i] + c + d.x + e[0][0] + f[1].total + g[1][2];
}
