// test check
// options: --std metal3.2
// SPIRV-Cross relies on it: the whole library has <metal_logging>, too.
#include <metal_stdlib>
using namespace metal;

kernel void k(device float *x, uint i [[thread_position_in_grid]]) {
  os_log_default.log("x[%u] is %f", i, x[i]);
}
