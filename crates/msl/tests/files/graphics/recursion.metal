// test check
// Recursion is for compute functions, also where a graphics function reaches it through others.
#include <metal_stdlib>
using namespace metal;

int for_kernels(int n) { return n < 2 ? n : for_kernels(n - 1) + for_kernels(n - 2); }
int for_both(int n) { return n < 2 ? n : for_both(n - 1) + 1; }  // error: recursive call to 'for_both': recursion is not supported in graphics functions
int between(int n) { return for_both(n); }

kernel void k(device int *out) { out[0] = for_kernels(out[1]) + between(out[2]); }
fragment float4 f() { return float4(between(3)); }
