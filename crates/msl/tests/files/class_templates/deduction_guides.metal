// test check
// options: --std metal4.0
#include <metal_stdlib>
using namespace metal;

template <typename T, typename U> struct Pair { T a; U b; };
template <typename T, typename U> Pair(T, U) -> Pair<T, U>;

template <typename T> struct Box { T value; Box(T value) : value(value) {} };
Box(char) -> Box<int>;
explicit Box(half) -> Box<float>;

template <typename T> struct Copy { T value; Copy(const thread T *p) : value(*p) {} };
template <typename T> Copy(const thread T *) -> Copy<T>;

namespace inner {
template <typename... T> struct Count { int n; Count(T...) : n(sizeof...(T)) {} };
template <typename... T> Count(T...) -> Count<T...>;
}

template <typename T> struct Wrong { T value; };
template <typename T> Wrong(T) -> Box<T>;  // error: deduced type 'Box<int>' of deduction guide is not written as a specialization of template 'Wrong'

static_assert(is_same_v<decltype(Pair{1, 2.0f}), Pair<int, float>>, "");
static_assert(is_same_v<decltype(Box('c')), Box<int>>, "");
static_assert(is_same_v<decltype(Box(1.0h)), Box<float>>, "");
static_assert(is_same_v<decltype(Box(1u)), Box<uint>>, "");

kernel void k(device float *out) {
  Pair pair{1u, 2.0h};
  const Pair copied = {1, pair};
  static_assert(is_same_v<decltype(pair), Pair<uint, half>>, "");
  int i = 3;
  Copy copy(&i);
  inner::Count count(1, 2.0f, 3u);
  out[0] = pair.b + copied.b.a + copy.value + count.n + Pair{1, 2}.b;
  Wrong wrong{1};
  Pair none{1};  // error: no matching constructor for initialization of 'Pair'
}
