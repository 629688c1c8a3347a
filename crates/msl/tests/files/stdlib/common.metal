// test check
#include <metal_stdlib>
using namespace metal;

void use(device float *out, float x) { out[0] += x; }
void use(device float *out, half x) { out[0] += float(x); }
template <typename T, int N> void use(device float *out, vec<T, N> v) { out[0] += float(v.x); }

template <typename T> T every_function(T x, T y, T z) {
  x = clamp(x, y, z);
  x = mix(x, y, z);
  x = saturate(x);
  x = sign(x);
  x = smoothstep(x, y, z);
  x = step(x, y);
  return x;
}
template <typename T> T only_float(T x, T y, T z) {
  x = fast::clamp(x, y, z) + fast::saturate(x);
  return precise::clamp(x, y, z) + precise::saturate(x);
}

kernel void k(device float *out) {
  use(out, every_function<half>(half(1), half(2), half(3)));
  use(out, every_function<half2>(half2(1), half2(2), half2(3)));
  use(out, every_function<half3>(half3(1), half3(2), half3(3)));
  use(out, every_function<half4>(half4(1), half4(2), half4(3)));
  use(out, every_function<float>(float(1), float(2), float(3)));
  use(out, every_function<float2>(float2(1), float2(2), float2(3)));
  use(out, every_function<float3>(float3(1), float3(2), float3(3)));
  use(out, every_function<float4>(float4(1), float4(2), float4(3)));
  use(out, only_float<float>(float(1), float(2), float(3)));
  use(out, only_float<float2>(float2(1), float2(2), float2(3)));
  use(out, only_float<float3>(float3(1), float3(2), float3(3)));
  use(out, only_float<float4>(float4(1), float4(2), float4(3)));
  out[0] = clamp(out[1], 0.0f, 1.0f) + mix(out[1], out[2], 0.5f);
  float4 v = clamp(float4(1), 0.0f, 1.0f) + mix(float4(1), float4(2), 0.5f);
  use(out, v);
}
