// test check
#include <metal_stdlib>
using namespace metal;

struct Pair { int a; float b; };
struct Derived : Pair { int c; };
class Hidden { int a; int b; };
union Either { int a; float b; };

template <typename T>
float sum(T t) {
  auto [a, b] = t;
  return a + b;
}

auto [g, h] = Pair{};  // error: not permitted in this context

kernel void k(device float *o, device Pair *d, constant Pair &c) {
  Pair p{1, 2.0f};
  auto [a, b] = p;
  a = 3;
  auto &[r, s] = p;
  r = 4;
  const auto &[t, u] = p;
  t = 5;  // error: read-only
  auto &[v, w] = d[0];
  v = 6;
  static_assert(is_same_v<decltype(w), device float &>, "");
  const constant auto &[x, y] = c;
  int array[3] = {1, 2, 3};
  auto [e0, e1, e2] = array;
  auto &[f0, f1, f2] = array;
  f0 = e1;
  auto [vx, vy] = float2(1, 2);
  Pair pairs[2] = {p, p};
  for (auto &[k0, k1] : pairs) k0 += 1;
  o[0] = a + b + s + u + w + x + y + e0 + e2 + f1 + f2 + vx + vy + sum(p);
  auto [one] = p;  // error: type 'Pair' decomposes into 2 elements, but 1 name was provided
  auto [l0, l1] = Derived{};  // error: cannot decompose this type
  auto [m0, m1] = Hidden{};  // error: cannot decompose this type
  auto [n0, n1] = Either{};  // error: cannot decompose this type
  auto [q0] = 3;  // error: cannot decompose this type
  Pair [z0, z1] = p;  // error: decomposition declaration cannot be declared with a type other than 'auto'
}
