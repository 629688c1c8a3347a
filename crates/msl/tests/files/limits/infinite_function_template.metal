// test check
#include <metal_stdlib>
using namespace metal;

template <int N> int deep() { return deep<N + 1>(); }  // error: recursive template instantiation exceeded maximum depth
kernel void k(device int *out) { out[0] = deep<0>(); }
