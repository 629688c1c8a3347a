// test check
#include <metal_stdlib>
using namespace metal;

void only_float4(float4 v);
void only_pointer(device int *p);
template <typename T> void same(T a, T b);
template <typename T> void cannot_deduce();
struct S {};

kernel void refused(device float *f, device int *i, device S *s) {
  only_float4(int4(1));  // error: no matching function for call to 'only_float4'
  only_float4(float3(1));  // error: no matching function for call to 'only_float4'
  only_float4(1);
  only_pointer(f);  // error: no matching function for call to 'only_pointer'
  only_pointer(0.5f);  // error: no matching function for call to 'only_pointer'
  same(1, 2.0f);  // error: no matching function for call to 'same'
  cannot_deduce();  // error: no matching function for call to 'cannot_deduce'
  f[0] = sin(s[0]);  // error: no matching function for call to 'sin'
  f[1] = dot(float3(1), float4(1));  // error: no matching function for call to 'dot'
  f[2] = cross(float2(1), float2(1)).x;  // error: no matching function for call to 'cross'
  f[3] = simd_sum(true ? f : f);  // error: no matching function for call to 'simd_sum'
  i[0] = popcount(1.0f);  // error: 'popcount'
  i[1] = simd_sum(1l);  // error: 'simd_sum'
  threadgroup_barrier();  // error: no matching function for call to 'threadgroup_barrier'
  threadgroup_barrier(2);  // error: no matching function for call to 'threadgroup_barrier'
  f[4] = length(1.0f);  // error: 'length'
  f[5] = clamp(1.0f, 2.0f);  // error: no matching function for call to 'clamp'
  f[6] = fma(1.0f, 2.0f);  // error: no matching function for call to 'fma'
  f[7] = fast::exp(1.0h) + fast::exp(float2(1)).x;
}
