// test reflect
#include <metal_stdlib>
using namespace metal;

struct V { float4 position [[position]]; };
vertex V vertex_main(uint id [[vertex_id]]) { return {float4(id)}; }
fragment half4 fragment_main(V in [[stage_in]]) { return 1; }
kernel void compute_main(texture2d<float, access::read> in [[texture(0)]], texture2d<float, access::write> out [[texture(1)]], sampler s [[sampler(0)]], uint2 gid [[thread_position_in_grid]]) { out.write(in.read(gid), gid); }

// reflect:
// {
//   "functions": [
//     { "name": "vertex_main", "stage": "vertex" },
//     { "name": "fragment_main", "stage": "fragment" }
//   ],
//   "kernels": [
//     {
//       "arguments": [
//         {
//           "access": "read", "element_align": 0, "element_size": 0,
//           "element_type": "texture2d<float, access::read>", "index": 0, "kind": "texture", "name": "in",
//           "type": "texture2d<float, access::read>"
//         },
//         {
//           "access": "write", "element_align": 0, "element_size": 0,
//           "element_type": "texture2d<float, access::write>", "index": 1, "kind": "texture", "name": "out",
//           "type": "texture2d<float, access::write>"
//         },
//         {
//           "access": "read", "element_align": 0, "element_size": 0, "element_type": "sampler", "index": 0,
//           "kind": "sampler", "name": "s", "type": "sampler"
//         }
//       ],
//       "builtins": [ { "attribute": "thread_position_in_grid", "name": "gid", "type": "uint2" } ], "line": 8,
//       "name": "compute_main", "static_threadgroup_memory": 0
//     }
//   ]
// }
