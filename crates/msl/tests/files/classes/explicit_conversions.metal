// test check
#include <metal_stdlib>
using namespace metal;

struct Flag {
  int v;
  explicit operator bool() const { return v != 0; }
  explicit operator int() const { return v; }
};
struct Number {
  int v;
  operator int() const { return v; }
};

int take(int x) { return x; }

kernel void k(device int *o) {
  Flag f{3};
  Number n{4};
  if (f && !f) o[0] = f ? 1 : 2;
  while (f) break;
  o[1] = static_cast<int>(f) + int(f) + (int)f;
  bool direct(f);
  o[2] = n + take(n);
  int copied = f;  // error: no viable conversion
  bool flag = f;  // error: no viable conversion
  o[3] = take(f);  // error: no matching function for call to 'take'
  o[4] = f + 1;  // error: invalid operands
  o[5] = f;  // error: no viable conversion
}
