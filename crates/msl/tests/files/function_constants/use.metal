// test check
#include <metal_stdlib>
using namespace metal;

constant int K [[function_constant(0)]];
constant bool use_bias [[function_constant(1)]];
constant float scale [[function_constant(2)]];
constant uint3 grid [[function_constant(3)]];
constant half h [[function_constant(4)]];
constant uchar c [[function_constant(5)]];
constant float4 v [[function_constant(6)]];
constant bool2 flags [[function_constant(7)]];
constant short s [[function_constant(65535)]];
constant bool has_bias = use_bias && K > 0;
constant bool both = use_bias;
constant int blocks = K / 32;
constant int defaulted = is_function_constant_defined(K) ? K : 64;
constant bool has_scale = is_function_constant_defined(scale);
constant float inverse = 1.0f / scale;

kernel void uses(device float *out, device const float *bias [[buffer(1), function_constant(use_bias)]],
                 device const float *other [[buffer(2)]] [[function_constant(has_bias)]],
                 constant float &x [[buffer(3), function_constant(both)]],
                 texture2d<float> t [[texture(0), function_constant(use_bias)]],
                 threadgroup float *tg [[threadgroup(0), function_constant(has_bias)]]) {
  float sum = 0;
  for (int i = 0; i < K; i++) sum += float(i);
  if (use_bias) sum += bias[0];
  if (has_bias) sum += other[0];
  if (both) sum += x;
  if (has_scale) sum *= scale;
  if (is_function_constant_defined(grid)) sum += float(grid.x);
  out[0] = sum + float(h) + float(c) + v.x + float(flags.y) + float(s) + float(blocks) + float(defaulted) + inverse;
}
template <typename T> kernel void in_template(device T *out) { out[0] = T(K); }
template [[host_name("in_template_half")]] kernel void in_template<half>(device half *);
