// Shared by all shaders: the width of a simdgroup, reductions over threadgroups, activation functions, instantiation.
//
// Activations are `float` (f32) or `half` (f16); sums, norms and exponentials are always computed in float.
#ifndef METALWORKS_COMMON_METAL
#define METALWORKS_COMMON_METAL

#include <metal_stdlib>
using namespace metal;

// Threads in a simdgroup, on every Apple GPU and on every back end of ours.
constant constexpr uint SIMD_WIDTH = 32;

// Simdgroups in a threadgroup at most: the scratch memory that reductions take. Kernels that may have many simdgroups say how
// many threads there are at most, so that a GPU's compiler gives each thread no more registers than there are for all.
constant constexpr uint MAX_SIMDGROUPS = 32;

// Simdgroups in a threadgroup. In all shaders an index of a function constant has one name, and a name one index.
constant uint SIMDGROUPS [[function_constant(1)]];

// Instantiates a kernel template under a host name:
//   INSTANTIATE("rms_norm_f16", rms_norm, half)
#define INSTANTIATE(name, function, ...) \
    template [[host_name(name)]] [[kernel]] decltype(function<__VA_ARGS__>) function<__VA_ARGS__>;

// A thread's position in its threadgroup. `simdgroups` is best a function constant: with one simdgroup, reductions over
// the threadgroup need neither memory nor barrier.
struct ThreadPosition {
    uint lane;
    uint simdgroup;
    uint simdgroups;
};

// The sum of `value` over the threadgroup, in every thread. `scratch` has room for MAX_SIMDGROUPS numbers and may be
// used again at once. The order of the additions depends on the size of the threadgroup alone: results repeat bit for bit.
inline float threadgroup_sum(float value, threadgroup float* scratch, ThreadPosition place) {
    value = simd_sum(value);
    if (place.simdgroups == 1) {
        return value;
    }
    if (place.lane == 0) {
        scratch[place.simdgroup] = value;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value = simd_sum(place.lane < place.simdgroups ? scratch[place.lane] : 0.0f);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return value;
}

// The largest `value` of the threadgroup, in every thread; otherwise like threadgroup_sum.
inline float threadgroup_max(float value, threadgroup float* scratch, ThreadPosition place) {
    value = simd_max(value);
    if (place.simdgroups == 1) {
        return value;
    }
    if (place.lane == 0) {
        scratch[place.simdgroup] = value;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value = simd_max(scratch[place.lane < place.simdgroups ? place.lane : 0]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return value;
}

// NaN by its bits: fast mathematics may assume that no operation yields one.
template <typename T>
T not_a_number();
template <>
inline float not_a_number<float>() {
    return as_type<float>(0x7fc00000u);
}
template <>
inline half not_a_number<half>() {
    return as_type<half>(ushort(0x7e00));
}

// Bits that compare like the number, as unsigned; −0 is 0, and NaN is below all others. Told by bits, because fast
// mathematics knows no NaN.
inline uint order(float value) {
    uint bits = as_type<uint>(value);
    bits = bits == 0x80000000u ? 0u : bits;
    uint ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0u : ordered;
}

// The number that `order` made the bits of.
inline float unorder(uint bits) {
    return as_type<float>(bits & 0x80000000u ? bits & 0x7fffffffu : ~bits);
}

// 1 / (1 + e^-x). Where e^-x overflows, the quotient is 0, as it should be.
inline float sigmoid(float x) {
    return 1.0f / (1.0f + exp(-x));
}

// x · sigmoid(x)
inline float silu(float x) {
    return x / (1.0f + exp(-x));
}

// x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³))), the approximation that models are trained with.
// (1 + tanh(u))/2 is sigmoid(2u), and without tanh nothing overflows to NaN under fast mathematics.
inline float gelu(float x) {
    return x * sigmoid(1.5957691216f * (x + 0.044715f * x * x * x));
}

#endif
