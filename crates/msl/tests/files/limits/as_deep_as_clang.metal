// test check
// The limits are clang's: 1,024 instantiations in each other, 512 calls of constexpr functions, 1,048,576 statements.
#include <metal_stdlib>
using namespace metal;

template <int N> struct Count { static constant constexpr int value = Count<N - 1>::value + 1; };
template <> struct Count<0> { static constant constexpr int value = 0; };

template <int N> struct Named { typedef typename Named<N - 1>::type type; };
template <> struct Named<0> { typedef int type; };

template <int N> struct Member { static int of(int x) { return Member<N - 1>::of(x * 3) + N; } };
template <> struct Member<0> { static int of(int x) { return x; } };

constexpr int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }
constexpr int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
constexpr int sum(int n) {
  int all = 0;
  for (int k = 0; k < n; k++) all += k & 3;
  return all;
}

kernel void k(device int *out [[buffer(0)]]) {
  static_assert(Count<1000>::value == 1000, "1000");
  Named<1000>::type x = Member<1000>::of(out[1]);
  static_assert(depth(500) == 500, "500");
  static_assert(fibonacci(20) == 6765, "21,891 calls");
  static_assert(sum(100000) == 150000, "200,000 statements");
  out[0] = x;
}
