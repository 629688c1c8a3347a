// test check
#include <metal_stdlib>
using namespace metal;

constant int a = 1;
constant float b[3] = {1, 2, 3};
constant float4 c = float4(1, 2, 3, 4);
constant float d = b[1] + float(a);
struct Params { int n; float f[2]; };
constant Params e = {1, {2, 3}};
constant Params f[2] = {{1}, {.n = 2}};
constant float3x3 g = float3x3(1);
namespace inner { constant int h = 5; constexpr constant int i = h + 1; }
constant uchar table[] = {0x00, 0xff, 0b101, 077, 'a'};
constant bool flag = true && !false;
constant half j = 1.5h;
constant float k = sqrt(2.0f);
constexpr constant float inf = INFINITY;
constant float l = -FLT_MAX, m = M_PI_F, n = NAN;
constant int o = sizeof(Params);
struct S { static constant int p; static constexpr constant float q = 2; };
constant int S::p = 7;
kernel void uses(device float *out) {
  out[0] = float(a) + b[1] + c.x + d + float(e.n) + f[1].f[0] + g[0][0] + float(inner::i + table[1]) + float(flag) + float(j);
  out[1] = k + inf + l + m + n + float(o + S::p) + S::q;
  constant float *p = b;
  out[2] = p[2] + *(b + 1);
}
