// test check
// options: --std metal3.2
#include <metal_stdlib>
using namespace metal;

template <int N> struct Int {
  static constexpr constant int value = N;
  constexpr operator int() const { return N; }
};
template <int N, int M> constexpr auto operator+(Int<N>, Int<M>) { return Int<N + M>{}; }
template <int N, typename F> void times(F f) { f(Int<N>{}); }
template <short I> int at() { return I; }

template <int K> kernel void k(device int *x) {
  constexpr int four = 4;
  const int five = 5;
  int six = 6;
  auto by_reference = [&](int i) {
    int array[four];
    array[0] = five + K;
    static_assert(four + five == 9, "constants stay constants");
    return array[0] + i + six;
  };
  auto by_value = [=](int i) { return at<four>() + at<five>() + i; };
  auto nested = [&] { return [&] { return at<four + K>(); }(); };
  times<3>([&](auto outer) {
    times<2>([&](auto inner) {
      if constexpr (outer + inner == 5) x[1] = at<outer>() + at<inner>();
      static_assert(outer.value == 3, "an object without members has its value in its type");
    });
  });
  x[0] = by_reference(1) + by_value(2) + nested();
}
template [[host_name("k1")]] kernel void k<1>(device int *);

kernel void refused(device int *x) {
  int six = 6;
  const int unknown = x[0];
  auto f = [&] { return at<six>(); };  // error: no matching function for call to 'at'
  auto g = [&] { return at<unknown>(); };  // error: no matching function for call to 'at'
  x[0] = f() + g();
}
