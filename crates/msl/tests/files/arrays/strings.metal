// test check
#include <metal_stdlib>
using namespace metal;

constant char text[] = "abc";
constant char padded[8] = "abc";
static_assert(sizeof(text) == 4 && sizeof(padded) == 8, "");
constant char *constant pointer = "abc";
kernel void k(device char *out) {
  out[0] = text[0] + padded[1] + "xyz"[2] + pointer[0];
  constant char *local = "local";
  out[1] = local[1];
}
