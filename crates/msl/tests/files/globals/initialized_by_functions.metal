// test check
// SPIRV-Cross: constants that functions compute which are not constexpr.
#include <metal_stdlib>
using namespace metal;

template <typename X, typename Y> inline X modulo(X x, Y y) {
  X remainder = x - y * (x / y);
  return select(X(remainder + y), remainder, remainder == 0 || (x >= 0) == (y >= 0));
}
int triangle(int n) {
  int sum = 0;
  for (int i = 1; i <= n; i++) sum += i;
  return sum;
}
struct Range { int first, last; };
Range range(int n) { return {n, triangle(n)}; }

constant int a = modulo(-7, 3);
constant int b = a + triangle(4);
constant Range c = range(3);
constant int d[2] = {triangle(2), b};
struct S { static constant int e; };
constant int S::e = triangle(5);

constexpr constant int f = triangle(2);  // error: initializer of a variable in constant address space must be a constant expression
constexpr constant int g = a;  // error: initializer of a variable in constant address space must be a constant expression
int undefined(int n);
constant int h = undefined(1);  // error: initializer of a variable in constant address space must be a constant expression
int endless(int n) { while (true) n++; return n; }
constant int i = endless(1);  // error: initializer of a variable in constant address space must be a constant expression
static_assert(a == 2, "");  // error: static assertion expression is not an integral constant expression

kernel void k(device int *out) {
  out[0] = a + b + c.last + d[1] + S::e;
  int array[a];  // error: array size is not a constant expression
}
