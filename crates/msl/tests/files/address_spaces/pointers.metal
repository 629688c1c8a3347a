// test check
#include <metal_stdlib>
using namespace metal;

struct Pair { float a; float b; };
struct Node { device Node *next; int value; };

float first(device const float *p) { return p[0]; }
float first(constant float *p) { return p[0]; }
float first(threadgroup float *p) { return *p; }
float first(thread float *p) { return *(p + 0); }
void set(device float &x, float value) { x = value; }
void set(threadgroup float &x, float value) { x = value; }
void set(thread float &x, float value) { x = value; }

kernel void overloads_by_space(device float *d, constant float *c, threadgroup float *t) {
  float local[2] = {1, 2};
  d[0] = first(d) + first(c) + first(t) + first(local) + first(&local[1]);
  set(d[0], 1);
  set(t[0], 2);
  set(local[0], 3);
}

kernel void pointer_arithmetic(device float *a, device const float *b, device int *out) {
  device float *p = a;
  device const float *q = p;
  p += 2;
  p = p - 1;
  p++;
  --p;
  const device float *const fixed = q + 1;
  out[0] = int(p - a);
  out[1] = p < a + 4 && p >= a && p != nullptr && b != q;
  out[2] = p == a ? 1 : 0;
  out[3] = (p ? 1 : 0) + (!p ? 1 : 0) + (fixed == q);
  *p++ = 1.0f;
}

kernel void casts_within_a_space(device uchar *bytes, constant uint *words, threadgroup char *shared) {
  device float *f = (device float *)bytes;
  device const uint4 *v = reinterpret_cast<device const uint4 *>(bytes + 16);
  constant Pair *pairs = (constant Pair *)words;
  threadgroup half *h = (threadgroup half *)shared;
  device void *erased = f;
  device float *back = static_cast<device float *>(erased);
  f[0] = pairs[0].a + float(h[0]) + float(v->x) + back[0];
  ulong address = (ulong)bytes;
  device int *from = reinterpret_cast<device int *>(address);
  from[0] = 1;
}

kernel void pointers_to_structs(device Pair *p, device Node *n) {
  p->a = (*p).b;
  (p + 1)->b = p[2].a;
  device Pair &r = p[3];
  r.a += r.b;
  n->next->value = n->value;
  device Node *walk = n;
  while (walk != nullptr) walk = walk->next;
}

kernel void pointers_to_pointers(device float *const constant *rows, device float *out, uint i [[thread_position_in_grid]]) {
  out[i] = rows[0][i];
  device float *local = out;
  device float *thread *p = &local;
  **p = 1;
  *(*p + 1) = 2;
}

kernel void references(device float *d, constant Pair &pair, device Pair &out) {
  device float &x = d[0];
  const device float &y = d[1];
  x = y;
  thread float temporary = 0;
  thread float &t = temporary;
  const thread float &bound = 1.0f;
  t = bound + pair.a;
  out = pair;
  out.a = t;
  auto &deduced = d[2];
  deduced = 3;
  const auto &read = pair;
  out.b = read.b;
  auto *pointer = d + 3;
  *pointer = 1;
}
