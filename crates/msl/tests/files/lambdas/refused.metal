// test check
// options: --std metal3.2
#include <metal_stdlib>
using namespace metal;

kernel void refused(device float *out) {
  float a = 1;
  auto none = []() { return a; };  // error: cannot be implicitly captured
  auto copy = [a]() { a = 2; };  // error: a
  auto unknown = [b]() {};  // error: 'b'
  auto f = [](int x) { return x; };
  f();  // error: no matching
  f(1, 2);  // error: no matching
  f(float4(1));  // error: no matching
  auto twice = [a, a]() {};  // error: 'a'
  auto self = [this]() {};  // error: 'this'
  auto two = [](bool b) { if (b) return 1; return 2.0f; };  // error: return
  float x = f;  // error: no viable conversion
}
