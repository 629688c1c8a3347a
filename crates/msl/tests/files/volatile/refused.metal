// test check
#include <metal_stdlib>
using namespace metal;

struct Record {
  int plain;
  volatile int status;
  int get() { return plain; }
  int get_const() const { return plain; }
  int get_volatile() volatile { return plain; }
};

void pointer(device int *p) {}
void reference(thread int &r) {}
template <typename T> void const_reference(const thread T &r) {}

kernel void pointers(volatile device int *p, device int *q, volatile device Record *r, device Record *s) {
  device int *a = p;  // error: cannot initialize a variable of type 'device int *' with an lvalue of type 'volatile device int *'
  q = p;  // error: assigning to 'device int *' from 'volatile device int *' discards qualifiers
  device int &b = *p;  // error: binding reference of type 'device int' to value of type 'volatile device int' drops 'volatile' qualifier
  const device int &c = *p;  // error: binding reference of type 'const device int' to value of type 'volatile device int' drops 'volatile' qualifier
  pointer(p);  // error: no matching function for call to 'pointer'
  device int *d = &r->plain;  // error: cannot initialize a variable of type 'device int *' with an rvalue of type 'volatile device int *'
  device int *e = &s->status;  // error: cannot initialize a variable of type 'device int *' with an rvalue of type 'volatile device int *'
  device void *f = p;  // error: cannot initialize a variable of type 'device void *' with an lvalue of type 'volatile device int *'
}

kernel void locals(device int *out) {
  volatile int x = 1;
  reference(x);  // error: no matching function for call to 'reference'
  thread int &a = x;  // error: binding reference of type 'int' to value of type 'volatile int' drops 'volatile' qualifier
  thread int *b = &x;  // error: cannot initialize a variable of type 'thread int *' with an rvalue of type 'volatile thread int *'
  volatile int array[4];
  thread int *c = array;  // error: cannot initialize a variable of type 'thread int *' with an lvalue of type 'volatile int [4]'
  volatile float4 v;
  thread float4 &d = v;  // error: binding reference of type 'float4' to value of type 'volatile float4' drops 'volatile' qualifier
  const volatile int n = 3;
  int sized[n];  // error: constant
  out[0] = x;
}

kernel void casts(volatile device int *p) {
  auto a = static_cast<device int *>(p);  // error: static_cast from 'volatile device int *' to 'device int *' casts away qualifiers
  auto b = reinterpret_cast<device uint *>(p);  // error: reinterpret_cast from 'volatile device int *' to 'device uint *' casts away qualifiers
  reinterpret_cast<device uint &>(*p) = 1;  // error: reinterpret_cast from 'volatile device int' to 'device uint &' casts away qualifiers
  auto c = const_cast<device int *>(p);
  auto d = (device int *)p;
  *c = *d;
}

kernel void objects(volatile device Record *r, device int *out) {
  volatile Record x;
  out[0] = x.get();  // error: no matching member function for call to 'get'
  out[1] = x.get_const();  // error: no matching member function for call to 'get_const'
  out[2] = x.get_volatile();
  const volatile Record y = {};
  out[3] = y.get_volatile();  // error: no matching member function for call to 'get_volatile'
  Record z = *r;  // error: no matching constructor for initialization of 'Record'
  *r = z;  // error: no viable overloaded '='
}
