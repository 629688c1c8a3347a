// test reflect
#include <metal_stdlib>
using namespace metal;

kernel void access_of(device float *read_write, device const float *read, const device float &reference, constant float *constants, constant float &constant_reference, device float &written) { written = 1; }

// reflect:
// {
//   "kernels": [
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 0, "kind": "buffer", "name": "read_write",
//           "type": "device float *"
//         },
//         {
//           "access": "read", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 1, "kind": "buffer", "name": "read",
//           "type": "const device float *"
//         },
//         {
//           "access": "read", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 2, "is_reference": true, "kind": "buffer", "name": "reference",
//           "type": "const device float &"
//         },
//         {
//           "access": "read", "address_space": "constant", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 3, "kind": "buffer", "name": "constants",
//           "type": "constant float *"
//         },
//         {
//           "access": "read", "address_space": "constant", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 4, "is_reference": true, "kind": "buffer",
//           "name": "constant_reference", "type": "constant float &"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 5, "is_reference": true, "kind": "buffer", "name": "written",
//           "type": "device float &"
//         }
//       ],
//       "line": 5, "name": "access_of", "static_threadgroup_memory": 0
//     }
//   ]
// }
