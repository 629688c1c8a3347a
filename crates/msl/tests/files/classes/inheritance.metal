// test check
#include <metal_stdlib>
using namespace metal;

struct Base { int a; int f() const { return a; } static int s() { return 1; } typedef int Value; };
struct Middle : Base { int b; int f() const { return Base::f() + b; } };
struct Leaf : public Middle { int c; Leaf(int x) { a = b = c = x; } };
struct Left { int l = 1; };
struct Right { int r = 2; };
struct Both : Left, Right { int sum() const { return l + r; } };
class Hidden : private Base { public: using Base::f; int get() const { return a; } };
template <typename T> struct Generic { T value; T get() const { return value; } };
struct FromTemplate : Generic<float> { float twice() const { return 2 * get() + value; } };
template <typename T> struct Dependent : Generic<T> { T both() const { return this->value + Generic<T>::get(); } };
static_assert(sizeof(Leaf) == 12, "");

int take(Base b) { return b.a; }
int refer(const thread Base &b) { return b.a; }
int point(const device Base *b) { return b->a; }

kernel void inheritance(device int *out, device Leaf *leaves) {
  Leaf leaf(1);
  out[0] = leaf.f() + leaf.Base::f() + Leaf::s() + take(leaf) + refer(leaf) + point(leaves) + leaves[0].b;
  Both both;
  Middle::Value v = both.sum();
  Middle aggregate;
  aggregate.a = 1;
  out[1] = v + aggregate.a;
  Hidden h = Hidden();
  out[2] = h.f() + h.get();
  FromTemplate t;
  t.value = 2.0f;
  Dependent<int> d;
  d.value = 3;
  out[3] = int(t.twice()) + d.both();
  Base sliced = leaf;
  thread Base &base = leaf;
  base.a = sliced.a;
}
