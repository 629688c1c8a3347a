// A quantized value is converted to eight bits without clamping.
//
// dispatch: 1 x 32
// buffer 0: f32[32] iota
// buffer 1: u8[32] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *in [[buffer(0)]], device char *out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    const float scaled = in[i] * 10;
#ifdef FIXED
    out[i] = char(clamp(rint(scaled), -128.0f, 127.0f));
#else
    out[i] = char(rint(scaled));  // finding: conversion-out-of-range
#endif
}
