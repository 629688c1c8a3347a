// test check
// options: --std metal3.2
#include <metal_stdlib>
using namespace metal;

template <typename T>
void increment(T &&x) {
  x += 1;  // error: read-only
}

template <typename T>
constexpr bool is_reference_to_device(T &&) {
  return is_same_v<T, device float &>;
}

template <typename T>
int kind(T &&) {
  static_assert(is_same_v<T, int> || is_same_v<T, thread int &> || is_same_v<T, const thread int &>, "");
  return 0;
}

template <typename F, typename... Args>
void apply(F f, Args &&...args) {
  f(args...);
}

template <typename T> struct Kind { static constexpr constant int value = 0; };
template <> struct Kind<int> { static constexpr constant int value = 1; };
template <typename T> struct Kind<thread T &> { static constexpr constant int value = 2; };
template <typename T> constexpr int kind_of(T &&) { return Kind<T>::value; }
template <typename T> void takes_rvalues(thread T &&) {}

kernel void k(device float *o, constant float *c) {
  int moved = 1;
  static_assert(kind_of(3) == 1 && kind_of(int(4)) == 1, "");
  kind(static_cast<thread int &&>(moved));
  kind_of<int>(5);
  kind_of<int>(moved);  // error: no matching function for call to 'kind_of'
  takes_rvalues(metal::move(moved));
  takes_rvalues(moved);  // error: no matching function for call to 'takes_rvalues'
  static_assert(is_same_v<decltype(metal::move(moved)), thread int &&>, "");
  auto &&expiring = metal::move(moved);
  static_assert(is_same_v<decltype(expiring), thread int &&>, "");
  [](auto &&y) { y += 1; }(metal::move(moved));
  static_assert(is_same_v<decltype(static_cast<thread int &&>(moved)), thread int &&>, "");
  static_assert(is_same_v<decltype(metal::forward<thread int &>(moved)), thread int &>, "");
  static_assert(is_same_v<decltype(metal::forward<device float &>(o[0])), device float &>, "");
  threadgroup float t[4];
  float x = 1;
  increment(x);
  increment(3);
  increment(o[0]);
  increment(t[1]);
  increment(c[0]);
  int n = 1;
  const int m = 2;
  kind(n);
  kind(m);
  kind(3);
  auto &&a = o[1];
  a = 2;
  static_assert(is_same_v<decltype(a), device float &>, "");
  auto &&b = t[1];
  b = 2;
  auto &&d = x;
  d = 3;
  auto &&e = x + 1;
  static_assert(is_same_v<decltype(e), thread float &&>, "");
  const auto &&f = x;  // error: cannot bind
  auto g = [](auto &&q) { q += 1; };
  g(o[2]);
  g(x);
  g(4);
  apply([](device float &p, thread float &q) { p = q; }, o[3], x);
  for (auto &&q : t) q = 0;
}
