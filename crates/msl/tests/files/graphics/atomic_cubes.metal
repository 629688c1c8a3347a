// test check
// options: --std metal4.0
#include <metal_stdlib>
using namespace metal;

template <typename T, typename A> void cube(texturecube<T, access::read_write> t, A at, thread vec<T, 4> &out) {
  vec<A, 2> xy = vec<A, 2>(at);
  vec<T, 4> expected(1);
  out = t.atomic_load(xy, at);
  t.atomic_store(expected, xy, at);
  out += t.atomic_exchange(xy, at, expected);
  if (t.atomic_compare_exchange_weak(xy, at, &expected, out)) out += expected;
  out += t.atomic_fetch_add(xy, at, expected) + t.atomic_fetch_sub(xy, at, expected);
  out += t.atomic_fetch_and(xy, at, expected) + t.atomic_fetch_or(xy, at, expected) + t.atomic_fetch_xor(xy, at, expected);
  out += t.atomic_fetch_max(xy, at, expected) + t.atomic_fetch_min(xy, at, expected);
}

template <typename T, typename A> void cubes(texturecube_array<T, access::read_write> t, A at, thread vec<T, 4> &out) {
  vec<A, 2> xy = vec<A, 2>(at);
  vec<T, 4> expected(1);
  out = t.atomic_load(xy, at, at);
  t.atomic_store(expected, xy, at, at);
  out += t.atomic_exchange(xy, at, at, expected);
  if (t.atomic_compare_exchange_weak(xy, at, at, &expected, out)) out += expected;
  out += t.atomic_fetch_add(xy, at, at, expected) + t.atomic_fetch_sub(xy, at, at, expected);
  out += t.atomic_fetch_and(xy, at, at, expected) + t.atomic_fetch_or(xy, at, at, expected) + t.atomic_fetch_xor(xy, at, at, expected);
  out += t.atomic_fetch_max(xy, at, at, expected) + t.atomic_fetch_min(xy, at, at, expected);
}

kernel void k(texturecube<uint, access::read_write> a, texturecube<int, access::read_write> b,
              texturecube_array<uint, access::read_write> c, texturecube_array<int, access::read_write> d,
              texturecube<ulong, access::read_write> e, texturecube_array<ulong, access::read_write> f, device float *out) {
  uint4 x;
  int4 y;
  cube(a, 1u, x);
  cube(a, ushort(1), x);
  cube(b, 1u, y);
  cubes(c, 1u, x);
  cubes(c, ushort(1), x);
  cubes(d, 1u, y);
  e.atomic_min(uint2(1), 1u, ulong4(1));
  e.atomic_max(uint2(1), 1u, ulong4(1));
  f.atomic_min(ushort2(1), ushort(1), ushort(1), ulong4(1));
  f.atomic_max(ushort2(1), ushort(1), ushort(1), ulong4(1));
  out[0] = float(x.x + y.x);
}

kernel void refused(texturecube<uint, access::read> t, texturecube<float, access::read_write> u) {
  t.atomic_fetch_add(uint2(0), 0, 1u);  // error: no matching member function for call to 'atomic_fetch_add'
  u.atomic_load(uint2(0), 0);  // error: no matching member function for call to 'atomic_load'
}
