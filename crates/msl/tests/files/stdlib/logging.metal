// test check
// options: --std metal3.2
#include <metal_stdlib>
#include <metal_logging>
using namespace metal;

constant os_log custom("subsystem", "category");
kernel void k(device int *out) {
  os_log_default.log("value %d", out[0]);
  os_log_default.log_debug("x");
  os_log_default.log_info("x %d %f", 1, 2.0f);
  os_log_default.log_error("x");
  os_log_default.log_fault("x");
  custom.log_with_type(os_log_type::os_log_type_info, "x");
}
