// test check
#include <metal_stdlib>
using namespace metal;

template <typename T> using pointer = device T *;
template <typename T, int N = 4> using tile = vec<T, N>;
template <typename T> using scalar = typename T::value_type;
template <bool B, typename T> using only = enable_if_t<B, T>;
struct Holder { using value_type = int; template <typename T> using rebind = vec<T, 2>; };
using Float = float;
using Function = float(float);
typedef float4 Quad;
typedef device float *Pointer;
typedef float Matrix[2][2];
typedef int First, Second[2];
static_assert(is_same_v<tile<float>, float4> && is_same_v<tile<half, 2>, half2>, "");
static_assert(is_same_v<scalar<Holder>, int> && is_same_v<Holder::rebind<half>, half2>, "");
static_assert(is_same_v<only<true, int>, int> && is_same_v<pointer<float>, Pointer>, "");
static_assert(sizeof(Matrix) == 16 && sizeof(Second) == 8 && is_same_v<First, int>, "");
template <typename T> T take(tile<T> v) { return v.x; }
Float twice(Float x) { return 2 * x; }
kernel void k(pointer<float> out, device Quad *q) { out[0] = take(q[0]) + twice(1); Matrix m; m[0][1] = 2; out[1] = m[0][1]; }
