// test reflect
#include <metal_stdlib>
using namespace metal;
// A uniform<T> has the size and alignment of T, and is a class to hosts.
struct Params { uniform<int> n; uniform<float> scale[2]; uniform<float4> color; short last; };
kernel void k(constant Params &params [[buffer(0)]], constant uniform<uint> &size [[buffer(1)]],
              device uniform<ushort> *values [[buffer(2)]]) {}

// reflect:
// {
//   "kernels": [
//     {
//       "arguments": [
//         {
//           "access": "read", "address_space": "constant", "element_align": 16, "element_size": 48,
//           "element_type": "Params",
//           "fields": [
//             { "name": "n", "offset": 0, "size": 4, "type": "uniform<int>" },
//             { "name": "scale", "offset": 4, "size": 8, "type": "uniform<float> [2]" },
//             { "name": "color", "offset": 16, "size": 16, "type": "uniform<float4>" },
//             { "name": "last", "offset": 32, "size": 2, "type": "short" }
//           ],
//           "index": 0, "is_reference": true, "kind": "buffer", "name": "params", "type": "constant Params &"
//         },
//         {
//           "access": "read", "address_space": "constant", "element_align": 4, "element_size": 4,
//           "element_type": "uniform", "fields": [ { "name": "__value", "offset": 0, "size": 4, "type": "uint" } ],
//           "index": 1, "is_reference": true, "kind": "buffer", "name": "size", "type": "constant uniform &"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 2, "element_size": 2,
//           "element_type": "uniform",
//           "fields": [ { "name": "__value", "offset": 0, "size": 2, "type": "ushort" } ], "index": 2,
//           "kind": "buffer", "name": "values", "type": "device uniform *"
//         }
//       ],
//       "line": 6, "name": "k", "static_threadgroup_memory": 0
//     }
//   ]
// }
