// test check
#include <metal_stdlib>
using namespace metal;

template <typename P>
decltype(auto) at(P p, uint i) {
  return (p[i]);
}

template <typename P>
decltype(auto) value_at(P p, uint i) {
  auto v = p[i];
  return v;
}

template <typename P>
auto &ref(P p, uint i) {
  return p[i];
}

template <typename P>
auto *next(P p) {
  return p + 1;
}

template <typename Pointer>
struct View {
  Pointer p;
  decltype(auto) operator[](uint i) const { return p[i]; }
  auto &first() { return p[0]; }
};

device auto &second(device float *p) { return p[1]; }

auto &both(device float *p, bool b) {
  if (b) return p[0];
  return p[1];
}

auto &different(device float *p, device int *q, bool b) {
  if (b) return p[0];
  return q[1];  // error: deduced as
}

kernel void k(device float *o, constant float *c) {
  threadgroup float t[4];
  at(o, 1) = 2;
  ref(o, 2) = 3;
  ref(&t[0], 2) = 3;
  *next(o) = 4;
  second(o) = 5;
  both(o, true) = 1;
  View<device float *> v{o};
  v[1] = 2;
  v.first() = 3;
  decltype(auto) a = (o[1]);
  a = 2;
  decltype(auto) b = 3;
  static_assert(is_same_v<decltype(b), int>, "");
  value_at(o, 1) = 2;  // error: not assignable
  at(c, 1) = 2;  // error: read-only
  device auto &d = t[0];  // error: deduced type
}
