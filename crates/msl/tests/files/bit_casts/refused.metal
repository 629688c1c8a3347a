// test check
#include <metal_stdlib>
using namespace metal;

struct S { int a; };
kernel void refused(device uint *u, device float *f) {
  u[0] = as_type<uint>(1.0h);  // error: as_type
  u[1] = as_type<ushort>(f[0]);  // error: as_type
  f[0] = as_type<float>(float2(1));  // error: as_type
  S s = {1};
  u[2] = as_type<uint>(s);  // error: as_type
  u[3] = as_type<uint>(u);  // error: as_type
  bool b = as_type<bool>(uchar(1));  // error: as_type
  u[4] = as_type<uint>();  // error: as_type
  u[5] = as_type<uint>(1, 2);  // error: as_type
}
