// test reflect
#include <metal_stdlib>
using namespace metal;

typedef long Strides[3];

kernel void arrays(device float *out [[buffer(0)]], constant long strides[3] [[buffer(1)]], constant Strides &all [[buffer(2)]], constant int one[1] [[buffer(3)]], const device float2 pairs[16] [[buffer(4)]], constant int open[] [[buffer(5)]]) {}

// reflect:
// {
//   "kernels": [
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 0, "kind": "buffer", "name": "out", "type": "device float *"
//         },
//         {
//           "access": "read", "address_space": "constant", "array_length": 3, "element_align": 8,
//           "element_size": 8, "element_type": "long", "index": 1, "kind": "buffer", "name": "strides",
//           "type": "constant long *"
//         },
//         {
//           "access": "read", "address_space": "constant", "element_align": 8, "element_size": 24,
//           "element_type": "long [3]", "index": 2, "is_reference": true, "kind": "buffer", "name": "all",
//           "type": "constant long [3] &"
//         },
//         {
//           "access": "read", "address_space": "constant", "element_align": 4, "element_size": 4,
//           "element_type": "int", "index": 3, "kind": "buffer", "name": "one", "type": "constant int *"
//         },
//         {
//           "access": "read", "address_space": "device", "array_length": 16, "element_align": 8,
//           "element_size": 8, "element_type": "float2", "index": 4, "kind": "buffer", "name": "pairs",
//           "type": "const device float2 *"
//         },
//         {
//           "access": "read", "address_space": "constant", "element_align": 4, "element_size": 4,
//           "element_type": "int", "index": 5, "kind": "buffer", "name": "open", "type": "constant int *"
//         }
//       ],
//       "line": 7, "name": "arrays", "static_threadgroup_memory": 0
//     }
//   ]
// }
