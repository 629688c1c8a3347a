// test check
#include <metal_stdlib>
using namespace metal;

kernel void missing_semicolon(device int *out) {
  out[0] = 1  // error: expected ';'
  out[1] = 2;
  int x = ;  // error: expected expression
  out[2] = (1 + 2;  // error: expected ')'
  out[3 = 1;  // error: expected ']'
  if out[0] {}  // error: expected '('
  for (int i = 0; i < 3) {}  // error: expected ';'
  out[0] = 1 +;  // error: expected expression
  else { }  // error: expected expression
}
struct S { int a }  // error: expected ';' // error: expected ';' after struct
int 3x;  // error: invalid suffix 'x' on integer constant // error: expected unqualified-id
template <typename T void f();  // error: expected
