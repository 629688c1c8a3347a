// test check
// options: --std metal3.2
#include <metal_stdlib>
using namespace metal;

kernel void lambdas(device float *out, uint i [[thread_position_in_grid]]) {
  float a = 1, b = 2;
  auto none = [](float x) { return x + 1; };
  auto copy = [a](float x) { return a + x; };
  auto reference = [&b](float x) { b += x; };
  auto everything = [=](float x) { return a * b + x; };
  auto all_references = [&]() { a += 1; b += 1; };
  auto mixed = [=, &b](float x) { b = a + x; };
  auto mixed2 = [&, a](float x) { b = a + x; };
  auto generic = [](auto x, auto y) { return x + y; };
  auto typed = [](int x) -> float { return float(x); };
  auto init = [c = a + 1, &d = b]() { return c + d; };
  auto changes = [a]() mutable { a += 1; return a; };
  auto pointer = [out](uint k) { out[k] = 1; };
  auto nested = [&](float x) { return [&](float y) { return a + x + y; }(1); };
  reference(1);
  all_references();
  mixed(1);
  mixed2(2);
  pointer(i);
  out[0] = none(1) + copy(1) + everything(2) + generic(1.0f, 2.0f) + float(generic(1, 2)) + typed(3) + init();
  out[1] = changes() + nested(1) + [](float x) { return x; }(2) + [&] { return a; }();
  auto early = [&](float x) { if (x > 1) return 1.0f; return 2.0f; };
  out[2] = early(a);
}
template <typename F> float apply(F f, float x) { return f(x); }
template <typename F> void times(int n, thread const F &f) { for (int i = 0; i < n; i++) f(i); }
kernel void passed(device float *out) {
  float sum = 0;
  times(4, [&](int i) { sum += float(i); });
  out[0] = apply([](float x) { return x * x; }, 2) + sum;
  constexpr auto square = [](int n) { return n * n; };
  out[1] = float(square(3));
}
struct Capturing { int n; int f() { auto g = [this](int k) { return n + k; }; auto h = [=](int k) { return this->n + k; }; return g(1) + h(2); } };
kernel void in_method(device int *out) { Capturing c = {1}; out[0] = c.f(); }
