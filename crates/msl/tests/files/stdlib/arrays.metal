// test check
#include <metal_stdlib>
using namespace metal;

template <typename A> float every_method(A a) {
  a.fill(1);
  a.front() = 2;
  a.back() = a[0];
  float sum = float(a.size() + a.max_size()) + float(a.empty());
  for (thread auto *p = a.begin(); p != a.end(); p++) sum += float(*p);
  return sum + float(*a.data());
}
struct Holder { array<float, 4> a; };
kernel void k(device float *out, device array<float, 4> &d, constant array<float, 4> &c, constant Holder &h) {
  threadgroup array<float, 8> t;
  out[0] = every_method(array<float, 3>{1, 2, 3}) + every_method(array<int, 1>{1});
  d.fill(2);
  d[1] = c[1] + t[2] + d.front() + d.back() + c.front() + c.back() + t.front() + h.a[1];
  t.fill(1);
  t[3] = *c.data() + *d.begin() + float(d.size() + c.size() + t.size() + c.max_size()) + *(c.end() - 1) + float(c.empty() || t.empty());
  const array<float, 4> fixed = c;
  out[1] = fixed[0] + fixed.front() + fixed.back() + *fixed.begin() + *fixed.data();
  constexpr array<int, 2> constants = {1, 2};
  static_assert(constants.size() == 2 && constants[1] == 2, "");
  for (auto x : fixed) out[2] += x;
}
