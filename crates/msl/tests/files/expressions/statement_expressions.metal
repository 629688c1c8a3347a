// test check
// options: -W
#include <metal_stdlib>
using namespace metal;

#define MAX(a, b) ({ auto a_ = (a); auto b_ = (b); a_ > b_ ? a_ : b_; })

struct Pair { int a; float b; };

constexpr int cube(int n) { return ({ int square = n * n; square * n; }); }
static_assert(cube(3) == 27, "");
constexpr int early(int n) { return ({ if (n > 1) return 7; n; }) + 1; }
static_assert(early(1) == 2, "");

template <typename T> T clamped(T x) { return MAX(x, T(0)); }

kernel void k(device float *out, device int *n) {
  out[0] = MAX(out[1], 2.0f) + MAX(MAX(out[2], out[3]), 1.0f);
  Pair pair = ({ Pair p; p.a = 1; p.b = 2; p; });
  ({ out[1] = pair.b; });
  ({ ; });
  static_assert(is_same_v<decltype(pair.a), int>, "");
  int array[3] = {1, 2, 3};
  thread int *first = ({ array; });
  n[0] = *first + sizeof(({ short s = 1; s; }));
  for (int i = 0; i < 4; i++) n[i] = ({ if (i == 2) continue; if (i == 3) break; i; });
  if (({ bool b = n[0] > 1; b; })) return;
  out[2] = clamped(out[3]) + float(clamped(n[1])) + ({ if (n[1] > 1) return; 1.0f; });
  float4 v = ({ float4 w = 1; w; }).xyzw;
  out[4] = v.x + ({ Pair{1, 2}; }).b;
  ({ 1; ; });
  int missing;
  n[1] = ({ missing; });  // warning: variable 'missing' is uninitialized when used here
}
