// test check
#include <metal_stdlib>
using namespace metal;

kernel void arithmetic(device float4 *f, device int4 *i, device uint4 *u, device half4 *h) {
  f[0] = f[1] + f[2] - f[3] * f[4] / f[5];
  f[0] = f[1] + 1.0f - 2 * f[2] / 3;
  f[0] = -f[1];
  f[0] = +f[1];
  f[0] += f[1];
  f[0] -= 1;
  f[0] *= 2.0f;
  f[0] /= f[1];
  i[0] = i[1] + i[2] - i[3] * i[4] / i[5] % i[6];
  i[0] = i[1] & i[2] | i[3] ^ i[4];
  i[0] = ~i[1] << 2 >> i[2];
  i[0] = i[1] << i[2];
  i[0] &= 1;
  i[0] |= i[1];
  i[0] ^= i[1];
  i[0] <<= 1;
  i[0] >>= i[1];
  i[0] %= 3;
  i[0]++;
  --i[1];
  u[0] = u[1] * 2 + 1u;
  h[0] = h[1] * 2.0h + 1;
  h[0] = h[1] * h[2].x;
  f[0] = f[1] * f[2].x + f[3][0];
}
kernel void comparisons(device float4 *f, device int4 *i, device bool4 *b) {
  b[0] = f[0] < f[1];
  b[0] = f[0] <= 1.0f;
  b[0] = i[0] == i[1];
  b[0] = i[0] != 3;
  b[0] = b[1] && b[2] || !b[3];
  b[0] = b[1] & b[2] | b[3] ^ b[4];
  if (all(f[0] == f[1]) || any(i[0] > i[1])) f[0] = select(f[1], f[2], f[1] < f[2]);
  f[0] = any(b[0]) ? f[1] : f[2];
  bool scalar = (f[0] == f[1]).x;
  b[1] = scalar;
}
