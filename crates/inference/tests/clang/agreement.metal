// A call of every function that `include` declares for clang. Our front end and clang must both accept this file, so
// the two sets of declarations agree in names, numbers of arguments, and types of results.
#include <metal_stdlib>
using namespace metal;

// Asserts the type of an expression.
#define IS(T, ...) static_assert(is_same<T, decltype(__VA_ARGS__)>::value, "type");

// Floating-point functions, for one type.
#define ALIKE_1(T, x) \
    IS(T, abs(x)) IS(T, acos(x)) IS(T, acosh(x)) IS(T, asin(x)) IS(T, asinh(x)) IS(T, atan(x)) IS(T, atanh(x)) \
    IS(T, ceil(x)) IS(T, cos(x)) IS(T, cosh(x)) IS(T, cospi(x)) IS(T, exp(x)) IS(T, exp10(x)) IS(T, exp2(x)) \
    IS(T, fabs(x)) IS(T, floor(x)) IS(T, fract(x)) IS(T, log(x)) IS(T, log10(x)) IS(T, log2(x)) IS(T, rint(x)) \
    IS(T, round(x)) IS(T, rsqrt(x)) IS(T, sin(x)) IS(T, sinh(x)) IS(T, sinpi(x)) IS(T, sqrt(x)) IS(T, tan(x)) \
    IS(T, tanh(x)) IS(T, tanpi(x)) IS(T, trunc(x)) IS(T, saturate(x)) IS(T, sign(x))
#define ALIKE_2(T, x) \
    IS(T, atan2(x, x)) IS(T, copysign(x, x)) IS(T, divide(x, x)) IS(T, fdim(x, x)) IS(T, fmax(x, x)) \
    IS(T, fmin(x, x)) IS(T, fmod(x, x)) IS(T, max(x, x)) IS(T, min(x, x)) IS(T, pow(x, x)) IS(T, powr(x, x)) \
    IS(T, sincos(x, x)) IS(T, step(x, x))
#define ALIKE_3(T, x) \
    IS(T, fma(x, x, x)) IS(T, max3(x, x, x)) IS(T, median3(x, x, x)) IS(T, min3(x, x, x)) IS(T, clamp(x, x, x)) \
    IS(T, mix(x, x, x)) IS(T, smoothstep(x, x, x))
#define FLOATING(T, I, B) \
    { \
        T x = T(0.5f); \
        ALIKE_1(T, x) ALIKE_2(T, x) ALIKE_3(T, x) \
        IS(I, ilogb(x)) IS(T, ldexp(x, I(1))) IS(T, select(x, x, B(true))) \
        IS(B, isfinite(x)) IS(B, isinf(x)) IS(B, isnan(x)) IS(B, signbit(x)) \
        y[0] += float(Width<T>::of(exp(x))); \
    }

// Integer functions, for one type.
#define INTEGER(T, B) \
    { \
        T x = T(1); \
        IS(T, abs(x)) IS(T, clz(x)) IS(T, ctz(x)) IS(T, popcount(x)) IS(T, reverse_bits(x)) \
        IS(T, addsat(x, x)) IS(T, hadd(x, x)) IS(T, max(x, x)) IS(T, min(x, x)) IS(T, mulhi(x, x)) IS(T, rotate(x, x)) \
        IS(T, subsat(x, x)) IS(T, clamp(x, x, x)) IS(T, madhi(x, x, x)) IS(T, max3(x, x, x)) IS(T, min3(x, x, x)) \
        IS(T, extract_bits(x, 1u, 2u)) IS(T, insert_bits(x, x, 1u, 2u)) IS(T, select(x, x, B(true))) \
        y[0] += float(Width<T>::of(max(x, x))); \
    }

// Turns a value of any type into a number, so results are used.
template <typename T> struct Width {
    static float of(T) { return float(sizeof(T)); }
};

kernel void numbers(device float* y [[buffer(0)]]) {
    FLOATING(float, int, bool)
    FLOATING(float2, int2, bool2)
    FLOATING(float3, int3, bool3)
    FLOATING(float4, int4, bool4)
    FLOATING(half, int, bool)
    FLOATING(half4, int4, bool4)
    INTEGER(char, bool)
    INTEGER(uchar, bool)
    INTEGER(short, bool)
    INTEGER(ushort, bool)
    INTEGER(int, bool)
    INTEGER(uint, bool)
    INTEGER(long, bool)
    INTEGER(ulong, bool)
    INTEGER(int2, bool2)
    INTEGER(uint3, bool3)
    INTEGER(ulong4, bool4)
    INTEGER(uchar4, bool4)
    IS(bool, all(bool4(true)))
    IS(bool, any(bool2(false)))
    IS(float, fast::exp(1.0f))
    IS(float4, precise::tanh(float4(1.0f)))
    IS(float, precise::sin(1.0f) + precise::cos(1.0f) + precise::tan(1.0f))
    y[1] = FLT_MAX + FLT_MIN + FLT_EPSILON + M_PI_F + float(HALF_MAX);
}

kernel void vectors(device float* y [[buffer(0)]]) {
    float4 x = float4(1.0f, 2.0f, 3.0f, 4.0f);
    half3 h = half3(1.0f);
    IS(float, dot(x, x))
    IS(float, length(x.xy))
    IS(float, distance(x.xyz, x.xyz))
    IS(float2, normalize(x.zw))
    IS(half, dot(h, h))
    IS(half3, cross(h, h))
    IS(float3, cross(x.xyz, x.xyz))
    IS(float4, float4(x.xy, 3.0f, 4.0f))
    IS(float4, (vec<float, 4>)(x))
    IS(uint2, uint2(x.xy))
    IS(bfloat4, bfloat4(x))
    IS(float4, 2.0f * x + x / 3.0f - x)
    IS(uint, as_type<uint>(x.x))
    IS(ushort2, as_type<ushort2>(1u))
    x.xz = x.zx;
    x[1] = 1.0f;
    y[0] = x.x + x.w + float(h.z);
}

template <typename T>
inline float across(T x) {
    IS(T, simd_broadcast(x, 1)) IS(T, simd_broadcast_first(x)) IS(T, simd_shuffle(x, 1)) IS(T, simd_shuffle_down(x, 1))
    IS(T, simd_shuffle_up(x, 1)) IS(T, simd_shuffle_rotate_down(x, 1)) IS(T, simd_shuffle_rotate_up(x, 1))
    IS(T, simd_shuffle_xor(x, 1)) IS(T, simd_max(x)) IS(T, simd_min(x)) IS(T, simd_product(x)) IS(T, simd_sum(x))
    IS(T, simd_prefix_exclusive_product(x)) IS(T, simd_prefix_exclusive_sum(x)) IS(T, simd_prefix_inclusive_product(x))
    IS(T, simd_prefix_inclusive_sum(x))
    return Width<T>::of(simd_sum(x));
}

template <typename T>
inline float across_integers(T x) {
    IS(T, simd_and(x)) IS(T, simd_or(x)) IS(T, simd_xor(x))
    return across(x);
}

kernel void simdgroups(device float* y [[buffer(0)]]) {
    y[0] = across(1.0f) + across(half(1.0f)) + across(float4(1.0f)) + across_integers(1) + across_integers(1u) +
           across_integers(uchar(1)) + across_integers(short(1)) + across_integers(uint2(1));
    if (simd_all(y[0] > 1.0f) && simd_any(y[0] > 2.0f) && simd_is_first()) {
        y[1] = 1.0f;
    }
    simdgroup_barrier(mem_flags::mem_none);
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
}

template <typename T>
inline void products(device T* y, threadgroup T* staged) {
    simdgroup_matrix<T, 8, 8> a = make_filled_simdgroup_matrix<T, 8, 8>(T(1.0f)), b(T(2.0f));
    simdgroup_matrix<T, 8, 8> c = make_diagonal_simdgroup_matrix<T, 8, 8>(T(1.0f));
    simdgroup_matrix<float, 8, 8> sums = make_filled_simdgroup_matrix<float, 8>(0.0f);
    simdgroup_load(a, y);
    simdgroup_load(b, staged, 8, ulong2(0), true);
    simdgroup_multiply(c, a, b);
    simdgroup_multiply_accumulate(sums, a, b, sums);
    simdgroup_store(c, staged, 8);
    simdgroup_store(c, y);
    y[0] = T(sums.thread_elements()[0]);
}

kernel void matrices(device half* x [[buffer(0)]], device float* y [[buffer(1)]], device bfloat* z [[buffer(2)]]) {
    threadgroup half halves[64];
    threadgroup float floats[64];
    threadgroup bfloat bfloats[64];
    products(x, halves);
    products(y, floats);
    products(z, bfloats);
}

inline void atomics(device atomic_uint* u, device atomic_int* i, device atomic_float* f, device atomic_bool* b,
                    threadgroup atomic_uint* own) {
    uint expected = 1;
    atomic_store_explicit(own, 0u, memory_order_relaxed);
    if (atomic_compare_exchange_weak_explicit(u, &expected, 1u, memory_order_relaxed, memory_order_relaxed)) {
        atomic_store_explicit(b, atomic_load_explicit(b, memory_order_relaxed), memory_order_relaxed);
    }
    IS(uint, atomic_exchange_explicit(u, 1u, memory_order_relaxed))
    IS(int, atomic_fetch_add_explicit(i, 1, memory_order_relaxed))
    IS(int, atomic_fetch_sub_explicit(i, 1, memory_order_relaxed))
    IS(uint, atomic_fetch_and_explicit(own, 1u, memory_order_relaxed))
    IS(uint, atomic_fetch_max_explicit(own, 1u, memory_order_relaxed))
    IS(uint, atomic_fetch_min_explicit(u, 1u, memory_order_relaxed))
    IS(uint, atomic_fetch_or_explicit(u, 1u, memory_order_relaxed))
    IS(uint, atomic_fetch_xor_explicit(u, 1u, memory_order_relaxed))
    IS(float, atomic_fetch_add_explicit(f, 1.0f, memory_order_relaxed))
}
