// test check
// options: --std metal3.2
#include <metal_stdlib>
using namespace metal;

struct S { float x; float4 v; };
template <typename A, typename B> constexpr constant bool same = false;
kernel void deduced(device float *f, constant S &s, device const int *c) {
  auto a = 1;
  auto b = 1.0f, b2 = 2.0f;
  auto d = f;
  auto e = f[0];
  const auto g = 2u;
  auto &h = f[0];
  auto *i = f;
  auto j = s;
  auto l = float4(1).xyz;
  auto m = c;
  auto n = 1.0h;
  auto o = 1ul;
  auto p = &f[1];
  auto q = [](int x) { return x; };
  auto r = true ? 1 : 2.0f;
  auto t = 'a';
  constexpr auto u = 3;
  static_assert(is_same_v<decltype(a), int> && is_same_v<decltype(b), float> && is_same_v<decltype(d), device float *>, "");
  static_assert(is_same_v<decltype(e), float> && is_same_v<decltype(g), const uint> && is_same_v<decltype(l), float3>, "");
  static_assert(is_same_v<decltype(j), S> && is_same_v<decltype(m), const device int *> && is_same_v<decltype(n), half>, "");
  static_assert(is_same_v<decltype(o), ulong> && is_same_v<decltype(p), device float *> && is_same_v<decltype(r), float>, "");
  static_assert(is_same_v<decltype(t), char> && is_same_v<decltype(h), device float &> && is_same_v<decltype(i), device float *>, "");
  static_assert(is_same_v<decltype(1 + 1u), uint> && is_same_v<decltype(1 + 1l), long> && is_same_v<decltype(1.0h + 1), half>, "");
  static_assert(is_same_v<decltype('a' + 'b'), int> && is_same_v<decltype(short(1) + short(1)), int>, "");
  static_assert(is_same_v<decltype(float2(1) < float2(2)), bool2> && is_same_v<decltype(1 < 2), bool>, "");
  static_assert(is_same_v<decltype(half(1) + 1.0f), float> && is_same_v<decltype(bfloat(1) + 1.0f), float>, "");
  static_assert(is_same_v<decltype(sizeof(int)), size_t> && is_same_v<decltype(f + 1 - f), ptrdiff_t>, "");
  static_assert(is_same_v<decltype((a)), thread int &> && is_same_v<decltype(s.x), float>, "");
  decltype(a) v = a;
  decltype(f[0] + 1) w = 2;
  decltype(S::v) x = float4(1);
  decltype(auto) y = a;
  f[2] = float(v) + w + x.x + float(q(1)) + float(u) + float(y) + b2;
}
