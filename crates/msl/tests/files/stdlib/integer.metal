// test check
#include <metal_stdlib>
using namespace metal;

void use(device int *out, long x) { out[0] += int(x); }
void use(device int *out, ulong x) { out[0] += int(x); }
template <typename T, int N> void use(device int *out, vec<T, N> v) { out[0] += int(v.x); }

template <typename T> T every_function(T x, T y, T z) {
  x = abs(x);
  x += T(absdiff(x, y));
  x = addsat(x, y);
  x = clamp(x, y, z);
  x = clz(x);
  x = ctz(x);
  x = extract_bits(x, 1u, 2u);
  x = hadd(x, y);
  x = insert_bits(x, y, 1u, 2u);
  x = madhi(x, y, z);
  x = madsat(x, y, z);
  x = max(x, y);
  x = max3(x, y, z);
  x = median3(x, y, z);
  x = min(x, y);
  x = min3(x, y, z);
  x = mulhi(x, y);
  x = popcount(x);
  x = reverse_bits(x);
  x = rhadd(x, y);
  x = rotate(x, y);
  x = subsat(x, y);
  static_assert(is_same_v<decltype(absdiff(x, y)), make_unsigned_t<T>>, "absdiff is unsigned");
  static_assert(is_same_v<decltype(clz(x)), T>, "");
  return x;
}
template <typename T> T of_24_bits(T x, T y, T z) { return mad24(x, y, z) + mul24(x, y); }

kernel void k(device int *out) {
  use(out, every_function(char(1), char(2), char(3)) + 0l);
  use(out, every_function(char2(1), char2(2), char2(3)));
  use(out, every_function(char3(1), char3(2), char3(3)));
  use(out, every_function(char4(1), char4(2), char4(3)));
  use(out, every_function(uchar(1), uchar(2), uchar(3)) + 0ul);
  use(out, every_function(uchar2(1), uchar2(2), uchar2(3)));
  use(out, every_function(uchar3(1), uchar3(2), uchar3(3)));
  use(out, every_function(uchar4(1), uchar4(2), uchar4(3)));
  use(out, every_function(short(1), short(2), short(3)) + 0l);
  use(out, every_function(short2(1), short2(2), short2(3)));
  use(out, every_function(short3(1), short3(2), short3(3)));
  use(out, every_function(short4(1), short4(2), short4(3)));
  use(out, every_function(ushort(1), ushort(2), ushort(3)) + 0ul);
  use(out, every_function(ushort2(1), ushort2(2), ushort2(3)));
  use(out, every_function(ushort3(1), ushort3(2), ushort3(3)));
  use(out, every_function(ushort4(1), ushort4(2), ushort4(3)));
  use(out, every_function(int(1), int(2), int(3)) + 0l);
  use(out, every_function(int2(1), int2(2), int2(3)));
  use(out, every_function(int3(1), int3(2), int3(3)));
  use(out, every_function(int4(1), int4(2), int4(3)));
  use(out, every_function(uint(1), uint(2), uint(3)) + 0ul);
  use(out, every_function(uint2(1), uint2(2), uint2(3)));
  use(out, every_function(uint3(1), uint3(2), uint3(3)));
  use(out, every_function(uint4(1), uint4(2), uint4(3)));
  use(out, every_function(long(1), long(2), long(3)) + 0l);
  use(out, every_function(long2(1), long2(2), long2(3)));
  use(out, every_function(long3(1), long3(2), long3(3)));
  use(out, every_function(long4(1), long4(2), long4(3)));
  use(out, every_function(ulong(1), ulong(2), ulong(3)) + 0ul);
  use(out, every_function(ulong2(1), ulong2(2), ulong2(3)));
  use(out, every_function(ulong3(1), ulong3(2), ulong3(3)));
  use(out, every_function(ulong4(1), ulong4(2), ulong4(3)));
  use(out, of_24_bits(int(1), int(2), int(3)) + 0l);
  use(out, of_24_bits(int2(1), int2(2), int2(3)));
  use(out, of_24_bits(int3(1), int3(2), int3(3)));
  use(out, of_24_bits(int4(1), int4(2), int4(3)));
  use(out, of_24_bits(uint(1), uint(2), uint(3)) + 0ul);
  use(out, of_24_bits(uint2(1), uint2(2), uint2(3)));
  use(out, of_24_bits(uint3(1), uint3(2), uint3(3)));
  use(out, of_24_bits(uint4(1), uint4(2), uint4(3)));
}
