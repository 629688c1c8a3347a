// test check
#include <metal_stdlib>
using namespace metal;

constexpr int endless(int n) { for (;;) n ^= 1; return n; }
static_assert(endless(1) == 1, "");  // error: constant expression
