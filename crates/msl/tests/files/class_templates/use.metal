// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> struct Box { T value; T get() const { return value; } void set(T x) { value = x; } };
template <typename T, int N> struct Tile {
  T data[N][N];
  static constexpr constant int size = N * N;
  typedef T value_type;
  using row = T[N];
  enum { half_size = N / 2 };
  struct Inner { T t; };
  Tile() thread {}
  thread T &at(int i, int j) { return data[i][j]; }
  template <typename U> Tile<U, N> cast() const { Tile<U, N> r; for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) r.data[i][j] = U(data[i][j]); return r; }
  T sum() const;
};
template <typename T, int N> T Tile<T, N>::sum() const { T s = 0; for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) s += data[i][j]; return s; }
template <typename T = float, int N = 4> struct Defaulted { T x[N]; };
template <typename T> struct Node { T value; device Node *next; device Node<T> *previous; };
template <typename A, typename B> struct Pair { A a; B b; Pair(A x, B y) : a(x), b(y) {} };
template <typename T> struct Outer { template <typename U> struct Inner { T t; U u; }; };
template <template <typename> class C> struct Apply { C<int> c; };
template <typename T> struct Op { static T apply(T a, T b) { return a + b; } T operator()(T a) const { return a; } };
template <int N> struct Factorial { static constexpr constant int value = N * Factorial<N - 1>::value; };
template <> struct Factorial<0> { static constexpr constant int value = 1; };
template <typename T> struct Forward;
template <typename T> struct Forward { T x; };
static_assert(Factorial<5>::value == 120, "");
static_assert(Tile<float, 4>::size == 16 && sizeof(Tile<half, 2>) == 8 && Tile<int, 4>::half_size == 2, "");
static_assert(sizeof(Defaulted<>) == 16 && sizeof(Defaulted<half>) == 8 && sizeof(Defaulted<char, 3>) == 3, "");
static_assert(is_same_v<Tile<int, 2>::value_type, int>, "");

kernel void uses(device float *out) {
  Box<float> b = {1};
  b.set(b.get() + 1);
  Tile<float, 4> tile;
  tile.at(1, 2) = 3;
  Tile<int, 4> ints = tile.cast<int>();
  Tile<float, 4>::value_type x = tile.sum();
  Tile<float, 4>::Inner inner = {x};
  Pair<int, float> p(1, 2);
  Outer<int>::Inner<float> oi = {1, 2};
  Apply<Box> a;
  a.c.value = 1;
  Node<float> n;
  n.value = Op<float>::apply(1, 2) + Op<float>()(3);
  out[0] = inner.t + p.b + oi.u + float(a.c.value) + n.value + float(ints.data[1][2]) + Forward<float>{1}.x;
  Box<Box<int>> nested = {{5}};
  out[1] = float(nested.value.value);
}

template <typename T> T dependent(T x) {
  typename Tile<T, 2>::value_type v = x;
  Tile<T, 2> t;
  t.data[0][0] = v;
  auto u = t.template cast<float>();
  return T(u.data[0][0]) + T(Tile<T, 2>::size);
}
kernel void uses_dependent(device float *out) { out[0] = dependent(1.0f) + float(dependent(2)); }
