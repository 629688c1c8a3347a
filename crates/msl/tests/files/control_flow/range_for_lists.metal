// test check
#include <metal_stdlib>
using namespace metal;

struct Pair { int a, b; };

kernel void k(device float *out, uint i [[thread_position_in_grid]]) {
  for (int x : {1, 2, 3}) out[x] = x;
  for (const auto &x : {0.5f, out[0]}) out[4] += x;
  for (auto x : {float2(1, 2), float2(3, 4)}) out[5] += x.x * x.y;
  for (Pair p : {Pair{1, 2}, Pair{3, 4}}) out[6] += p.a;
  for (float x : {1, 2}) out[7] += x;
  for (int x : {1, 2.0f}) out[8] = x;  // error: deduced conflicting types ('int' vs 'float') for initializer list element type
  for (int x : {}) out[9] = x;  // error: cannot deduce the type of the elements of an empty list
  for (auto &x : {1, 2}) x = 3;  // error: const
}
