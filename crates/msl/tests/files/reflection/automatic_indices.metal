// test reflect
#include <metal_stdlib>
using namespace metal;

kernel void none_given(device float *a, constant int &b, threadgroup float *c, device half *d, threadgroup int *e) {}
kernel void some_given(device float *a, device float *b [[buffer(0)]], device float *c, device float *d [[buffer(2)]], threadgroup float *e [[threadgroup(1)]], threadgroup float *f) {}
kernel void textures(texture2d<float> a, texture2d<float, access::write> b [[texture(0)]], sampler s, texture2d<half, access::read_write> c, device float *d) {}

// reflect:
// {
//   "kernels": [
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 0, "kind": "buffer", "name": "a", "type": "device float *"
//         },
//         {
//           "access": "read", "address_space": "constant", "element_align": 4, "element_size": 4,
//           "element_type": "int", "index": 1, "is_reference": true, "kind": "buffer", "name": "b",
//           "type": "constant int &"
//         },
//         {
//           "access": "read_write", "address_space": "threadgroup", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 0, "kind": "threadgroup", "name": "c",
//           "type": "threadgroup float *"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 2, "element_size": 2,
//           "element_type": "half", "index": 2, "kind": "buffer", "name": "d", "type": "device half *"
//         },
//         {
//           "access": "read_write", "address_space": "threadgroup", "element_align": 4, "element_size": 4,
//           "element_type": "int", "index": 1, "kind": "threadgroup", "name": "e", "type": "threadgroup int *"
//         }
//       ],
//       "line": 5, "name": "none_given", "static_threadgroup_memory": 0
//     },
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 1, "kind": "buffer", "name": "a", "type": "device float *"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 0, "kind": "buffer", "name": "b", "type": "device float *"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 3, "kind": "buffer", "name": "c", "type": "device float *"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 2, "kind": "buffer", "name": "d", "type": "device float *"
//         },
//         {
//           "access": "read_write", "address_space": "threadgroup", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 1, "kind": "threadgroup", "name": "e",
//           "type": "threadgroup float *"
//         },
//         {
//           "access": "read_write", "address_space": "threadgroup", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 0, "kind": "threadgroup", "name": "f",
//           "type": "threadgroup float *"
//         }
//       ],
//       "line": 6, "name": "some_given", "static_threadgroup_memory": 0
//     },
//     {
//       "arguments": [
//         {
//           "access": "read", "element_align": 0, "element_size": 0,
//           "element_type": "texture2d<float, access::sample>", "index": 1, "kind": "texture", "name": "a",
//           "type": "texture2d<float, access::sample>"
//         },
//         {
//           "access": "write", "element_align": 0, "element_size": 0,
//           "element_type": "texture2d<float, access::write>", "index": 0, "kind": "texture", "name": "b",
//           "type": "texture2d<float, access::write>"
//         },
//         {
//           "access": "read", "element_align": 0, "element_size": 0, "element_type": "sampler", "index": 0,
//           "kind": "sampler", "name": "s", "type": "sampler"
//         },
//         {
//           "access": "read_write", "element_align": 0, "element_size": 0,
//           "element_type": "texture2d<half, access::read_write>", "index": 2, "kind": "texture", "name": "c",
//           "type": "texture2d<half, access::read_write>"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "float", "index": 0, "kind": "buffer", "name": "d", "type": "device float *"
//         }
//       ],
//       "line": 7, "name": "textures", "static_threadgroup_memory": 0
//     }
//   ]
// }
