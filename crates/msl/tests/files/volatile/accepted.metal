// test check
#include <metal_stdlib>
using namespace metal;

struct Record {
  int plain;
  volatile int status;
  int get() volatile { return plain + status; }
  int get() volatile device { return plain + status; }
  int get() const volatile threadgroup { return plain; }
  volatile thread int &self() volatile { return plain; }
};

int choose(device int *p) { return 1; }
float choose(volatile device int *p) { return 2; }

template <typename T> T read(device T *p) { return *p; }

kernel void qualifiers_are_added(device int *p, volatile device int *q, const volatile device int *r,
                                 volatile device Record *s, device Record *t) {
  volatile device int *a = p;
  q = p;
  r = q;
  volatile device int &b = *p;
  const volatile device int &c = b;
  volatile device void *d = q;
  volatile device int *e = &s->plain, *f = &t->status;
  auto g = static_cast<volatile device int *>(p);
  auto h = reinterpret_cast<volatile device uint *>(q);
  static_assert(is_same_v<decltype(*q), volatile device int &>, "");
  static_assert(is_same_v<decltype(g), volatile device int *>, "");
  static_assert(is_same_v<decltype(choose(p)), int>, "");
  static_assert(is_same_v<decltype(choose(q)), float>, "");
  static_assert(is_volatile_v<volatile int> && !is_volatile_v<volatile device int *>, "");
  device int *volatile moving = p;
  *moving = *a + b + c + *e + *f + *g + int(*h) + s->get() + read(q) + (q == p) + (d == q);
}

kernel void objects_of_the_thread(device float *out) {
  volatile Record record = {1, 2};
  threadgroup volatile Record shared[2];
  volatile float4 vector = 1;
  volatile bool flag = true;
  volatile int array[4] = {1, 2, 3, 4};
  vector.xy = vector.zw;
  record.self() = 3;
  record.plain;
  (void)record.status;
  volatile thread int *first = array;
  out[0] = record.get() + shared[1].get() + vector.x + flag + *first;
}
