// test check
// options: --std metal3.2
#include <metal_stdlib>
using namespace metal;

kernel void k(texturecube<uint, access::read_write> t, texturecube_array<uint, access::read_write> u) {
  t.atomic_fetch_add(uint2(0), 0, 1u);  // error: no member named 'atomic_fetch_add'
  u.atomic_fetch_add(uint2(0), 0, 0, 1u);  // error: no member named 'atomic_fetch_add'
}
