// test check
#include <metal_stdlib>
using namespace metal;

kernel void arithmetic(device int *i, device uint *u, device float *f, device half *h, device long *l, device bool *b) {
  i[0] = i[1] + i[2] - i[3] * i[4] / i[5] % i[6];
  i[0] = -i[1] + +i[2] - ~i[3];
  i[0] = (i[1] << 2) + (i[2] >> i[3]) + (i[4] & i[5]) + (i[6] | i[7]) + (i[8] ^ i[9]);
  i[0] += 1; i[0] -= 1; i[0] *= 2; i[0] /= 2; i[0] %= 3; i[0] <<= 1; i[0] >>= 1; i[0] &= 1; i[0] |= 1; i[0] ^= 1;
  i[0]++; ++i[0]; i[0]--; --i[0];
  i[0] = i[1]++ + ++i[2] - i[3]-- - --i[4];
  u[0] = u[1] * u[2] + 1u - 0x10u;
  f[0] = f[1] + f[2] - f[3] * f[4] / f[5];
  f[0] = -f[1] + 1.0f + 2 + 3.0;
  f[0] += 1; f[0] -= 1.5f; f[0] *= f[1]; f[0] /= 2; f[0]++; --f[0];
  h[0] = h[1] * 2.0h + h[2];
  h[0] += 1; h[0] *= 0.5h;
  l[0] = l[1] + i[0] + 1l;
  b[0] = i[0] < i[1] && f[0] >= f[1] || !b[1] && u[0] != u[1] || l[0] == l[1] || h[0] > h[1] || i[0] <= 3;
  b[0] = i[0] && f[0] || u[0];
  b[0] |= b[1]; b[0] &= !b[1]; b[0] ^= true;
  i[0] = b[0] ? i[1] : i[2];
  f[0] = b[0] ? 1 : f[1];
  i[0] = (i[1], i[2]);
  i[0] = i[1] = i[2] = 3;
  (i[0] = 1) = 2;
  (b[0] ? i[0] : i[1]) = 5;
  i[0] = i[1] > 0 ? i[2] > 0 ? 1 : 2 : 3;
  i[0] = b[0] + b[1];
  i[0] = int(sizeof(int)) + int(sizeof i[0]) + int(alignof(float4)) + int(sizeof(f[0] + 1));
  i[0] and_eq 1;
  b[0] = not b[1] and b[2] or b[3];
  i[0] = i[1] bitand 3 bitor 4 xor compl i[2];
  f[0] = f[1] < f[2] ? f[1] : f[2];
  long big = 1l << 40;
  u[1] = uint(big) + uint('a') + uint(true);
  void();
  int();
  f[1] = float() + int{} + float(3);
  if (i[0] == 1) ; else ;
}
