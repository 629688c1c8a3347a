// test check
// options: --std metal2.4
#include <metal_stdlib>
static_assert(__METAL_VERSION__ == 240, "");
#ifdef __HAVE_BFLOAT__
#error no bfloat before 3.1
#endif
kernel void k() {}
