// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> struct Kind { static constexpr constant int value = 0; };
template <> struct Kind<float> { static constexpr constant int value = 1; };
template <typename T> struct Kind<device T *> { static constexpr constant int value = 2; };
template <typename T> struct Kind<const T> { static constexpr constant int value = 3; };
template <typename T, int N> struct Kind<vec<T, N>> { static constexpr constant int value = 4; };
template <typename T> struct Kind<vec<T, 4>> { static constexpr constant int value = 5; };
template <typename T, size_t N> struct Kind<T[N]> { static constexpr constant int value = 6; };
template <typename R, typename... A> struct Kind<R(A...)> { static constexpr constant int value = 7; };
template <typename T, typename U> struct Pair { static constexpr constant int value = 0; };
template <typename T> struct Pair<T, T> { static constexpr constant int value = 1; };
template <typename T> struct Pair<T, float> { static constexpr constant int value = 2; };
template <> struct Pair<float, float> { static constexpr constant int value = 3; };
template <int N, bool = (N > 2)> struct Big { static constexpr constant int value = 0; };
template <int N> struct Big<N, true> { static constexpr constant int value = 1; };
template <typename... T> struct Count;
template <> struct Count<> { static constexpr constant int value = 0; };
template <typename T, typename... R> struct Count<T, R...> { static constexpr constant int value = 1 + Count<R...>::value; };
template <typename T, typename = void> struct Has : false_type {};
template <typename T> struct Has<T, enable_if_t<sizeof(T) == 4>> : true_type {};
template <typename T> struct Members { int f() const { return 1; } };
template <> int Members<float>::f() const { return 2; }
static_assert(Kind<int>::value == 0, "");
static_assert(Kind<float>::value == 1, "");
static_assert(Kind<device int *>::value == 2, "");
static_assert(Kind<const int>::value == 3, "");
static_assert(Kind<float2>::value == 4, "");
static_assert(Kind<half4>::value == 5, "");
static_assert(Kind<int[3]>::value == 6, "");
static_assert(Kind<void(int, float)>::value == 7, "");
static_assert(Pair<int, int>::value == 1, "");
static_assert(Pair<int, float>::value == 2, "");
static_assert(Pair<float, float>::value == 3, "");
static_assert(Big<2>::value == 0, "");
static_assert(Big<3>::value == 1, "");
static_assert(Count<>::value == 0, "");
static_assert(Count<int, float, half>::value == 3, "");
static_assert(Has<float>::value, "");
static_assert(!Has<half>::value, "");
template struct Members<int>;
kernel void k(device int *out) { out[0] = Members<int>().f() + Members<float>().f(); }
