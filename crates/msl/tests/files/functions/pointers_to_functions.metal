// test check
#include <metal_stdlib>
using namespace metal;

typedef int (*Binary)(int, int);
using Unary = int(int);
int add(int a, int b) { return a + b; }
int negate(int a) { return -a; }
float negate(float a) { return -a; }
struct Step { Binary operation; int next; };
constant Binary TABLE[2] = {add, nullptr};
constant Step STEPS[1] = {{add, 0}};
int apply(Unary *f, int x) { return f != nullptr ? (*f)(x) : f == nullptr; }
template <int (*F)(int)> int fixed(int x) { return F(x); }

kernel void k(device int *out) {
  Binary b = &add;
  Unary *u = negate;
  Binary all[2] = {add, b};
  if (u && !b) b = nullptr;
  out[0] = b(1, 2) + u(3) + apply(negate, 4) + fixed<negate>(5) + all[1](6, 7) + TABLE[0](8, 9) + STEPS[0].operation(1, 2);
  Binary wrong = negate;  // error: no function 'negate' has type 'int (int, int)'
  out[1] = b(1);  // error: the function takes 2 arguments, but 1 were provided
  out[2] = (*out)(1);  // error: called object type 'int' is not a function or function pointer
}
