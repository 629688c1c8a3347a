// test check
#include <metal_stdlib>
using namespace metal;

struct Counter {
  mutable int calls;
  int other;
  mutable const int both;  // error: 'mutable' and 'const' cannot be mixed
  int get() const {
    calls++;
    other++;  // error: read-only
    return calls;
  }
};

kernel void k(device int *o, device const Counter *d, constant Counter &c) {
  const Counter counter = {0, 1, 2};
  o[0] = counter.get();
  counter.calls = 3;
  d->calls = 4;
  c.calls = 5;  // error: read-only
}
