// test check
// The internals of <metal_limits> that software bfloat types use.
#include <metal_stdlib>
using namespace metal;
static_assert(_fp_encoding_traits<float>::sign_mask == 0x80000000u, "");
static_assert(_fp_encoding_traits<half>::inf_mask == 0x7c00, "");
kernel void k(device uint *out) { out[0] = _fp_encoding_traits<float>::inf_mask; }
