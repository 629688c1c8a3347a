// test check
#include <metal_stdlib>
using namespace metal;

kernel void k() {
  auto a = {1, 2};  // error: initializer list
}
