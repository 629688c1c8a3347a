// test check
#include <metal_stdlib>
using namespace metal;

kernel void callee(device int *x) { x[0] = 1; }
kernel void caller(device int *x) { callee(x); }  // error: callee
