// test check
#include <metal_stdlib>
using namespace metal;

kernel void loops(device int *out, uint i [[thread_position_in_grid]]) {
  for (int k = 0; k < 4; ++k) out[k] = k;
  for (int a = 0, b = 10; a < b; a++, b--) { if (a == 3) continue; if (b == 7) break; out[a] = b; }
  for (;;) { break; }
  int n = 3;
  for (; n > 0;) n--;
  for (n = 0; n < 2; n += 1) ;
  while (n < 5) { n++; }
  do { n--; } while (n > 0);
  do n++; while (n < 3);
  while (int m = n - 3) { out[0] = m; n = 3; }
  for (int k = 0; int left = 3 - k; k++) out[k] = left;
  {
    int n = 9;
    out[1] = n;
  }
  ;
  out[i] = n;
}

kernel void unrolled(device float *out) {
#pragma unroll
  for (int i = 0; i < 4; i++) out[i] = 0;
#pragma unroll(8)
  for (int i = 0; i < 8; i++) out[i] = 1;
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; i++) out[i] = 2;
  _Pragma("unroll") for (int i = 0; i < 4; i++) out[i] = 3;
#pragma clang loop unroll_count(2)
  while (out[0] > 0) out[0] -= 1;
}

int choose(int n) {
  switch (n) {
    case 0: return 1;
    case 1:
    case 2: {
      int x = n * 2;
      return x;
    }
    case 3: n += 1; [[fallthrough]];
    case 'a': n = 2; break;
    case 1 + 9: break;
    default: n = 0;
  }
  switch (int m = n + 1; m) { case 1: return m; }
  switch (n) {}
  switch (n) default: n = 1;
  return n;
}

kernel void ifs(device int *out, device float *f) {
  if (out[0]) out[1] = 1;
  if (out[0] > 1) out[1] = 2; else out[1] = 3;
  if (out[0] == 1) { out[1] = 4; } else if (out[0] == 2) { out[1] = 5; } else { out[1] = 6; }
  if (int n = choose(out[0])) out[2] = n; else out[2] = -n;
  if (int n = 1; n > out[0]) out[3] = n;
  if (f[0]) out[4] = 1;
  if (f) out[5] = 1;
  if (!f && !out[0]) return;
  if (auto p = out + 1) p[0] = 2;
  return;
}

kernel void ranges(device float *out) {
  float a[3] = {1, 2, 3};
  float sum = 0;
  for (float x : a) sum += x;
  for (auto x : a) sum += x;
  for (thread float &x : a) x *= 2;
  for (const thread auto &x : a) sum += x;
  for (auto &x : a) x += 1;
  array<float, 2> s = {1, 2};
  for (auto x : s) { if (x > 1) continue; sum += x; }
  int grid[2][2] = {{1, 2}, {3, 4}};
  for (auto &row : grid) for (int cell : row) sum += float(cell);
  out[0] = sum;
}

void early(device int *x) { if (*x) return; *x = 1; }
int both(bool b) { if (b) return 1; else return 2; }
int forever(device int *x) { while (true) { if (*x > 3) return 1; *x += 1; } }
void returns_void(device int *x) { return early(x); }
