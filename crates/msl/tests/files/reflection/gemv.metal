// test reflect
#include <metal_stdlib>
using namespace metal;

constant uint K [[function_constant(0)]];
constant bool USE_BIAS [[function_constant(1)]];
kernel void gemv(device const float *w [[buffer(0)]], device const float *x [[buffer(1)]], device float *y [[buffer(2)]], device const float *bias [[buffer(3), function_constant(USE_BIAS)]], uint row [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float sum = 0;
  for (uint k = lane; k < K; k += 32) sum += w[row * K + k] * x[k];
  sum = simd_sum(sum);
  if (USE_BIAS) sum += bias[row];
  if (lane == 0) y[row] = sum;
}

// reflect:
// {
//   "function_constants": [
//     { "index": 0, "name": "K", "required": true, "type": "uint" },
//     { "index": 1, "name": "USE_BIAS", "required": true, "type": "bool" }
//   ],
//   "kernels": [
//     {
//       "arguments": [
//         {
//           "access": "read", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 0, "kind": "buffer", "name": "w", "type": "const device float *"
//         },
//         {
//           "access": "read", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 1, "kind": "buffer", "name": "x", "type": "const device float *"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 2, "kind": "buffer", "name": "y", "type": "device float *"
//         },
//         {
//           "access": "read", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "function_constant": "USE_BIAS", "index": 3, "kind": "buffer",
//           "name": "bias", "type": "const device float *"
//         }
//       ],
//       "builtins": [
//         { "attribute": "threadgroup_position_in_grid", "name": "row", "type": "uint" },
//         { "attribute": "thread_index_in_simdgroup", "name": "lane", "type": "uint" }
//       ],
//       "function_constants": [ 0, 1 ], "line": 7, "name": "gemv", "static_threadgroup_memory": 0
//     }
//   ]
// }
