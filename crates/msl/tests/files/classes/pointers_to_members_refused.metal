// test check
#include <metal_stdlib>
using namespace metal;

struct A {
  int bits : 3;
  float y;
  int m() const { return 1; }
  static int st(int q) { return q; }
private:
  int own;
};
struct Z { int z; };

template <float A::*P> float get(A a) { return a.*P; }

void f(thread A &a, int k, Z z, const thread A &fixed, device A *far, float A::*variable) {
  int A::*p = &A::bits;  // error: address of bit-field requested
  float A::*q = &A::y;
  int A::*w = &A::y;  // error: cannot initialize a variable of type 'int A::*' with an rvalue of type 'float A::*'
  k.*q;  // error: left hand operand to .* must be a class compatible with the right hand operand, but is 'int'
  a.*k;  // error: right hand operand to .* has non-pointer-to-member type 'int'
  z.*q;  // error: left hand operand to .* must be a class compatible with the right hand operand, but is 'Z'
  a->*q;  // error: left hand operand to ->* must be a pointer to class compatible with the right hand operand, but is 'A'
  (a.*q)(3);  // error: called object type 'float' is not a function or function pointer
  fixed.*q = 1;  // error: read-only
  int A::*own = &A::own;  // error: 'own' is a private member of 'A'
  int Z::*zz = q;  // error: cannot initialize a variable of type 'int Z::*'
  q < q;  // error: invalid operands to binary expression ('float A::*' and 'float A::*')
  a.*(&A::m);  // error: reference to non-static member function must be called
  int (*s)(int) = &A::st;
  auto method = A::m;  // error: call to non-static member function without an object argument
  float A::*c = 5;  // error: cannot initialize a variable of type 'float A::*' with an rvalue of type 'int'
  float B::*d;  // error: unknown type name 'B'
  float float4::*e;  // error: member pointer refers into non-class type 'float4'
  int (A::*g)() = &A::m;  // error: no method 'm' has type 'int (A::*)()'
  int (A::*h)() const = &A::m;
  (far->*h)();  // error: 'this' argument has type 'device A'
  get<&A::y>(a);
  get<variable>(a);  // error: no matching function for call to 'get'
}
