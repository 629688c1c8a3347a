// test check
#include <metal_stdlib>
using namespace metal;

template <int N> struct Tag { char x[N]; };
Tag<1> f(int);
Tag<2> f(float);
Tag<3> f(half);
Tag<4> f(uint);
Tag<5> f(float4);
static_assert(sizeof(f(1)) == 1 && sizeof(f(1.0f)) == 2 && sizeof(f(1.0h)) == 3 && sizeof(f(1u)) == 4, "exact");
static_assert(sizeof(f(short(1))) == 1 && sizeof(f(true)) == 1 && sizeof(f('a')) == 1, "promotion");
static_assert(sizeof(f(float4(1))) == 5, "vector");
Tag<1> r(const thread int &);
Tag<2> r(thread int &);
Tag<1> p(device float *);
Tag<2> p(const device float *);
Tag<3> p(constant float *);
Tag<4> p(threadgroup float *);
template <typename T> Tag<1> t(T);
Tag<2> t(int);
template <typename T> Tag<1> u(T);
template <typename T> Tag<2> u(device T *);
template <typename T> Tag<3> u(const device T *);
template <typename T> Tag<4> u(vec<T, 4>);
template <typename T, int N> Tag<5> u(vec<T, N>);
struct B {};
struct D : B {};
Tag<1> b(B);
Tag<2> b(int);
struct C { C(int) {} };
Tag<1> c(C);
Tag<2> c(float);
template <typename... T> Tag<1> v(T...);
template <typename T> Tag<2> v(T, T);
Tag<1> n(bool);
Tag<2> n(device int *);
Tag<1> d(int, int = 0);
Tag<2> d(float);
namespace other { struct X {}; Tag<3> found(X); }
Tag<1> found(int);

kernel void ranks(device float *d1, const device float *d2, constant float *c1, threadgroup float *t1) {
  int x = 1;
  const int y = 2;
  static_assert(sizeof(r(x)) == 2 && sizeof(r(y)) == 1 && sizeof(r(3)) == 1, "references");
  static_assert(sizeof(p(d1)) == 1 && sizeof(p(d2)) == 2 && sizeof(p(c1)) == 3 && sizeof(p(t1)) == 4, "spaces");
  static_assert(sizeof(t(1)) == 2 && sizeof(t(1.0f)) == 1 && sizeof(t<int>(1)) == 1, "templates");
  static_assert(sizeof(u(1)) == 1 && sizeof(u(d1)) == 2 && sizeof(u(d2)) == 3, "ordering");
  static_assert(sizeof(u(float4(1))) == 4 && sizeof(u(float2(1))) == 5, "ordering of vectors");
  static_assert(sizeof(b(D())) == 1, "derived to base");
  static_assert(sizeof(c(1)) == 2, "standard conversion before user-defined");
  static_assert(sizeof(v(1, 2)) == 2 && sizeof(v(1, 2.0f)) == 1 && sizeof(v()) == 1, "packs last");
  static_assert(sizeof(n(nullptr)) == 2, "null pointer");
  static_assert(sizeof(d(1)) == 1 && sizeof(d(1.0f)) == 2, "defaults");
  static_assert(sizeof(found(other::X())) == 3 && sizeof(found(1)) == 1, "argument-dependent lookup");
}
