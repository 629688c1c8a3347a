// test reflect
#include <metal_stdlib>
using namespace metal;

float helper(float x) { return x; }

// reflect:
// {}
