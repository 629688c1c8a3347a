// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> struct Box { T value; };
template <typename T, int N> struct Tile { T data[N]; };  // error: array size is negative
template <typename T> struct Declared;
template <typename T, typename U> struct Pair {};
template <typename T> struct Pair<T, int> {};
template <typename T> struct Pair<int, T> {};
template <typename T> struct Asserts { static_assert(sizeof(T) == 4, "four bytes"); };  // error: four bytes
template <typename T> struct Uses { typename T::type x; };  // error: type
template <typename T> struct Box { T other; };  // error: redefinition of 'Box'
struct Plain {};

kernel void refused(device int *out) {
  Box b;  // error: template arguments
  Box<> c;  // error: too few template arguments
  Box<int, int> d;  // error: too many template arguments
  Box<3> e;  // error: template argument
  Tile<int, float> f;  // error: template argument
  Tile<int> g;  // error: too few template arguments
  Tile<int, out[0]> h;  // error: not a constant expression
  Declared<int> i;  // error: incomplete type 'Declared<int>'
  Pair<int, int> j;  // error: ambiguous partial specializations
  Asserts<half> k;
  Uses<Plain> l;
  Missing<int> n;  // error: Missing
  Box<Missing> o;  // error: Missing
  Tile<float, -1> p;
}
template <typename T> struct Bad { Unknown u; T t; };  // error: unknown type name 'Unknown'
template <typename T> struct BadMethod { int f() { return missing; } };  // error: undeclared identifier 'missing'
template <> struct Missing2<int> {};  // error: Missing2
template <typename T> struct Box<T> {};  // error: specializ
