// test check
// options: --std metal3.1
#include <metal_stdlib>
#include <metal_logging>
using namespace metal;

kernel void k(device float *x) {
  os_log_default.log("x");  // error: use of undeclared identifier 'os_log_default'
}
