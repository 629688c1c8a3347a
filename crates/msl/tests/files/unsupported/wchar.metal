// test check
#include <metal_stdlib>
using namespace metal;

wchar_t c(int x);  // error: 'wchar_t' is not supported in Metal
