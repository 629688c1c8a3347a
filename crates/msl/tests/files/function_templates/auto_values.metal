// test check
#include <metal_stdlib>
using namespace metal;

template <auto V> int any() { return int(V); }
kernel void k(device int *out) { out[0] = any<3>() + any<'a'>() + any<true>(); }
