// test check
#include <metal_stdlib>
using namespace metal;

template <int N> struct Sum { static constexpr constant int value = N + Sum<N - 1>::value; };
template <> struct Sum<0> { static constexpr constant int value = 0; };
static_assert(Sum<200>::value == 20100, "");
template <int N> int count() { return 1 + count<N - 1>(); }
template <> int count<0>() { return 0; }
constexpr int sum_to(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
static_assert(sum_to(1000) == 499500, "");
static_assert(make_index_sequence<128>::size() == 128, "");
kernel void k(device int *out) { out[0] = count<100>() + ((((((((((((((((((((1)))))))))))))))))))); }
