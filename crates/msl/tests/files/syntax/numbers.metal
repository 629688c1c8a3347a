// test check
#include <metal_stdlib>
using namespace metal;

constant int a = 09;  // error: invalid digit '9' in octal constant
constant int b = 0b12;  // error: invalid digit '2' in binary constant
constant int c = 1q;  // error: invalid suffix 'q' on integer constant
constant float d = 1.0x;  // error: invalid suffix 'x' on floating constant
constant float e = 1e;  // error: exponent has no digits
constant int f = 99999999999999999999999;  // error: integer literal is too large
