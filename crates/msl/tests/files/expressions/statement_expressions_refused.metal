// test check
#include <metal_stdlib>
using namespace metal;

constant int at_file_scope = ({ int x = 1; x; });  // error: statement expression not allowed at file scope
struct S { int x = 1; };
constexpr int jumps(int n) { return ({ if (n > 1) return 7; n; }) + 1; }
static_assert(jumps(2) == 7, "");  // error: static assertion expression is not an integral constant expression

kernel void k(device float *out) {
  int x = ({ out[0] = 1; int y = 2; });  // error: cannot initialize a variable of type 'int' with an rvalue of type 'void'
  int z = ({ int hidden = 2; hidden; }) + hidden;  // error: use of undeclared identifier 'hidden'
  ({ int a = 1; a; }) = 2;  // error: expression is not assignable
  ({ break; });  // error: 'break' statement not in loop or switch statement
  int w = ({ return 1; 2; });  // error: void function should not return a value
  vec<float, ({ 2; })> v;  // error: a statement expression may not appear inside of a constant expression
}
