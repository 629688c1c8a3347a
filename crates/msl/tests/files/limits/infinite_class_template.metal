// test check
#include <metal_stdlib>
using namespace metal;

template <int N> struct Deep { static constexpr constant int value = Deep<N + 1>::value; };  // error: nested too deeply
constant int n = Deep<0>::value;
