// test check
#include <metal_stdlib>
using namespace metal;

kernel void locals(device float *out) {
  device float x;  // error: address space
  thread float y = 1;
  constant float z = 1;
  out[0] = y + z;
}

void parameter(device float x) {}  // error: address space
constant int missing();  // error: address space
