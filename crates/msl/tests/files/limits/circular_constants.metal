// test check
template <typename T> struct B;
template <typename T> struct A { static constexpr constant int v = B<T>::v + 1; };  // error: constexpr variable 'A<int>::v' must be initialized by a constant expression
template <typename T> struct B { static constexpr constant int v = A<T>::v; };
constant int x = A<int>::v;

struct S { static constexpr constant int own = S::own + 1; };  // error: constexpr variable 'S::own' must be initialized by a constant expression
constant int y = S::own;
template <typename T> struct Fine { static constexpr constant int n = sizeof(Fine<T>::n); };
static_assert(Fine<int>::n == 4, "");

template <int N> struct Outside { static const constant int v; };  // error: constexpr variable 'Outside<1>::v' must be initialized by a constant expression
template <int N> constexpr constant int around = Outside<N>::v + 1;
template <int M> const constant int Outside<M>::v = around<M>;
constant int z = Outside<1>::v;
