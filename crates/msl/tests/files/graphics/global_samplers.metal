// test check
#include <metal_stdlib>
using namespace metal;

constexpr sampler nearest(coord::pixel, filter::nearest);
constexpr constant sampler linear(filter::linear);
constexpr sampler braces{address::repeat};
kernel void k(texture2d<float> t, device float4 *out) { out[0] = t.sample(nearest, float2(0)) + t.sample(linear, float2(0)) + t.sample(braces, float2(0)); }
