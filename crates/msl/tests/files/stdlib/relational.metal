// test check
#include <metal_stdlib>
using namespace metal;

template <typename T, typename B> bool every_function(T x, T y) {
  B b = isfinite(x);
  b = isinf(x);
  b = isnan(x);
  b = isnormal(x);
  b = isordered(x, y);
  b = isunordered(x, y);
  b = signbit(x);
  x = select(x, y, b);
  return any(b) || all(b);
}
template <typename T> T chosen(T x, T y) { return select(x, y, x > y); }

kernel void k(device bool *out) {
  out[0] = every_function<half, bool>(half(1), half(2));
  out[0] = every_function<half2, bool2>(half2(1), half2(2));
  out[0] = every_function<half3, bool3>(half3(1), half3(2));
  out[0] = every_function<half4, bool4>(half4(1), half4(2));
  out[0] = every_function<float, bool>(float(1), float(2));
  out[0] = every_function<float2, bool2>(float2(1), float2(2));
  out[0] = every_function<float3, bool3>(float3(1), float3(2));
  out[0] = every_function<float4, bool4>(float4(1), float4(2));
  (void)chosen(char(1), char(2));
  (void)chosen(char2(1), char2(2));
  (void)chosen(char3(1), char3(2));
  (void)chosen(char4(1), char4(2));
  (void)chosen(uchar(1), uchar(2));
  (void)chosen(uchar2(1), uchar2(2));
  (void)chosen(uchar3(1), uchar3(2));
  (void)chosen(uchar4(1), uchar4(2));
  (void)chosen(short(1), short(2));
  (void)chosen(short2(1), short2(2));
  (void)chosen(short3(1), short3(2));
  (void)chosen(short4(1), short4(2));
  (void)chosen(ushort(1), ushort(2));
  (void)chosen(ushort2(1), ushort2(2));
  (void)chosen(ushort3(1), ushort3(2));
  (void)chosen(ushort4(1), ushort4(2));
  (void)chosen(int(1), int(2));
  (void)chosen(int2(1), int2(2));
  (void)chosen(int3(1), int3(2));
  (void)chosen(int4(1), int4(2));
  (void)chosen(uint(1), uint(2));
  (void)chosen(uint2(1), uint2(2));
  (void)chosen(uint3(1), uint3(2));
  (void)chosen(uint4(1), uint4(2));
  (void)chosen(long(1), long(2));
  (void)chosen(long2(1), long2(2));
  (void)chosen(long3(1), long3(2));
  (void)chosen(long4(1), long4(2));
  (void)chosen(ulong(1), ulong(2));
  (void)chosen(ulong2(1), ulong2(2));
  (void)chosen(ulong3(1), ulong3(2));
  (void)chosen(ulong4(1), ulong4(2));
  out[1] = any(bool2(true)) && all(bool3(true)) && any(true) && all(false);
  bool4 b = select(bool4(true), bool4(false), bool4(true));
  out[2] = b.x && select(true, false, true);
  out[3] = isnan(1.0f) || isinf(1.0h);
}
