// test reflect
#include <metal_stdlib>
using namespace metal;

kernel void add_arrays(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]], device float *result [[buffer(2)]], uint index [[thread_position_in_grid]]) {
  result[index] = a[index] + b[index];
}

// reflect:
// {
//   "kernels": [
//     {
//       "arguments": [
//         {
//           "access": "read", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 0, "kind": "buffer", "name": "a", "type": "const device float *"
//         },
//         {
//           "access": "read", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 1, "kind": "buffer", "name": "b", "type": "const device float *"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 2, "kind": "buffer", "name": "result", "type": "device float *"
//         }
//       ],
//       "builtins": [ { "attribute": "thread_position_in_grid", "name": "index", "type": "uint" } ], "line": 5,
//       "name": "add_arrays", "static_threadgroup_memory": 0
//     }
//   ]
// }
