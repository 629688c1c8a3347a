// test check
// Explicit specializations are found by their arguments, however these are written.
#include <metal_stdlib>
using namespace metal;

enum Kind { first, second };
template <typename T, int N = 2> struct A { static constant constexpr int value = 1; };
template <typename T> struct A<T, 5> { static constant constexpr int value = 2; };
template <> struct A<int, 5> { static constant constexpr int value = 3; };
template <> struct A<float> { static constant constexpr int value = 4; };
template <> struct A<half, 1 + 1>;
template <> struct A<half, second + 1> { static constant constexpr int value = 5; };
template <> struct A<device int *, true> { static constant constexpr int value = 6; };
typedef int Whole;
static_assert(A<int>::value == 1 && A<half, 5>::value == 2 && A<Whole, 0x5>::value == 3, "");
static_assert(A<float, 2>::value == 4 && A<half>::value == 5 && A<device Whole *, 1>::value == 6, "");
static_assert(A<thread int *, 1>::value == 1, "");

template <typename... T> struct Count { static constant constexpr int value = sizeof...(T); };
template <> struct Count<> { static constant constexpr int value = -1; };
template <> struct Count<int, float> { static constant constexpr int value = -2; };
static_assert(Count<>::value == -1 && Count<int, float>::value == -2 && Count<float, int>::value == 2, "");

template <int N> constant constexpr int square = N * N;
template <> constant constexpr int square<3> = -9;
static_assert(square<2> == 4 && square<1 + 2> == -9, "");

template <> struct A<short, 5> {};
template <> struct A<short, 5>;
template <> struct A<short, 4 + 1> {};  // error: redefinition of 'A<short, 5>'
template <> constant constexpr int square<2 + 1> = 1;  // error: redefinition of 'square<3>'
