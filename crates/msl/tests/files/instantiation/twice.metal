// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> kernel void add(device T *a) { a[0] += 1; }
template [[host_name("first")]] kernel void add<float>(device float *);
template [[host_name("second")]] kernel void add<float>(device float *);  // error: duplicate explicit instantiation
