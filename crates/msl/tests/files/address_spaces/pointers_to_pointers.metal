// test check
#include <metal_stdlib>
using namespace metal;

template <typename T>
float first(device const T *const *rows, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++) sum += rows[i][0];
  return sum;
}

float second(thread device const float *const *rows) { return rows[0][1]; }

kernel void sum(device float *a, device const float *b) {
  device const float *rows[2] = {a, b};
  a[0] = first(rows, 2) + second(rows);
  device const float *threadgroup shared[2];
  a[1] = second(shared);  // error: no matching function for call to 'second'
}

kernel void parameter(device float **p [[buffer(0)]]) {}  // error: 'buffer' attribute cannot be applied
