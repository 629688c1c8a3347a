// test check
#include <metal_stdlib>
using namespace metal;

kernel void k(device int *x) {
  auto p = new int;  // error: 'new' is not supported in Metal
  delete p;  // error: 'delete' is not supported in Metal
  auto q = new int[4];  // error: 'new' is not supported in Metal
  delete[] q;  // error: 'delete' is not supported in Metal
}
