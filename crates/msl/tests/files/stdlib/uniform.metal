// test check
// uniform<T> (specification, 2.15) is a type of its own, and a number where one is needed.
#include <metal_stdlib>
#include <metal_uniform>
using namespace metal;

// Its own type, of the size of T
static_assert(!is_same_v<uniform<int>, int>, "");
static_assert(is_same_v<decltype(make_uniform(1)), uniform<int>>, "");
static_assert(sizeof(uniform<int>) == 4 && alignof(uniform<float4>) == 16 && sizeof(uniform<uchar>[3]) == 3, "");
static_assert(is_convertible_v<uniform<int>, int> && is_convertible_v<uniform<int>, float>, "");
static_assert(is_convertible_v<uniform<short>, uniform<int>>, "");
template <typename T> struct is_uniform : false_type {};
template <typename T> struct is_uniform<uniform<T>> : true_type {};
static_assert(is_uniform<uniform<half>>::value && !is_uniform<half>::value, "");
constexpr int which(int) { return 1; }
constexpr int which(uniform<int>) { return 2; }
static_assert(which(3) == 1 && which(make_uniform(3)) == 2, "");

// With operators, uniform with uniform or with a constant is uniform, with anything else it is not
template <typename T> constexpr bool same(T, T) { return true; }
void results(uniform<int> a, uniform<int> b, uniform<short> s, uniform<float4> v, int y, float4 w) {
  static_assert(is_same_v<decltype(a + b), uniform<int>> && is_same_v<decltype(a / 2), uniform<int>>, "");
  static_assert(is_same_v<decltype(2 * a), uniform<int>> && is_same_v<decltype(s + s), uniform<int>>, "");
  static_assert(is_same_v<decltype(a + s), uniform<int>> && is_same_v<decltype(a * 1.5f), uniform<float>>, "");
  static_assert(is_same_v<decltype(a < b), uniform<bool>> && is_same_v<decltype(a > 0), uniform<bool>>, "");
  static_assert(is_same_v<decltype(a && b), uniform<bool>> && is_same_v<decltype(!a), uniform<bool>>, "");
  static_assert(is_same_v<decltype(-a), uniform<int>> && is_same_v<decltype(~a), uniform<int>>, "");
  static_assert(is_same_v<decltype(v * 2), uniform<float4>> && is_same_v<decltype(v < v), uniform<bool4>>, "");
  static_assert(is_same_v<decltype(a << 2), uniform<int>> && is_same_v<decltype(a % b), uniform<int>>, "");
  static_assert(is_same_v<decltype(a + y), int> && is_same_v<decltype(y + a), int>, "");
  static_assert(is_same_v<decltype(y < a), bool> && is_same_v<decltype(a && y), bool>, "");
  static_assert(is_same_v<decltype(v + w), float4> && is_same_v<decltype(w * a), float4>, "");
  const int two = 2;
  static_assert(is_same_v<decltype(a * two), uniform<int>>, "");
  static_assert(is_same_v<decltype(y > 0 ? a : b), int>, "");
  uniform<bool> c = a > b;
  uniform<int> chosen = c ? a : b;
  uniform<int> other = a > 0 ? a : b;
  int mixed = y > 0 ? a : b;
  int third = y > 0 ? a : y;
}

// Constants convert, and other uniform values
void constants(uniform<short> s, constant int &n) {
  uniform<int> a = 1, b = -1, c(2), d{3}, e = s;
  uniform<float> f = 1.5, g = 2;
  uniform<bool> t = true;
  uniform<uint> u = 7;
  uniform<float4> v = make_uniform(float4(1, 2, 3, 4));
  uniform<float4> w = 1.0f;
  a = 4;
  a = b + 1;
  a = make_uniform(n);
  const uniform<int> half_of = make_uniform(n) / 2;
}

// Assignment
void assignments(uniform<int> a, uniform<int> b, int y, device uniform<int> *p, threadgroup uniform<int> *q) {
  a += b; a -= 1; a *= b; a /= 2; a %= 3; a &= b; a |= 1; a ^= b; a <<= 1; a >>= 1;
  ++a; a++; --a; a--;
  y += a; y *= a;
  uniform<int> old = a++;
  uniform<int> now = ++a;
  *p = a; p[1] = 2; *q = *p; *p += a; ++*q; p[2]++;
  uniform<int> read = *p;
  int plain = q[1];
}

// Where a number is needed
template <int N> int sized() { return N; }
struct Params { uniform<int> n; uniform<float> scale[2]; float x; };
uniform<int> twice(uniform<int> a) { return a * 2; }
int plain(int a) { return a; }
kernel void uses(constant Params &params, constant uniform<uint> *sizes, constant uniform<bool> &flag,
                 constant uniform<float4> &color, device float *out, uint i [[thread_position_in_grid]]) {
  const uniform<int> n = params.n;
  constexpr const uniform<int> four = make_uniform(4);
  int fixed[four], from_template = sized<four>();
  uniform<float> bar[10];
  bar[n] = params.scale[0];
  if (flag) out[n] = 1;
  if (n) out[0] = 2;
  while (n > 100) break;
  for (int j = 0; j < n; ++j) out[j] = bar[j % 10];
  for (uniform<int> j = 0; j < n; ++j) out[j] += 1;
  do { } while (n == 7 && flag);
  switch (n) { case 1: out[1] = 1; break; default: break; }
  out[n + i] = float(n) * params.scale[1] + (float)n + static_cast<float>(n);
  out[i] = min(n, 3) + max(n, n) + abs(n) + clamp(n, 0, 4) + sizes[1] / float(sizes[i]) + 2.0 / sizes[0];
  float4 c = color;
  c += color * 2 + float4(n) + float4(color) + dot(color, c);
  float2 pair = float2(n, params.scale[0]);
  int2 cast = int2(n, int(params.scale[0]));
  out[2] = plain(n) + plain(twice(n)) + twice(3) + c.x + pair.y + cast.x + fixed[0] + from_template;
  device float *moved = out + n;
  moved += n;
  moved[-n] = short(n);
  auto deduced = n + n;
  static_assert(is_same_v<decltype(deduced), uniform<int>>, "");
  out[3] = n ? 1 : 2;
  bool b = n;
  float last = {params.scale[1]};
}

// In templates
template <typename T> T sum(T a, T b) { return a + b; }
template <typename T> uniform<T> scaled(uniform<T> x, T factor) { return x * make_uniform(factor); }
template <typename T, int N> T steps(constant T &size) {
  constexpr const uniform<T> step = make_uniform(T(N));
  const uniform<T> in_size = make_uniform(size);
  const uniform<T> count = in_size / step;
  const uniform<T> rest = in_size - step * count;
  T total = 0;
  for (T i = 0; i < count; ++i) total += step;
  if (rest > 0) total += rest;
  return total;
}
kernel void templates(constant int &n, device float *out) {
  out[0] = sum(make_uniform(n), make_uniform(1)) + scaled(make_uniform(n), 2) + steps<int, 32>(n);
}

// A class with operators for numbers of its own does not take part
struct Complex {
  float re, im;
  template <typename T, typename = enable_if_t<!is_same_v<T, Complex> && is_convertible_v<T, float>>>
  constexpr Complex(T x) thread : re(x), im(0) {}
};
constexpr Complex operator+(Complex a, Complex b) { return a; }
constexpr bool operator<(Complex a, Complex b) { return a.re < b.re; }
kernel void beside_classes(constant int &n, device float *out) {
  uniform<int> a = make_uniform(n) + make_uniform(n);
  for (int i = 0; i < a; ++i) out[i] = (Complex(1.0f) + a).re;
}

// Constant expressions
constexpr constant uniform<int> size = 12;
constexpr int constant_steps() {
  uniform<int> a = make_uniform(5);
  a += 2; a++; ++a;
  uniform<int> b = a / 2 + size;
  return b > 3 ? b * 2 : 0;
}
static_assert(constant_steps() == 32 && size / 5 == 2 && size == 12, "");
