// test check
#include <metal_stdlib>
using namespace metal;

struct Complex {
  float re, im;
  Complex() : re(0), im(0) {}
  Complex(float r) : re(r), im(0) {}
  Complex(float r, float i) : re{r}, im{i} {}
  explicit Complex(int n) : Complex(float(n), 0) {}
  Complex(const thread Complex &other) = default;
  template <typename T> Complex(vec<T, 2> v) : re(v.x), im(v.y) {}
};
struct Defaulted { int n = 3; Defaulted() = default; Defaulted(int k) : n(k) {} };
struct Members { Complex c; Complex d[2]; int n; Members(int k) : c(k, k), n(k) { d[0] = Complex(1); } };
struct WithDefault { int a; int b; WithDefault(int x, int y = 2) : a(x), b(y) {} };
struct Constexpr { int n; constexpr Constexpr(int k) : n(k * 2) {} constexpr int get() const { return n; } };
static_assert(Constexpr(4).get() == 8, "");

Complex from_float(float x) { return x; }
Complex from_list() { return {1, 2}; }
float take(Complex c) { return c.re; }

kernel void constructors(device float *out) {
  Complex a;
  Complex b(1.0f);
  Complex c(1, 2);
  Complex d = 3.0f;
  Complex e = {4, 5};
  Complex f{6, 7};
  Complex g = Complex(8);
  Complex h(float2(1, 2));
  Complex i = c;
  Complex array[3] = {1.0f, {2, 3}, Complex()};
  out[0] = take(1.0f) + take({1, 2}) + take(Complex(1)) + a.re + b.im + d.re + e.im + f.re + g.re + h.im + i.re;
  out[1] = array[1].im + from_float(1).re + from_list().im;
  Defaulted j, k(4), l{};
  Members m(2);
  WithDefault n(1), o{1}, p = {1, 2}, q = 7;
  out[2] = float(j.n + k.n + l.n + m.n + n.b + o.b + p.a + q.a);
  constexpr Constexpr r = 5;
  static_assert(r.n == 10, "");
}
