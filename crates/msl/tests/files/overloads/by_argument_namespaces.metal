// test check
#include <metal_stdlib>

namespace a {
struct S { int x; };
int of_class(S s) { return s.x; }
enum E { first };
enum class Scoped { one };
int of_enum(E) { return 1; }
int of_enum(Scoped) { return 2; }
Scoped operator|(Scoped x, Scoped) { return x; }
template <typename T> struct Box { T value; };
template <typename T> int of_box(Box<T>) { return 3; }
int of_array(const thread S (&)[2]) { return 4; }
int of_function(int (*)(S)) { return 5; }
int of_member(int S::*) { return 6; }
int twice(float x) { return int(x); }
struct Outer { enum Inner { inner }; };
int of_inner(Outer::Inner) { return 7; }
}  // namespace a

namespace b {
struct Derived : a::S {};
struct Twice : Derived {};
struct Holder { a::S s; };
int of_argument(Holder) { return 8; }
template <typename T> int of_argument(a::Box<T>) { return 9; }
template <typename... T> struct Pack {};
int of_argument(Pack<int, a::S>) { return 10; }
}  // namespace b

// As in PyTorch's headers: the library's types are classes of its namespace.
void library(device metal::atomic_uint *count, device float *p) {
  atomic_fetch_add_explicit(count, 1u, metal::memory_order_relaxed);
  threadgroup_barrier(metal::mem_flags::mem_none);
  metal::float2x2 m(1.0f);
  m = transpose(m);
  metal::simdgroup_float8x8 tile;
  simdgroup_load(tile, p);
  // Vectors and numbers are the compiler's own.
  metal::float2 v(p[0], p[1]);
  p[0] = dot(v, v);  // error: use of undeclared identifier 'dot'
  p[1] = abs(p[2]);  // error: use of undeclared identifier 'abs'
}

kernel void k(device int *o, device a::S *s) {
  a::S pair[2];
  a::Box<b::Holder> box;
  o[0] = of_class(*s) + of_class(b::Derived{}) + of_class(b::Twice{});
  o[1] = of_enum(a::first) + of_enum(a::Scoped::one | a::Scoped::one);
  o[2] = of_box(box) + of_argument(box) + of_argument(b::Pack<int, a::S>{});
  o[3] = of_array(pair) + of_function(&a::of_class) + of_member(&a::S::x) + of_inner(a::Outer::inner);
  int b = 1;
  b::Holder held{{b}};  // no variable hides a namespace here
  o[4] = of_argument(held) + b;
  o[5] = twice(1.0f);  // error: use of undeclared identifier 'twice'
}
