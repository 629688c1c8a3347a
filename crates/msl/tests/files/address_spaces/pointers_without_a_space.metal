// test check
#include <metal_stdlib>
using namespace metal;

struct S {
  float *p;  // error: pointer type must have explicit address space qualifier
  device float *q;
};

float sum(float *p);  // error: pointer type must have explicit address space qualifier
void add(float &x);  // error: reference type must have explicit address space qualifier
float *find();  // error: pointer type must have explicit address space qualifier
typedef int *Pointer;  // error: pointer type must have explicit address space qualifier
using Other = const int *;  // error: pointer type must have explicit address space qualifier

kernel void local_pointers(device float *d) {
  float *p = d;  // error: pointer type must have explicit address space qualifier
  float x = 0;
  float &r = x;  // error: reference type must have explicit address space qualifier
  auto y = (int *)d;  // error: pointer type must have explicit address space qualifier
}

kernel void parameter(float *p [[buffer(0)]]) {}  // error: pointer type must have explicit address space qualifier
