// test check
// options: --std metal4.0
#include <metal_stdlib>
using namespace metal;

struct Inner { bool flag; };
struct Descriptor {
  enum class mode { first, second };
  constexpr Descriptor(int m, int n = 2, mode k = mode::first) : m(m), n(n), k(k), inner{m > 1} {}
  int m;
  int n;
  mode k;
  Inner inner;
};

template <Descriptor D, typename Scope> struct Operation {
  static constexpr constant int rows = D.m;
  static constexpr constant Descriptor descriptor = D;
  int columns() { return D.n + descriptor.n; }
  float values[D.m];
};
template <auto D> struct Other { typedef int type; };
struct Scope {};

template <typename T, Descriptor D> struct Same { static constexpr constant bool value = false; };
template <Descriptor D> struct Same<Operation<D, Scope>, D> { static constexpr constant bool value = true; };

template <int M> void in_template(device int *x) {
  constexpr auto d = Descriptor(M, M + 1);
  Operation<d, Scope> op;
  static_assert(op.rows == M, "a constant");
  x[M] = op.columns();
}

kernel void use(device int *x) {
  constexpr auto d = Descriptor(1, 2, Descriptor::mode::second);
  Operation<d, Scope> a;
  Operation<Descriptor(1, 2, Descriptor::mode::second), Scope> b;
  Operation<Descriptor(1), Scope> c;
  static_assert(is_same_v<decltype(a), decltype(b)>, "equal values are one type");
  static_assert(!is_same_v<decltype(a), decltype(c)>, "different values are two");
  static_assert(Operation<Descriptor(7), Scope>::rows == 7, "a member");
  static_assert(Same<Operation<d, Scope>, d>::value && !Same<int, d>::value, "specializations");
  x[0] = a.columns() + b.columns() + c.columns() + sizeof(a.values);
  in_template<3>(x);
  int n = x[0];
  Operation<Descriptor(n), Scope> e;  // error: non-type template argument is not a constant expression
  Operation<3, Scope> f;  // error: value of type 'int' is not implicitly convertible to 'Descriptor'
}
