// test reflect
#include <metal_stdlib>
using namespace metal;

constant int used [[function_constant(3)]];
constant float unused [[function_constant(1)]];
constant bool optional [[function_constant(2)]];
constant uint3 grid [[function_constant(0)]];
constant bool with_default = is_function_constant_defined(optional) ? optional : true;
constant int through_helper [[function_constant(9)]];
constant int doubled = used * 2;
int helper() { return through_helper; }
kernel void a(device int *out) { out[0] = used + doubled; }
kernel void b(device int *out) { if (with_default) out[0] = helper() + int(grid.x); }
kernel void c(device int *out) { out[0] = 1; }

// reflect:
// {
//   "function_constants": [
//     { "index": 0, "name": "grid", "required": true, "type": "uint3" },
//     { "index": 1, "name": "unused", "required": true, "type": "float" },
//     { "default": "true", "index": 2, "name": "optional", "type": "bool" },
//     { "index": 3, "name": "used", "required": true, "type": "int" },
//     { "index": 9, "name": "through_helper", "required": true, "type": "int" }
//   ],
//   "kernels": [
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "int", "index": 0, "kind": "buffer", "name": "out", "type": "device int *"
//         }
//       ],
//       "function_constants": [ 3 ], "line": 13, "name": "a", "static_threadgroup_memory": 0
//     },
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "int", "index": 0, "kind": "buffer", "name": "out", "type": "device int *"
//         }
//       ],
//       "function_constants": [ 0, 2, 9 ], "line": 14, "name": "b", "static_threadgroup_memory": 0
//     },
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "int", "index": 0, "kind": "buffer", "name": "out", "type": "device int *"
//         }
//       ],
//       "line": 15, "name": "c", "static_threadgroup_memory": 0
//     }
//   ]
// }
