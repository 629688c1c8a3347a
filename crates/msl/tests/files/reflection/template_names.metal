// test reflect
// A type loses its template arguments if the kernel names the template or an alias, but not if it names its own
// template parameter: so does Apple's compiler in MLX.
#include <metal_stdlib>
using namespace metal;

namespace shapes {
template <typename T, int N> struct Strides { T of[N]; };
}
template <typename T> struct Complex { T real; T imag; };
using complex64 = Complex<float>;

template <typename T, int N>
[[kernel]] void scale(device T *values, device Complex<T> *direct, constant shapes::Strides<long, N> &strides, device complex64 *alias) {}

template [[host_name("scale_complex")]] [[kernel]] decltype(scale<Complex<half>, 2>) scale<Complex<half>, 2>;

// reflect:
// {
//   "kernels": [
//     {
//       "arguments": [
//         {
//           "access": "read_write", "address_space": "device", "element_align": 2, "element_size": 4,
//           "element_type": "Complex<half>",
//           "fields": [
//             { "name": "real", "offset": 0, "size": 2, "type": "half" },
//             { "name": "imag", "offset": 2, "size": 2, "type": "half" }
//           ],
//           "index": 0, "kind": "buffer", "name": "values", "type": "device Complex<half> *"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 2, "element_size": 8,
//           "element_type": "Complex",
//           "fields": [
//             { "name": "real", "offset": 0, "size": 4, "type": "Complex<half>" },
//             { "name": "imag", "offset": 4, "size": 4, "type": "Complex<half>" }
//           ],
//           "index": 1, "kind": "buffer", "name": "direct", "type": "device Complex *"
//         },
//         {
//           "access": "read", "address_space": "constant", "element_align": 8, "element_size": 16,
//           "element_type": "shapes::Strides",
//           "fields": [ { "name": "of", "offset": 0, "size": 16, "type": "long [2]" } ], "index": 2,
//           "is_reference": true, "kind": "buffer", "name": "strides", "type": "constant shapes::Strides &"
//         },
//         {
//           "access": "read_write", "address_space": "device", "element_align": 4, "element_size": 8,
//           "element_type": "Complex",
//           "fields": [
//             { "name": "real", "offset": 0, "size": 4, "type": "float" },
//             { "name": "imag", "offset": 4, "size": 4, "type": "float" }
//           ],
//           "index": 3, "kind": "buffer", "name": "alias", "type": "device Complex *"
//         }
//       ],
//       "line": 16, "name": "scale_complex", "static_threadgroup_memory": 0
//     }
//   ]
// }
