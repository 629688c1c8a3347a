// test check
#include <metal_stdlib>
using namespace metal;

constant float infinity = as_type<float>(0x7f800000u);
constant uint one_bits = as_type<uint>(1.0f);
static_assert(as_type<uint>(1.0f) == 0x3f800000u, "");
static_assert(as_type<int>(-0.0f) == int(0x80000000u), "");
static_assert(as_type<ushort>(1.0h) == 0x3c00, "");
static_assert(as_type<float>(0x40490fdbu) > 3.14f, "");

kernel void casts(device float *f, device uint *u, device half *h, device ulong *w) {
  u[0] = as_type<uint>(f[0]);
  f[1] = as_type<float>(u[1] & 0xffff0000u) + infinity;
  f[2] = as_type<float>(1 << 23);
  h[0] = as_type<half>(ushort(0x3c00));
  half2 pair = as_type<half2>(u[2]);
  u[3] = as_type<uint>(pair);
  uchar4 bytes = as_type<uchar4>(u[4]);
  f[3] = as_type<float>(bytes);
  float2 two = as_type<float2>(w[0]);
  w[1] = as_type<ulong>(two) + one_bits;
  float4 v = as_type<float4>(uint4(1, 2, 3, 4));
  half4 four = as_type<half4>(w[2]);
  f[4] = v.x + float(four.y);
  int3 i3 = as_type<int3>(float3(1));
  f[5] = float(i3.x);
  bfloat b = as_type<bfloat>(ushort(0x3f80));
  f[6] = float(b);
}

template <typename To, typename From> To bits(From x) { return as_type<To>(x); }
kernel void generic(device uint *u) { u[0] = bits<uint>(1.0f) + bits<ushort2>(u[1]).x; }
