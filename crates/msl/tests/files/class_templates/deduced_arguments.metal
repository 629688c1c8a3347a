// test check
// options: --std metal4.0
#include <metal_stdlib>
using namespace metal;

template <typename T> struct Box {
  T value;
  constexpr Box(T value) : value(value) {}
  constexpr Box(T a, T b) : value(a + b) {}
};
template <typename T, int N> struct Vectors {
  vec<T, N> value;
  Vectors(vec<T, N> value, int) : value(value) {}
};
template <typename P> struct View { P data; View(P data, uint) : data(data) {} };
template <typename T> struct NoConstructor { T value; };

constant Box at_file_scope(3);
static_assert(is_same_v<decltype(Box(2.0f)), Box<float>>, "");
static_assert(is_same_v<decltype(Box{1, 2}), Box<int>>, "");
static_assert(Box(2, 3).value == 5, "");

template <typename T> T twice(T x) { Box box(x); return box.value + Box{x}.value; }

kernel void k(device float *out) {
  Box a(1), b{2.0f}, c = half(3);
  const Box d = {1u, 2u};
  auto e = Box(a);
  Box f = b;
  static_assert(is_same_v<decltype(a), Box<int>> && is_same_v<decltype(c), Box<half>>, "");
  static_assert(is_same_v<decltype(e), Box<int>> && is_same_v<decltype(f), Box<float>>, "");
  Vectors v(float3(1), 2);
  static_assert(is_same_v<decltype(v), Vectors<float, 3>>, "");
  View view(out, 4u);
  out[0] = a.value + b.value + d.value + view.data[0] + twice(2) + at_file_scope.value;
  Box g(1, 2.0f);  // error: no matching constructor for initialization of 'Box'
  NoConstructor h{1};  // error: use of class template 'NoConstructor' requires template arguments
}
