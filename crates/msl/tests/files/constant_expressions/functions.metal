// test check
// options: --std metal3.2
#include <metal_stdlib>
using namespace metal;

constexpr int square(int n) { return n * n; }
constexpr int sum_to(int n) { int s = 0; for (int i = 1; i <= n; i++) s += i; return s; }
constexpr int gcd(int a, int b) { while (b != 0) { int t = a % b; a = b; b = t; } return a; }
constexpr int log2i(uint n) { int r = 0; do { n >>= 1; r++; } while (n > 1); return r; }
constexpr int choose(int n) { switch (n) { case 0: return 10; case 1: return 20; default: break; } return 30; }
constexpr int array_sum() { int a[4] = {1, 2, 3, 4}; int s = 0; for (int x : a) s += x; a[0] = s; return a[0]; }
constexpr float half_of(float x) { return x / 2; }
struct Point { int x, y; constexpr Point(int a, int b) : x(a), y(b) {} constexpr int dot(Point o) const { return x * o.x + y * o.y; } };
constexpr Point moved(Point p) { p.x += 1; return p; }
constexpr int by_reference() { int n = 1; thread int &r = n; r = 5; return n; }
constexpr int by_pointer() { int a[2] = {1, 2}; thread int *p = a; p++; return *p; }
constexpr int early(int n) { for (int i = 0; i < 100; i++) { if (i == n) continue; if (i > n) return i; } return -1; }
constexpr int ternary(bool b) { return b ? 1 : 2; }
constexpr bool is_power(uint n) { return n != 0 && (n & (n - 1)) == 0; }
template <typename T> constexpr T power(T x, int n) { T r = 1; for (int i = 0; i < n; i++) r *= x; return r; }
template <int N> constexpr int fib() { if constexpr (N < 2) return N; else return fib<N - 1>() + fib<N - 2>(); }
constexpr int vector_sum(int4 v) { return v.x + v.y + v[2] + v.w; }
constexpr int lambda_call(int n) { auto f = [n](int k) { return n * k; }; return f(3); }
static_assert(square(5) == 25 && sum_to(10) == 55 && gcd(12, 18) == 6 && log2i(1024) == 10, "");
static_assert(choose(0) == 10 && choose(1) == 20 && choose(2) == 30 && array_sum() == 10 && half_of(3) == 1.5f, "");
static_assert(Point(1, 2).dot(Point(3, 4)) == 11 && moved(Point(1, 2)).x == 2 && by_reference() == 5 && by_pointer() == 2, "");
static_assert(early(3) == 4 && ternary(true) == 1 && is_power(64) && !is_power(65), "");
static_assert(power(2, 10) == 1024 && power(2.0f, 3) == 8.0f && fib<10>() == 55, "");
static_assert(vector_sum(int4(1, 2, 3, 4)) == 10, "");
static_assert(lambda_call(2) == 6, "");
kernel void k(device int *out) { constexpr int n = square(3); int a[n]; out[0] = a[0] + square(out[1]); }
