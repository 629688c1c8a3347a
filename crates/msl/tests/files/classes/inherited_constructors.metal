// test check
#include <metal_stdlib>
using namespace metal;

struct Base {
  int a, b;
  constexpr Base() : a(1), b(2) {}
  constexpr Base(int a) : a(a), b(0) {}
  constexpr Base(int a, int b) : a(a), b(b) {}
  template <typename T> constexpr Base(T x, T y, T z) : a(int(x + y)), b(int(z)) {}
};

struct Derived : Base {
  int c = 7;
  float d = 0.5f;
  using Base::Base;
};

struct Hides : Base {
  using Base::Base;
  constexpr Hides(int x) : Base(x + 100) {}
};

struct Twice : Derived {
  int e = 9;
  using Derived::Derived;
};

template <typename T> struct Generic {
  T x;
  explicit constexpr Generic(T x) : x(x) {}
};
template <typename T> struct Special : Generic<T> {
  using Generic<T>::Generic;
  using Parent = Generic<T>;
  static Special of(T x) { return Special(x); }
};
template <typename T> struct Renamed : Generic<T> {
  using Parent = Generic<T>;
  using Parent::Parent;
};

constant Derived made(3, 4);
constexpr Derived converted() { return 5; }
static_assert(converted().a == 5 && converted().c == 7, "");
static_assert(Derived(1.5f, 2.5f, 3.0f).a == 4, "");
static_assert(Derived().b == 2 && Derived{}.c == 7, "");
static_assert(Hides(1).a == 101 && Hides(1, 2).a == 1, "");
static_assert(Twice(6).a == 6 && Twice(6).c == 7 && Twice(6).e == 9, "");
static_assert(Special<int>(3).x == 3 && Renamed<float>(2).x == 2, "");

struct Lists { int2 a; Base b; int c; Lists(int2 a, Base b, int c) : a(a), b(b), c(c) {} };

template <typename T, typename... Args> T make(Args... args) { return T{args...}; }

int takes(Derived d) { return d.a; }

kernel void k(device int *out) {
  Derived d{int(out[0]), 2};
  Derived e = {1, 2}, f;
  Lists lists{{1, 2}, {3, 4}, 5};
  e = make<Derived>(1, 2);
  out[0] = d.a + e.b + f.c + takes(4) + made.a + Special<int>::of(2).x;
}
