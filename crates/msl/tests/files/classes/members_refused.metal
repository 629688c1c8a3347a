// test check
#include <metal_stdlib>
using namespace metal;

struct S { int a; int f() const { return a; } static int g() { return 1; } };
struct Twice { int a; float a; };  // error: duplicate member 'a'
struct S { int b; };  // error: redefinition of 'S'
struct Incomplete;
struct Contains { Incomplete i; };  // error: incomplete type
struct Itself { Itself s; };  // error: incomplete type
struct TwoMethods { int f() { return 1; } int f() { return 2; } };  // error: redefinition of 'f'
int S::missing() const { return 1; }  // error: 'missing'

kernel void refused(device int *out, device S *p) {
  S s = {1};
  out[0] = s.b;  // error: no member named 'b' in 'S'
  out[1] = s.f;  // error: reference to non-static member function must be called
  out[2] = p.a;  // error: did you mean to use '->'
  out[3] = s->a;  // error: did you mean to use '.'
  out[4] = S::a;  // error: non-static
  out[5] = S::f();  // error: non-static
  out[6] = s.g() + p->g() + S::g();
  out[7] = s.f(1);  // error: no matching member function for call to 'f'
  out[8] = S::h();  // error: no member named 'h' in 'S'
  Incomplete i;  // error: incomplete type
  int n = 1;
  n.x = 2;  // error: not a structure or union
  n();  // error: not a function
  s();  // error: not a function
  out[9] = s + 1;  // error: invalid operands to binary expression
  out[10] = -s;  // error: invalid argument type 'S' to unary expression
  bool b = s;  // error: no viable conversion
  if (s) {}  // error: bool
}
struct UsesThis { static int f() { return this->n; } int n; };  // error: 'this'
int free_this() { return this->n; }  // error: 'this'
