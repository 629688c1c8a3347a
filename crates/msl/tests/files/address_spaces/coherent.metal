// test check
// options: --std metal3.2
#include <metal_stdlib>
using namespace metal;

typedef coherent(device) device float *shared_pointer;

float read(coherent(device) device const float *p) { return p[0]; }

template <typename P>
float first(P p) { return p[0]; }

struct Shared { coherent(device) device uint *flags; };

kernel void k(volatile coherent(system) device uint *a, coherent device float *b,
              device coherent(device) float *c, device const coherent(device) uint &d, constant Shared &shared) {
  coherent(device) device float *p = (coherent(device) device float *)b;
  shared_pointer q = p;
  device int *coherent = (device int *)b;  // still a name
  coherent[0] = 1;
  a[0] = d + shared.flags[0];
  c[0] = read(p) + first(q);
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
  static_assert(!is_same_v<coherent(device) float, coherent(system) float>, "parts of types");
  const device float *plain = p;  // a pointer may lose it
  coherent device float *found = plain;  // error: of type 'coherent(device) device float *'
  coherent(thread) device float *r = b;  // error: scope of 'coherent' must be 'device' or 'system'
}
