// test check
#include <metal_stdlib>
using namespace metal;

kernel void refused(device int *i, device float *f, threadgroup int *t) {
  bool a = i == f;  // error: ('device int *' and 'device float *')
  bool b = i == t;  // error: ('device int *' and 'threadgroup int *')
}
