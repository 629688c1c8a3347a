// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> T f(T x) { return x; }
template <typename U> U f(U x) { return x; }  // error: redefinition of 'f'
template <typename T> T g(T x) { return x; }
template <> float g<float>(float x) { return x; }
template <> float g<float>(float x) { return x; }  // error: redefinition of 'g
template <> int h<int>(int x) { return x; }  // error: 'h'
template <typename T, typename T> void i();  // error: redefinition of 'T'
template <> float g<half>(half x);  // error: g
