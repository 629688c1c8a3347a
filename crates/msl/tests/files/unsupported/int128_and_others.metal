// test check
#include <metal_stdlib>
using namespace metal;

__int128 wide;  // error: __int128
