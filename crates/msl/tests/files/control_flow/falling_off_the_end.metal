// test check
#include <metal_stdlib>
using namespace metal;

int missing(int n) { if (n > 0) return 1; }
kernel void k(device int *out) { out[0] = missing(out[1]); }
