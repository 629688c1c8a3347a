// test check
#include <metal_stdlib>
using namespace metal;

struct Counter {
  int n;
  int get() const { return n; }
  int get() const device { return n; }
  int get() const constant { return n; }
  int get() const threadgroup { return n; }
  void add(int k) { n += k; }
  void add(int k) device { n += k; }
  void add(int k) threadgroup { this->n += k; }
};

kernel void methods_by_space(device Counter *d, constant Counter &c, threadgroup Counter *t, device int *out) {
  Counter local = {1};
  local.add(c.get());
  d->add(local.get());
  t->add(d->get());
  out[0] = t[0].get() + Counter{2}.get();
}

struct Plain {
  int n;
  int get() const { return n; }
  int twice() { return 2 * n; }
};

kernel void methods_of_thread_objects_only(device Plain *d, constant Plain &c, const device Plain *e, device int *out) {
  Plain local = d[0];
  const Plain fixed = c;
  out[0] = local.get() + local.twice() + fixed.get();
  out[1] = fixed.twice();  // error: no matching member function for call to 'twice'
  out[2] = d->twice();  // error: no matching member function for call to 'twice'
}
