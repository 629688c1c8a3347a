// test reflect
#include <metal_stdlib>
using namespace metal;

kernel void builtins(uint3 gid [[thread_position_in_grid]], ushort lane [[thread_index_in_simdgroup]], ushort sg [[simdgroup_index_in_threadgroup]], uint3 tgs [[threads_per_threadgroup]], device float *out, uint width [[threads_per_simdgroup]]) {}

// reflect:
// {
//   "kernels": [
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 0, "kind": "buffer", "name": "out", "type": "device float *"
//         }
//       ],
//       "builtins": [
//         { "attribute": "thread_position_in_grid", "name": "gid", "type": "uint3" },
//         { "attribute": "thread_index_in_simdgroup", "name": "lane", "type": "ushort" },
//         { "attribute": "simdgroup_index_in_threadgroup", "name": "sg", "type": "ushort" },
//         { "attribute": "threads_per_threadgroup", "name": "tgs", "type": "uint3" },
//         { "attribute": "threads_per_simdgroup", "name": "width", "type": "uint" }
//       ],
//       "line": 5, "name": "builtins", "static_threadgroup_memory": 0
//     }
//   ]
// }
