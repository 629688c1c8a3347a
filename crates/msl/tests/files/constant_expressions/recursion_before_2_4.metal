// test check
// options: --std metal2.3
// A constexpr function may call itself where the compiler evaluates it; before Metal 2.4 only there.
#include <metal_stdlib>
using namespace metal;
constexpr int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
static_assert(fact(5) == 120, "");
kernel void ok(device int* x) { constexpr int n = fact(4); int a[fact(3)]; a[0] = n; x[0] = a[0]; }
constexpr int gcd(int a, int b) { return b == 0 ? a : gcd(b, a % b); }  // error: recursive call to 'gcd'
kernel void at_run_time(device int* x) { x[0] = gcd(x[1], x[2]); }
