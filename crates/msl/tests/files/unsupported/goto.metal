// test check
#include <metal_stdlib>
using namespace metal;

kernel void k(device int *x) {
  goto end;  // error: 'goto' is not supported in Metal
end:  // error: labels are not supported in Metal
  x[0] = 1;
}
