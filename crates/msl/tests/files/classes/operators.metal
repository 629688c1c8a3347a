// test check
#include <metal_stdlib>
using namespace metal;

struct V {
  float x, y;
  V operator+(V o) const { return {x + o.x, y + o.y}; }
  V operator-() const { return {-x, -y}; }
  thread V &operator+=(V o) { x += o.x; y += o.y; return *this; }
  thread V &operator=(float s) { x = y = s; return *this; }
  thread float &operator[](int i) { return i == 0 ? x : y; }
  float operator[](int i) const { return i == 0 ? x : y; }
  bool operator==(V o) const { return x == o.x && y == o.y; }
  thread V &operator++() { x += 1; return *this; }
  V operator++(int) { V old = *this; x += 1; return old; }
  bool operator!() const { return x == 0; }
  explicit operator bool() const { return x != 0; }
  operator float() const { return x; }
    float operator*() const { return x; }
};
V operator*(V a, float s) { return {a.x * s, a.y * s}; }
V operator*(float s, V a) { return a * s; }
bool operator<(V a, V b) { return a.x < b.x; }
bool operator!=(V a, V b) { return !(a == b); }
V operator<<(V a, int n) { return a * float(n); }
template <typename T> V operator/(V a, T s) { return {a.x / float(s), a.y / float(s)}; }

enum class Flags { a = 1, b = 2 };
constexpr Flags operator|(Flags a, Flags b) { return Flags(int(a) | int(b)); }
static_assert(int(Flags::a | Flags::b) == 3, "");

kernel void operators(device float *out, device bool *flags) {
  V a = {1, 2}, b = {3, 4};
  V c = a + b * 2.0f;
  c += 2.0f * a;
  c = 5.0f;
  c[0] = a[1] + (-b).x;
  flags[0] = a == b || a != b || a < b || !a;
  ++c;
  c++;
  V old = c++;
  if (c) out[0] = c;
  float implicit = c;
  bool converted = bool(c);
  out[1] = implicit + float(converted) + old.x + *c + (a / 2).x + (a << 2).x;
  while (c) { c = 0.0f; }
  out[3] = c ? 1.0f : 2.0f;
  a.operator+=(b);
  out[4] = operator*(a, 1.0f).x;
}
