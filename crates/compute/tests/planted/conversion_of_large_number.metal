// A float that does not fit is converted to an integer.
//
// dispatch: 1 x 32
// buffer 0: f32[32] large
// buffer 1: i32[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device int *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
#ifdef FIXED
    out[i] = int(clamp(in[i], -1e9f, 1e9f));
#else
    out[i] = int(in[i]);  // finding: conversion-out-of-range
#endif
}
