// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> T undeclared(T x) { return x + missing; }  // error: undeclared identifier 'missing'
template <typename T> T unknown(T x) { Unknown y; return x; }  // error: unknown type name 'Unknown'
template <typename T> T call(T x) { no_such_function(1); return x; }  // error: undeclared identifier 'no_such_function'
template <typename T> void constants(constant float *p) { p[0] = 1; }  // error: read-only
template <typename T> void pointer(T x) { float *p; }  // error: pointer type must have explicit address space qualifier
template <typename T> int result(T x) { return float4(1); }  // error: cannot initialize return object
template <typename T> void stray(T x) { break; }  // error: 'break' statement not in loop or switch statement
template <typename T> T fine(T x) { return dependent_function(x) + x.anything + T::something; }
template <typename T> void twice(T x) { int a; float a; }  // error: redefinition of 'a'
template <typename T> void arguments(T x) { int y = 1; y(); }  // error: not a function
template <typename T> void asserts(T x) { static_assert(sizeof(int) == 8, "never"); }  // error: never
