// test check
#include <metal_stdlib>
using namespace metal;

constant float table[] = {1, 2, 3};
constant int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
constant float partial[4] = {1};
static_assert(sizeof(table) == 12, "");
static_assert(sizeof(grid) == 24, "");

struct Block { half d; uchar qs[16]; };
static_assert(sizeof(Block) == 18, "");

float sum(thread const float (&a)[4]) { return a[0] + a[1] + a[2] + a[3]; }
float sum_of(thread const float *a, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += a[i];
  return s;
}
template <typename T, size_t N> constexpr size_t length(thread const T (&)[N]) { return N; }
// An array parameter is a pointer to the thread's memory: ggml's rope_yarn relies on it.
void decayed(float a[4], thread float *out) { out[0] = a[0]; }
void decayed_thread(thread float a[4]) { a[0] = 1; }

kernel void arrays(device float *out, device Block *blocks) {
  float a[4] = {1, 2, 3, 4};
  float b[4] = {};
  float c[] = {1, 2};
  float d[2][2] = {{1, 2}, {3, 4}};
  float flat[2][2] = {1, 2, 3, 4};
  int zero[3] = {0};
  float4 vectors[2] = {float4(1), {1, 2, 3, 4}};
  float designated[4] = {[1] = 2, [3] = 4};
  out[0] = sum(a) + sum_of(b, 4) + c[1] + d[1][0] + flat[1][1] + table[2] + grid[1][2] + partial[3];
  out[1] = float(length(a) + length(c)) + vectors[1].w + designated[3] + float(zero[0]);
  blocks[0].qs[3] = 1;
  thread float *p = a;
  thread float *q = &a[2];
  out[2] = float(q - p) + *(a + 1);
  decayed_thread(a);
  for (auto x : a) out[3] += x;
  for (thread float &x : b) x = 1;
  thread float(&alias)[4] = a;
  alias[0] = 5;
  array<float, 4> s = {1, 2, 3, 4};
  array<float, 4> t = s;
  array<array<int, 2>, 2> nested = {{{1, 2}, {3, 4}}};
  t[0] = s[1] + float(nested[1][0]) + float(s.size());
  for (auto x : t) out[4] += x;
}
