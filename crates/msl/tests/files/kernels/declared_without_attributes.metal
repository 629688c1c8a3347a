// test reflect
// As in PyTorch's headers: a template of a kernel is declared before it is defined, without attributes.
#include <metal_stdlib>
using namespace metal;

namespace ops {
template <typename T, typename F>
kernel void unary(device T *output, constant T *, constant uint2 &sizes, uint index);

template <typename T, typename F>
kernel void unary(device T *output [[buffer(0)]], constant T *input [[buffer(2)]],
                  constant uint2 &sizes [[buffer(1)]], uint index [[thread_position_in_grid]]) {
  F f;
  if (index < sizes.x) output[index] = f(input[index]);
}
}  // namespace ops

struct twice { template <typename T> T operator()(T x) { return x + x; } };

template [[host_name("twice_float")]] kernel void ops::unary<float, twice>(
    device float *output, constant float *input, constant uint2 &sizes, uint index);

kernel void plain(device int *, uint);
kernel void plain(device int *a [[buffer(3)]], uint i [[thread_position_in_grid]]) { a[i] = 1; }

// reflect:
// {
//   "kernels": [
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 0, "kind": "buffer", "name": "output", "type": "device float *"
//         },
//         {
//           "access": "read", "address_space": "constant", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 2, "kind": "buffer", "name": "input", "type": "constant float *"
//         },
//         {
//           "access": "read", "address_space": "constant", "element_align": 8, "element_size": 8,
//           "element_type": "uint2", "index": 1, "is_reference": true, "kind": "buffer", "name": "sizes",
//           "type": "constant uint2 &"
//         }
//       ],
//       "builtins": [ { "attribute": "thread_position_in_grid", "name": "index", "type": "uint" } ], "line": 20,
//       "name": "twice_float", "static_threadgroup_memory": 0
//     },
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "int", "index": 3, "kind": "buffer", "name": "a", "type": "device int *"
//         }
//       ],
//       "builtins": [ { "attribute": "thread_position_in_grid", "name": "i", "type": "uint" } ], "line": 23,
//       "name": "plain", "static_threadgroup_memory": 0
//     }
//   ]
// }
