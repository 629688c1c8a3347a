// test check
#include <metal_stdlib>
using namespace metal;

void stray_break() { break; }  // error: 'break' statement not in loop or switch statement
void stray_continue() { continue; }  // error: 'continue' statement not in loop statement
void stray_case(int n) { case 1: n = 2; }  // error: 'case' statement not in switch statement
void stray_default(int n) { default: n = 2; }  // error: 'default' statement not in switch statement
void continue_in_switch(int n) { switch (n) { case 1: continue; } }  // error: 'continue' statement not in loop statement
int no_value(int n) { return; }  // error: should return a value
void value(int n) { return n; }  // error: should not return a value
int wrong(float4 v) { return v; }  // error: cannot initialize return object
device int *pointer(device float *p) { return p; }  // error: cannot initialize return object
void twice(int n) {
  switch (n) {
    case 1: break;
    case 1: break;  // error: duplicate case value '1'
    default: break;
    default: break;  // error: multiple default labels in one switch
  }
  switch (1.5f) { case 1: break; }  // error: statement requires expression of integer type
  switch (n) { case n: break; }  // error: case value is not a constant expression
  if (float2(1) == float2(2)) {}  // error: bool
  while (float4(1)) {}  // error: bool
  for (auto x : n) {}  // error: range
  if constexpr (n > 1) {}  // error: constexpr if condition is not a constant expression
  int x = 1;
  float x = 2;  // error: redefinition of 'x'
  for (int i = 0; i < 4; i++) { int j = i; int x = j; }
  i = 3;  // error: undeclared identifier 'i'
}
void shadowed_parameter(int n) { int n = 1; }  // error: redefinition of 'n'
