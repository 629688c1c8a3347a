// test check
// options: --std metal4.0
// Types of expressions, names of functions, offsets and functions of clang: refused, as by clang.
#include <metal_stdlib>
using namespace metal;
namespace c3 { void f(const int a) { __typeof__(a) b = 1; b = 2; } }  // error: cannot assign to variable 'b' with const-qualified type 'const int'
namespace c15 { int f(int a) { __typeof__ b = a; return b; } }  // error: expected '(' after '__typeof__'
namespace c16 { int f(int a) { __typeof__(b) c = a; return c; } }
namespace c25 { int f() { return __func__; } }  // error: cannot initialize return object of type 'int' with an lvalue of type 'const constant char [2]'
namespace c26 { void f() { __func__[0] = 1; } }  // error: read-only variable is not assignable: it is in the constant address space
namespace c30 { struct S { int a; int b; }; int f() { return __builtin_offsetof(S, c); } }
namespace c31 { int f() { return __builtin_offsetof(int, c); } }  // error: offsetof requires struct, union, or class type, 'int' invalid
namespace c32 { struct S { int a : 3; }; int f() { return __builtin_offsetof(S, a); } }  // error: cannot compute offset of bit-field 'a'
namespace c33 { struct S; int f() { return __builtin_offsetof(S, a); } }  // error: offsetof of incomplete type 'S'
namespace c45 { bool f(int a, int b) { return __builtin_add_overflow(a, b); } }  // error: no matching function for call to '__builtin_add_overflow'
namespace c55 { float4 f(int2 a) { return __builtin_convertvector(a, float4); } }  // error: C-style cast from 'int2' to 'float4' is not allowed
namespace c56 { float f(int4 a) { return __builtin_convertvector(a, float); } }  // error: C-style cast from 'int4' to 'float' is not allowed
