// test check
#include <metal_stdlib>
using namespace metal;

kernel void refused(texture2d<float> t, texture2d<half, access::write> w, texture2d<float, access::read> r, sampler s, device float4 *out) {
  out[0] = t.sample(float2(0));  // error: sample
  out[0] = t.missing();  // error: no member named 'missing'
  w.write(float4(1), uint2(0));  // error: write
  out[0] = t.read(uint3(0));  // error: read
  out[0] = t;  // error: texture2d
}
