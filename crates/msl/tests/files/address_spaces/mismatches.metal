// test check
#include <metal_stdlib>
using namespace metal;

void takes_thread(thread float *p);
void takes_device(device float *p);
void takes_reference(thread int &x);
void takes_const(const device float *p);

kernel void wrong_arguments(device float *d, constant float *c, threadgroup float *t, device int *i) {
  takes_thread(d);  // error: no matching function for call to 'takes_thread'
  takes_device(c);  // error: no matching function for call to 'takes_device'
  takes_device(t);  // error: no matching function for call to 'takes_device'
  takes_reference(i[0]);  // error: no matching function for call to 'takes_reference'
  takes_const(d);
  float x = 0;
  takes_device(&x);  // error: no matching function for call to 'takes_device'
}

kernel void wrong_initializers(device float *d, constant float *c, threadgroup float *t) {
  threadgroup float *p = d;  // error: cannot initialize
  device float *q = c;  // error: cannot initialize
  constant float *r = d;  // error: cannot initialize
  device float *s = d;
  s = t;  // error: assigning to
  thread float &x = d[0];  // error: cannot
  device int *i = d;  // error: cannot initialize
}

kernel void wrong_casts(device float *d, constant float *c, threadgroup float *t) {
  auto a = (threadgroup float *)d;  // error: cast
  auto b = (device float *)c;  // error: cast
  auto e = reinterpret_cast<device float *>(t);  // error: cast
  auto f = static_cast<device int *>(d);  // error: cast
}

kernel void mixed_pointers(device float *d, threadgroup float *t) {
  bool same = d == t;  // error: ('device float *' and 'threadgroup float *')
  auto p = d[0] > 0 ? d : t;  // error: ('device float *' and 'threadgroup float *')
}
