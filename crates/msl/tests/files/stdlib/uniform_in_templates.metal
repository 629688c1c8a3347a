// test check
// Constants that depend on template arguments, and uniform<T> of them.
#include <metal_stdlib>
using namespace metal;
struct Traits { enum : int { size = 4 }; static constexpr constant int width = 8; };
template <typename T, int N> int f(int y) {
  const int x = N * 2; constexpr int z = N; const int w = x + z;
  uniform<int> u = x; u = z; u += w; u = sizeof(T); u = T::size; u = T::width * N; u = N > 2 ? 3 : 4;
  u *= N; uniform<bool> b = u > N; uniform<int> v = u / (N * 2);
  uniform<int> q = true ? u : v, r = N > 2 ? u : v;
  static_assert(is_same_v<decltype(u * N), uniform<int>>, "");
  return u;
}
template <typename T> int g(int y) {
  uniform<int> u = make_uniform(y) * int(sizeof(T));
  const T x = 3;
  uniform<T> v = x, w = T(2);
  uniform<T> a = v + w, c = -v;
  uniform<bool> d = a < c;
  T s = d ? a : c;
  for (T i = 0; i < a; i++) s += i * a;
  auto z = a * T(2);
  return u + s + z;
}
template <typename U> struct Tile {
  static constexpr constant int rows = 4;
  uniform<int> n;
  Tile(uniform<int> m) : n(m) {}
  uniform<int> steps() const { return (n + rows - 1) / rows; }
};
kernel void k(device int *out) {
  Tile<int> tile(make_uniform(9));
  out[0] = f<Traits, 3>(2) + g<int>(1) + g<float>(2) + tile.steps() + Tile<char>(3).steps();
}
