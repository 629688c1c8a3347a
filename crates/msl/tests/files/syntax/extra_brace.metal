// test check
#include <metal_stdlib>
using namespace metal;

kernel void k() {}
}  // error: extraneous closing brace
kernel void l() {}
