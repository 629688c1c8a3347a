// test check
#include <metal_stdlib>
using namespace metal;

template <int N> struct Tag { char x[N]; };
template <typename T, typename = enable_if_t<is_floating_point_v<T> && is_scalar_v<T>>> Tag<1> f(T);
template <typename T, enable_if_t<is_integral_v<T>, bool> = true> Tag<2> f(T);
template <typename T> enable_if_t<is_vector_v<T>, Tag<3>> f(T);
template <typename T> auto f(device T *p) -> typename enable_if<sizeof(T) == 4, Tag<4>>::type;
template <typename T> auto has_x(T t) -> decltype(t.x, Tag<1>());
template <typename T> Tag<2> has_x(device T *t);
template <typename T> typename T::type nested(T);
template <typename T> Tag<5> nested(device T *);
struct WithType { typedef Tag<6> type; };
template <typename T, typename enable_if<is_same<T, half>::value, int>::type = 0> Tag<7> only(T);
template <typename T, typename enable_if<!is_same<T, half>::value, int>::type = 0> Tag<8> only(T);
template <typename T, typename = void> struct detect : false_type {};
template <typename...> using always_void = void;
template <typename T> struct detect<T, always_void<typename T::type>> : true_type {};
static_assert(detect<WithType>::value && !detect<float>::value, "");

kernel void uses(device float *d, device char *c) {
  static_assert(sizeof(f(1.0f)) == 1 && sizeof(f(1)) == 2 && sizeof(f(float2(1))) == 3 && sizeof(f(d)) == 4, "");
  static_assert(sizeof(has_x(float2(1))) == 1 && sizeof(has_x(d)) == 2, "");
  static_assert(sizeof(nested(WithType())) == 6 && sizeof(nested(d)) == 5, "");
  static_assert(sizeof(only(1.0h)) == 7 && sizeof(only(1.0f)) == 8, "");
  f(c);  // error: no matching function for call to 'f'
}
