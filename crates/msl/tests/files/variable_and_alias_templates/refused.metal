// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> using pointer = device T *;
template <typename T> constexpr constant int size = sizeof(T);
template <typename T> using type_of = typename T::type;  // error: no type named 'type' in 'float'
pointer<int, int> f();  // error: too many template arguments
pointer g();  // error: template arguments
constant int a = size<>;  // error: too few template arguments
constant int b = size<3>;  // error: template argument
type_of<float> h();
using again = int;
using again = float;  // error: redefinition
template <typename T> int uninitialized;  // error: constant address space
