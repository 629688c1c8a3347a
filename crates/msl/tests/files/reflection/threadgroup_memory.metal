// test reflect
#include <metal_stdlib>
using namespace metal;

kernel void memory(device float *out, threadgroup half *dynamic [[threadgroup(0)]]) {
  threadgroup char first;
  threadgroup float tile[8][32];
  threadgroup float4 aligned;
  threadgroup float never_mentioned[64];
  if (out[0] > 0) { threadgroup int nested[3]; nested[0] = 1; }
  tile[0][0] = float(first) + aligned.x + float(dynamic[0]);
}
kernel void without(device float *out) {}

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
//           "access": "read_write", "address_space": "threadgroup", "element_align": 2, "element_size": 2,
//           "element_type": "half", "index": 0, "kind": "threadgroup", "name": "dynamic",
//           "type": "threadgroup half *"
//         }
//       ],
//       "line": 5, "name": "memory", "static_threadgroup_memory": 1068,
//       "threadgroup_memory": [
//         { "align": 1, "name": "first", "size": 1, "type": "char" },
//         { "align": 4, "name": "tile", "size": 1024, "type": "float [8][32]" },
//         { "align": 16, "name": "aligned", "size": 16, "type": "float4" },
//         { "align": 4, "name": "nested", "size": 12, "type": "int [3]" }
//       ]
//     },
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 0, "kind": "buffer", "name": "out", "type": "device float *"
//         }
//       ],
//       "line": 13, "name": "without", "static_threadgroup_memory": 0
//     }
//   ]
// }
