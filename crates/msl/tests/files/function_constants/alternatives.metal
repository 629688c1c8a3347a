// test check
#include <metal_stdlib>
using namespace metal;

constant bool first [[function_constant(0)]];
constant bool second = !first;
kernel void same_index(device float *a [[buffer(0), function_constant(first)]], device half *b [[buffer(0), function_constant(second)]], device float *out [[buffer(1)]]) {
  if (first) out[0] = a[0]; else out[0] = float(b[0]);
}
