// test check
#include <metal_stdlib>
using namespace metal;

int print(constant char *format, ...);  // error: variadic functions are not supported in Metal
