// test check
#include <metal_stdlib>
using namespace metal;

struct S {};
template <typename T> enable_if_t<is_integral_v<T>, T> only_integers(T x) { return x; }
template <typename T> make_unsigned_t<T> flip(T x) { return make_unsigned_t<T>(x); }
enable_if_t<false, int> never();  // error: enable_if
underlying_type_t<int> no_enum();  // error: underlying
kernel void refused(device int *out) {
  out[0] = only_integers(1);
  out[1] = only_integers(1.0f);  // error: no matching function for call to 'only_integers'
  out[2] = flip(1.0f);  // error: no matching function for call to 'flip'
  static_assert(is_same_v<int, S>, "different");  // error: different
}
