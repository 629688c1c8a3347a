// test check
#include <metal_stdlib>
using namespace metal;

int declared(int n);
int declared(int n);
int declared(int n) { return n; }
inline float inlined(float x) { return x; }
static float hidden(float x) { return x; }
static inline float both(float x) { return x; }
METAL_FUNC float always(float x) { return x; }
__attribute__((noinline)) float never(float x) { return x; }
[[maybe_unused]] float unused(float x) { return x; }
float defaults(float a, float b = 2, int c = 3) { return a + b + float(c); }
float unnamed(float, int) { return 1; }
auto deduced(float x) { return x * 2; }
auto trailing(float x) -> float { return x; }
void nothing(void) {}
const float constant_result(const float x) { return x; }
void out_parameter(thread float &x, thread int *p, device float &d) { x = 1; *p = 2; d = 3; }
float by_const_reference(const thread float4 &v) { return v.x; }
float by_constant(constant float4 &v) { return v.x; }
namespace { float internal(float x) { return x; } }
extern "C" float linked(float x) { return x; }
float overloaded(float x) { return x; }
float overloaded(int x) { return float(x); }
float overloaded(float x, float y) { return x + y; }
float overloaded(float2 v) { return v.x; }

kernel void calls(device float *out, constant float4 &v) {
  out[0] = float(declared(1)) + inlined(1) + hidden(1) + both(1) + always(1) + never(1) + unused(1);
  out[1] = defaults(1) + defaults(1, 2) + defaults(1, 2, 3) + unnamed(1, 2) + deduced(1) + trailing(1);
  nothing();
  (void)constant_result(2);
  float x;
  int n;
  out_parameter(x, &n, out[0]);
  out[2] = by_const_reference(float4(1)) + by_constant(v) + internal(1) + linked(1);
  out[3] = overloaded(1.0f) + overloaded(1) + overloaded(1, 2) + overloaded(float2(1)) + (overloaded)(1);
  out[4] = defaults(x = 1, n);
}
