// test check
// options: --std metal3.2
#include <metal_stdlib>
using namespace metal;
struct A { int x; float y; };
struct B : A { int z; union { int u; float v; }; int get(int k) const { return z + k; } void set(int k) { z = k; } int arr[3]; };
struct C { long q; };
struct D : C, B { short w; };
template <typename T, typename M> M read(const thread T &t, M T::*p) { return t.*p; }
template <int A::*P> constexpr int fixed(A a) { return a.*P; }
template <int (B::*F)(int) const> int call(const thread B &b) { return (b.*F)(5); }
struct Holder { int B::*p; int (B::*f)(int) const; };
template <typename T> struct N { T t; struct I { T s; }; };
int sum(const device B *b, int B::*p, uint n) { int s = 0; for (uint i = 0; i < n; ++i) s += b[i].*p; return s; }
kernel void k(device int *o [[buffer(0)]], device const B *bs [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  A a{3, 4.5f};
  int A::*p = &A::x;
  float A::*q = &A::y;
  a.*p += 4; o[0] = a.x; thread A *t = &a; t->*q = 2.5f; o[1] = (int)(a.y * 2);
  o[2] = read(a, &A::x); o[3] = fixed<&A::x>(a);
  B b; b.x = 1; b.y = 2; b.z = 3; b.u = 9; b.arr[1] = 77;
  int B::*r = &A::x; int B::*s = i & 1 ? &B::z : r; o[4] = b.*s; o[5] = b.*r;
  int B::*u = &B::u; o[6] = b.*u; b.*u = 11; o[7] = b.u;
  int (B::*arr)[3] = &B::arr; o[8] = (b.*arr)[1];
  int (B::*f)(int) const = &B::get; o[9] = (b.*f)(10); thread B *bp = &b; o[10] = (bp->*f)(20);
  void (B::*g)(int) = &B::set; (b.*g)(42); o[11] = b.z;
  o[12] = call<&B::get>(b);
  auto h = &B::get; o[13] = (b.*h)(1);
  int A::*n = nullptr; o[14] = n == nullptr; o[15] = p != nullptr; o[16] = p == &A::x; o[17] = !n; if (p) o[18] = 1;
  D d; d.q = 1; d.x = 5; d.z = 6; d.w = 7; int D::*dz = &B::z; int D::*dx = p; o[19] = d.*dz * 10 + d.*dx; short D::*dw = &D::w; o[20] = d.*dw;
  int D::*dn = n; o[21] = dn == nullptr;
  Holder hold{&B::z, &B::get}; o[22] = b.*hold.p + (b.*hold.f)(1); Holder zero = {}; o[23] = zero.p == nullptr; o[24] = zero.f == nullptr;
  int N<int>::I::*np = &N<int>::I::s; N<int>::I ni{8}; o[25] = ni.*np;
  o[26] = sum(bs, &B::z, 2); o[27] = sizeof(p); o[28] = f == &B::get; o[29] = f != nullptr;
  constexpr int A::*cp = &A::x; constexpr A ca{21, 1.0f}; static_assert(ca.*cp == 21, ""); o[30] = -(a.*p);
  int A::* const table[2] = {&A::x, nullptr}; o[31] = a.*table[0];
}
static_assert(is_same_v<decltype(&A::x), int A::*> && is_same_v<decltype(&B::get), int (B::*)(int) const>, "");
int plain(float);
static_assert(is_same_v<decltype(&plain), int (*)(float)>, "");
struct Handle { thread A *a; thread int &operator->*(int A::*m) const { return a->*m; } };
int by_handle(thread A &a) { Handle h{&a}; h->*(&A::x) = 9; return a.x; }
