// test reflect
#include <metal_stdlib>
using namespace metal;

struct Inner { half h; float3 v; };
struct Params { uint n; float scale; uchar flags[3]; Inner inner; packed_float3 p; union { int i; float f; }; device float *pointer; };
struct Base { int b; };
struct Derived : Base { int d; };
struct block_q4_0 { half d; uchar qs[16]; };
template <typename T, int N> struct Tile { T data[N]; };
enum class Mode : uchar { a };
kernel void every(constant Params &params, device const block_q4_0 *blocks, device float3 *v, device packed_half3 *p, device float4x4 *m, device atomic_uint *counter,
                  device Tile<half, 8> *tiles, constant Derived &derived, device Mode *modes, device void *anything, device bool *flags,
                  device const long *l, volatile device int *vol) {}

// reflect:
// {
//   "kernels": [
//     {
//       "arguments": [
//         {
//           "access": "read", "address_space": "constant", "element_align": 16, "element_size": 80,
//           "element_type": "Params",
//           "fields": [
//             { "id": 0, "name": "n", "offset": 0, "size": 4, "type": "uint" },
//             { "id": 1, "name": "scale", "offset": 4, "size": 4, "type": "float" },
//             { "id": 2, "name": "flags", "offset": 8, "size": 3, "type": "uchar [3]" },
//             { "id": 5, "name": "inner", "offset": 16, "size": 32, "type": "Inner" },
//             { "id": 7, "name": "p", "offset": 48, "size": 12, "type": "packed_float3" },
//             { "id": 8, "name": "i", "offset": 60, "size": 4, "type": "int" },
//             { "id": 9, "name": "f", "offset": 60, "size": 4, "type": "float" },
//             { "id": 10, "name": "pointer", "offset": 64, "size": 8, "type": "device float *" }
//           ],
//           "index": 0, "is_reference": true, "kind": "buffer", "name": "params", "type": "constant Params &"
//         },
//         {
//           "access": "read", "address_space": "device", "element_align": 2, "element_size": 18,
//           "element_type": "block_q4_0",
//           "fields": [
//             { "name": "d", "offset": 0, "size": 2, "type": "half" },
//             { "name": "qs", "offset": 2, "size": 16, "type": "uchar [16]" }
//           ],
//           "index": 1, "kind": "buffer", "name": "blocks", "type": "const device block_q4_0 *"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 16, "element_size": 16,
//           "element_type": "float3", "index": 2, "kind": "buffer", "name": "v", "type": "device float3 *"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 2, "element_size": 6,
//           "element_type": "packed_half3", "index": 3, "kind": "buffer", "name": "p",
//           "type": "device packed_half3 *"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 16, "element_size": 64,
//           "element_type": "float4x4", "index": 4, "kind": "buffer", "name": "m", "type": "device float4x4 *"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "atomic_uint", "index": 5, "kind": "buffer", "name": "counter",
//           "type": "device atomic_uint *"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 2, "element_size": 16,
//           "element_type": "Tile", "fields": [ { "name": "data", "offset": 0, "size": 16, "type": "half [8]" } ],
//           "index": 6, "kind": "buffer", "name": "tiles", "type": "device Tile *"
//         },
//         {
//           "access": "read", "address_space": "constant", "element_align": 4, "element_size": 8,
//           "element_type": "Derived",
//           "fields": [
//             { "name": "b", "offset": 0, "size": 4, "type": "int" },
//             { "name": "d", "offset": 4, "size": 4, "type": "int" }
//           ],
//           "index": 7, "is_reference": true, "kind": "buffer", "name": "derived", "type": "constant Derived &"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 1, "element_size": 1,
//           "element_type": "Mode", "index": 8, "kind": "buffer", "name": "modes", "type": "device Mode *"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 0, "element_size": 0,
//           "element_type": "void", "index": 9, "kind": "buffer", "name": "anything", "type": "device void *"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 1, "element_size": 1,
//           "element_type": "bool", "index": 10, "kind": "buffer", "name": "flags", "type": "device bool *"
//         },
//         {
//           "access": "read", "address_space": "device", "element_align": 8, "element_size": 8,
//           "element_type": "long", "index": 11, "kind": "buffer", "name": "l", "type": "const device long *"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 4,
//           "element_type": "int", "index": 12, "kind": "buffer", "name": "vol", "type": "device int *"
//         }
//       ],
//       "line": 12, "name": "every", "static_threadgroup_memory": 0
//     }
//   ]
// }
