// test check
struct A { static const constant int v; };
const constant int A::v = 4;
static_assert(A::v == 4, "");

template <int N> struct B { static const constant int v; static const constant int w[2]; };
template <int M> const constant int B<M>::v = M + 5;
template <int M> const constant int B<M>::w[2] = {B<M>::v, M};
static_assert(B<1>::v == 6 && B<2>::w[0] == 7 && B<2>::w[1] == 2, "");
template <> const constant int B<9>::v = 1;
static_assert(B<9>::v == 1, "");

namespace n { struct C { static const constant int c; }; }
const constant int n::C::c = A::v + 1;
static_assert(n::C::c == 5, "");

struct D { static const constant int d; };  // error: static data member 'D::d' is used before it has a value
kernel void k(device int *o) { o[0] = D::d + B<3>::v; }
struct E { static constexpr constant int e; };  // error: declaration of constexpr static data member 'e' requires an initializer
