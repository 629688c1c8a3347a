// test check
#include <metal_stdlib>
using namespace metal;

kernel void k() {
  if (true) {
}  // error: expected '}'