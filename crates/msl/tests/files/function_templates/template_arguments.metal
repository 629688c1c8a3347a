// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> struct Box { T x; };
template <template <typename> class C, typename T> C<T> wrap(T x) { return C<T>{x}; }
template <typename T> T plain(T x) { return x; }

kernel void k(device int *o) {
  o[0] = wrap<Box>(5).x;
  static_assert(is_same_v<decltype(wrap<Box>(1.0f)), Box<float>>, "");
  o[1] = plain<Box>(1);  // error: no matching function for call to 'plain'
}
