// test check
#include <metal_stdlib>
using namespace metal;

threadgroup float global;  // error: program scope variable must reside in constant address space

void helper() {
  threadgroup float tile[32];  // error: threadgroup
  tile[0] = 1;
}

kernel void initialized(device float *out) {
  threadgroup float x = 1;  // error: initializer
  threadgroup float tile[2] = {1, 2};  // error: initializer
  threadgroup float thread_value = out[0];  // error: initializer
  threadgroup float minus = -0.0f;  // error: initializer
  out[0] = x + tile[0];
}

struct S {
  threadgroup float x;  // error: address space
};
