// test check
#include <metal_stdlib>
kernel void k(device float *out, device metal::float4 *v) {
  out[0] = metal::sqrt(2.0f) + metal::fast::exp(1.0f) + metal::precise::exp(1.0f);
  metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
  v[0] = metal::clamp(v[1], 0.0f, 1.0f);
  metal::array<float, 2> a = {1, 2};
  out[1] = a[0];
  out[2] = sqrt(2.0f);  // error: undeclared identifier 'sqrt'
}
