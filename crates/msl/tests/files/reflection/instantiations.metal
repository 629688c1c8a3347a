// test reflect
#include <metal_stdlib>
using namespace metal;

template <typename T, int N> [[max_total_threads_per_threadgroup(N * 32)]] kernel void scale(device T *x [[buffer(0)]], constant T &s [[buffer(1)]], uint i [[thread_position_in_grid]]) { x[i] *= s; }
template [[host_name("scale_f32")]] kernel void scale<float, 2>(device float *, constant float &, uint);
typedef decltype(scale<half, 4>) scale_half;
template [[host_name("scale_f16")]] kernel scale_half scale<half, 4>;
#define INSTANTIATE(name, type) template [[host_name(name)]] kernel void scale<type, 1>(device type *, constant type &, uint);
INSTANTIATE("scale_i32", int)
INSTANTIATE("scale_u8", uchar)
[[host_name("renamed")]] kernel void original() {}

// reflect:
// {
//   "kernels": [
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 0, "kind": "buffer", "name": "x", "type": "device float *"
//         },
//         {
//           "access": "read", "address_space": "constant", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 1, "is_reference": true, "kind": "buffer", "name": "s",
//           "type": "constant float &"
//         }
//       ],
//       "builtins": [ { "attribute": "thread_position_in_grid", "name": "i", "type": "uint" } ], "line": 6,
//       "max_total_threads_per_threadgroup": 64, "name": "scale_f32", "static_threadgroup_memory": 0
//     },
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 2, "element_size": 2,
//           "element_type": "half", "index": 0, "kind": "buffer", "name": "x", "type": "device half *"
//         },
//         {
//           "access": "read", "address_space": "constant", "element_align": 2, "element_size": 2,
//           "element_type": "half", "index": 1, "is_reference": true, "kind": "buffer", "name": "s",
//           "type": "constant half &"
//         }
//       ],
//       "builtins": [ { "attribute": "thread_position_in_grid", "name": "i", "type": "uint" } ], "line": 8,
//       "max_total_threads_per_threadgroup": 128, "name": "scale_f16", "static_threadgroup_memory": 0
//     },
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "int", "index": 0, "kind": "buffer", "name": "x", "type": "device int *"
//         },
//         {
//           "access": "read", "address_space": "constant", "element_align": 4, "element_size": 4,
//           "element_type": "int", "index": 1, "is_reference": true, "kind": "buffer", "name": "s",
//           "type": "constant int &"
//         }
//       ],
//       "builtins": [ { "attribute": "thread_position_in_grid", "name": "i", "type": "uint" } ], "line": 10,
//       "max_total_threads_per_threadgroup": 32, "name": "scale_i32", "static_threadgroup_memory": 0
//     },
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 1, "element_size": 1,
//           "element_type": "uchar", "index": 0, "kind": "buffer", "name": "x", "type": "device uchar *"
//         },
//         {
//           "access": "read", "address_space": "constant", "element_align": 1, "element_size": 1,
//           "element_type": "uchar", "index": 1, "is_reference": true, "kind": "buffer", "name": "s",
//           "type": "constant uchar &"
//         }
//       ],
//       "builtins": [ { "attribute": "thread_position_in_grid", "name": "i", "type": "uint" } ], "line": 11,
//       "max_total_threads_per_threadgroup": 32, "name": "scale_u8", "static_threadgroup_memory": 0
//     },
//     { "line": 12, "name": "renamed", "static_threadgroup_memory": 0 }
//   ]
// }
