// test check
#include <metal_stdlib>
using namespace metal;

template <typename T, typename E> E every_function(T x, T y, T z) {
  E e = distance(x, y);
  e += distance_squared(x, y);
  e += dot(x, y);
  x = faceforward(x, y, z);
  e += length(x);
  e += length_squared(x);
  x = normalize(x);
  x = reflect(x, y);
  x = refract(x, y, e);
  return e + x.x;
}
template <typename T> float only_float(T x, T y) {
  float e = fast::distance(x, y) + fast::length(x) + fast::normalize(x).x;
  return e + precise::distance(x, y) + precise::length(x) + precise::normalize(x).x;
}

kernel void k(device float *out) {
  out[0] += float(every_function<half2, half>(half2(1), half2(2), half2(3)));
  out[0] += float(every_function<half3, half>(half3(1), half3(2), half3(3)));
  out[0] += float(every_function<half4, half>(half4(1), half4(2), half4(3)));
  out[0] += float(every_function<float2, float>(float2(1), float2(2), float2(3)));
  out[0] += float(every_function<float3, float>(float3(1), float3(2), float3(3)));
  out[0] += float(every_function<float4, float>(float4(1), float4(2), float4(3)));
  out[0] += only_float(float2(1), float2(2));
  out[0] += only_float(float3(1), float3(2));
  out[0] += only_float(float4(1), float4(2));
  float3 a = cross(float3(1), float3(2));
  half3 b = cross(half3(1), half3(2));
  out[0] += a.x + float(b.x);
}
