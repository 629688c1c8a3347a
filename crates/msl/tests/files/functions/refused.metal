// test check
#include <metal_stdlib>
using namespace metal;

int twice(int n) { return n; }
int twice(int n) { return n; }  // error: redefinition of 'twice'
float twice(int n);  // error: differ only in their return type
void defaults(int a = 1, int b);  // error: missing default argument
void again(int a, int a);  // error: redefinition of parameter 'a'
Unknown unknown(int n);  // error: unknown type name 'Unknown'
int array_result()[2];  // error: function cannot return
void takes_void(void v);  // error: void
int variable;  // error: program scope variable must reside in constant address space
int incomplete_only(int n);
struct Incomplete;
Incomplete makes();
void takes(Incomplete i) {}  // error: incomplete type

kernel void refused(device int *out) {
  out[0] = twice();  // error: no matching function for call to 'twice'
  out[1] = twice(1, 2);  // error: no matching function for call to 'twice'
  out[2] = twice(float4(1));  // error: no matching function for call to 'twice'
  out[3] = twise(1);  // error: undeclared identifier 'twise'; did you mean 'twice'?
  out[4] = out(1);  // error: not a function
  out[5] = twice;  // error: int
  int nested() { return 1; }  // error: function definition is not allowed here
}
