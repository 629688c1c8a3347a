// test check
template <int N> auto f() { return N; }
template <> auto f<0>() { return 1.5f; }
template <typename T> auto g(T x) { return x; }
template <> auto g<int>(int x) { return x + 0.5f; }
template <> auto g(short x) { return x; }
template <typename T> T h(T x) { return x; }
template <> auto h<int>(int x) { return x; }  // error: no function template matches function template specialization 'h'
kernel void k(device float *out) {
  out[0] = f<0>() + f<1>() + g(3) + g(2.5f) + g(short(1));
  static_assert(__is_same(decltype(f<0>()), float) && __is_same(decltype(f<2>()), int), "");
  static_assert(__is_same(decltype(g(1)), float) && __is_same(decltype(g(short(1))), short), "");
}
