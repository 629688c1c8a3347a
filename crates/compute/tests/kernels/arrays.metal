#include <metal_stdlib>
using namespace metal;

// Private arrays. Each kernel reads in[i] and writes out[i].
#define PER_THREAD(name) kernel void name(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], \
                                          uint i [[thread_position_in_grid]])

PER_THREAD(constant_index) {
  int a[3];
  a[0] = in[i];
  a[2] = a[0] * 3;
  out[i] = a[0] + a[2];
}

PER_THREAD(uniform_index) {
  int a[8];
  for (int k = 0; k < 8; k++) a[k] = in[i] + k;
  int sum = 0;
  for (int k = 7; k >= 0; k--) sum += a[k] * k;
  out[i] = sum;
}

PER_THREAD(per_lane_index) {
  int a[8];
  for (int k = 0; k < 8; k++) a[k] = k * k;
  out[i] = in[i] * 10 + a[in[i] & 7];
}

PER_THREAD(per_lane_writes) {
  int a[8] = {};
  for (int k = 0; k < 5; k++) a[(in[i] + k * 3) & 7] += k + 1;
  int sum = 0;
  for (int k = 0; k < 8; k++) sum += a[k] * (k + 1);
  out[i] = sum;
}

PER_THREAD(two_dimensions) {
  int a[3][5];
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 5; c++) a[r][c] = r * 10 + c;
  int r = in[i] % 3, c = in[i] % 5;
  thread int *row = a[c % 3];
  out[i] = a[r][c] + row[r];
}

PER_THREAD(of_half) {
  half a[4] = {0.0h, 1.0h, 2.0h, 3.0h};
  for (int k = 0; k < 4; k++) a[k] += half(in[i]);
  out[i] = int(a[in[i] & 3] + half(in[i]));
}

PER_THREAD(of_char) {
  char a[16];
  for (int k = 0; k < 16; k++) a[k] = char(in[i] * (k - 8));
  int sum = 0;
  for (char c : a) sum += c;
  out[i] = sum + a[in[i] & 15];
}

PER_THREAD(of_vectors) {
  int3 a[4];
  for (int k = 0; k < 4; k++) a[k] = int3(in[i] + k, k, in[i] * k);
  int3 v = a[in[i] & 3];
  out[i] = v.x + 2 * v.y + 3 * v.z;
}

PER_THREAD(of_float3) {
  float3 a[3] = {float3(0), float3(100, 10, 1), float3(200, 20, 2)};
  a[in[i] % 3] += float3(1, 2, 3);
  a[in[i] % 3].x += 0;
  float3 v = a[in[i] % 3];
  out[i] = int(v.x + v.y + v.z);
}

PER_THREAD(of_long) {
  long a[4];
  for (int k = 0; k < 4; k++) a[k] = long(k) << 40;
  out[i] = int(a[in[i] & 3] >> 40);
}

PER_THREAD(of_bool) {
  bool a[8];
  for (int k = 0; k < 8; k++) a[k] = k % 3 == 0;
  int count = 0;
  for (int k = 0; k <= (in[i] & 7); k++) count += a[k];
  out[i] = count;
}

struct Four { int v[4]; };
static int total(Four f) {
  f.v[0] += 1000;
  return f.v[0] + f.v[1] + f.v[2] + f.v[3] - 1000;
}
static void raise(thread int *a) { a[0] += 100; }

PER_THREAD(copied_and_passed) {
  Four f;
  for (int k = 0; k < 4; k++) f.v[k] = in[i] + k;
  int sum = total(f);
  raise(f.v);
  out[i] = sum * 1000 + f.v[0];
}

PER_THREAD(reversed_through_pointers) {
  int a[6];
  for (int k = 0; k < 6; k++) a[k] = in[i] + k * k;
  for (thread int *p = a, *q = a + 5; p < q; p++, q--) {
    int t = *p;
    *p = *q;
    *q = t;
  }
  int sum = 0;
  for (int k = 0; k < 6; k++) sum += a[k] * k;
  out[i] = sum;
}

PER_THREAD(pointer_into_one_of_two) {
  int a[2] = {5, in[i]}, b[2] = {6, in[i]};
  thread int *p = in[i] & 1 ? a : b;
  if (in[i] & 1) p[1]++;
  out[i] = p[0] + 100 * *(p + 1);
}

PER_THREAD(pointer_walk_per_lane) {
  int a[10];
  for (int k = 0; k < 10; k++) a[k] = k;
  int sum = 0;
  for (thread int *p = a; p != a + 10; ++p) {
    if (*p * *p > in[i]) break;
    sum += *p;
  }
  out[i] = sum;
}

PER_THREAD(metal_array) {
  array<int, 4> a = {0, 1, 2, 3};
  int sum = 0;
  for (size_t k = 0; k < a.size(); k++) a[k] += in[i];
  for (int v : a) sum += v;
  out[i] = sum + int(a.size());
}

PER_THREAD(large) {
  uchar a[256];
  for (int k = 0; k < 256; k++) a[k] = uchar(k);
  a[(in[i] * 37 + 1) % 256] = 1;
  a[255] = 255;
  out[i] = a[in[i] * 37 % 256] + a[255];
}

PER_THREAD(partly_initialized) {
  int a[6] = {5, 6};
  out[i] = in[i] + a[in[i] % 6];
}

PER_THREAD(swapped_elements) {
  int a[6] = {0, 1, 2, 3, 4, 5};
  int p = in[i] % 6, q = in[i] / 6 % 6;
  int t = a[p];
  a[p] = a[q];
  a[q] = t;
  int number = 0;
  for (int k = 0; k < 6; k++) number = number * 6 + a[k];
  out[i] = number;
}
