// test check
// options: --std metal3.2
#include <metal_stdlib>
using namespace metal;

template <typename... T> constexpr int count(T...) { return sizeof...(T); }
float sum() { return 0; }
template <typename T, typename... Rest> float sum(T first, Rest... rest) { return float(first) + sum(rest...); }
template <typename... T> float folded(T... x) { return (float(x) + ...); }
template <typename... T> float folded_with(T... x) { return (0.0f + ... + float(x)); }
template <typename... T> bool all_of(T... x) { return (x && ...); }
template <typename... T> void each(thread int &n, T... x) { ((n += int(x)), ...); }
template <int... N> int total() { int s = 0; int values[] = {N...}; for (int v : values) s += v; return s; }
template <typename T, T... V> struct sequence { static constexpr constant int size = sizeof...(V); };
template <size_t... I> float indexed(thread float *p, index_sequence<I...>) { return (p[I] + ...); }
template <typename... T> struct tuple_size { static constexpr constant size_t value = sizeof...(T); };
template <typename F, typename... A> auto forward_to(F f, A... a) { return f(a...); }
template <typename First, typename...> struct first { typedef First type; };
template <typename... T> void by_reference(thread T &...x) { ((x = T(1)), ...); }
static_assert(count(1, 2.0f, true) == 3, "");
static_assert(sequence<int, 1, 2, 3>::size == 3, "");
static_assert(is_same_v<first<int, float>::type, int>, "");

kernel void uses(device float *out) {
  float a[3] = {1, 2, 3};
  out[0] = sum(1, 2.0f, 3u) + folded(1, 2) + folded_with() + folded_with(1.0f) + indexed(a, make_index_sequence<3>());
  int n = 0;
  each(n, 1, 2.0f);
  out[1] = float(n + total<1, 2, 3>() + int(all_of(true, n > 0)) + int(tuple_size<int, float>::value));
  out[2] = forward_to([](float x, float y) { return x + y; }, 1.0f, 2.0f);
  int i;
  float f;
  by_reference(i, f);
}
