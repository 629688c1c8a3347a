// test check
#include <metal_stdlib>
using namespace metal;

thread_local int x;  // error: thread-local storage is not supported in Metal
