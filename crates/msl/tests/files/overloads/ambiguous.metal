// test check
#include <metal_stdlib>
using namespace metal;

void f(float x, int y);
void f(int x, float y);
void g(short x);
void g(long x);
void h(int x, int y = 1);
void h(int x);
template <typename T> void t(T x, int y);
template <typename T> void t(int x, T y);
struct A { operator int() const { return 1; } operator float() const { return 1; } };
void takes_long(long x);

kernel void refused(device int *out, device uint *u, device float *f32, device half *f16) {
  out[0] = max(1, 2u);  // error: call to 'max' is ambiguous
  out[1] = min(out[0], u[0]);  // error: call to 'min' is ambiguous
  out[2] = clamp(u[0], 0, 1);  // error: call to 'clamp' is ambiguous
  f32[0] = max(f32[0], f16[0]);  // error: call to 'max' is ambiguous
  f32[1] = max(f32[0], 1);  // error: call to 'max' is ambiguous
  f32[2] = fmax(f32[0], 1);
  f(1, 2);  // error: call to 'f' is ambiguous
  g(1);  // error: call to 'g' is ambiguous
  h(1);  // error: call to 'h' is ambiguous
  t(1, 2);  // error: call to 't' is ambiguous
  A a;
  out[3] = abs(u[0]) + abs(-1);
  f32[3] = sqrt(2);  // error: call to 'sqrt' is ambiguous
  f32[4] = pow(2, 3);  // error: call to 'pow' is ambiguous
  f32[5] = exp(1);  // error: call to 'exp' is ambiguous
}
