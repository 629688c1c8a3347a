// Shared by all shaders: the width of a simdgroup, reductions over threadgroups, activation functions, instantiation.
//
// Activations are `float` (f32) or `half` (f16); sums, norms and exponentials are always computed in float.
#ifndef METALWORKS_COMMON_METAL
#define METALWORKS_COMMON_METAL

#include <metal_stdlib>
using namespace metal;

// Threads in a simdgroup: on every Apple GPU, and on every back end of ours.
constant constexpr uint SIMD_WIDTH = 32;

// Maximum number of simdgroups per threadgroup, which sizes the scratch memory of reductions. Kernels that may run with
// many simdgroups declare their maximum number of threads, so that a GPU's compiler limits the registers of each thread
// accordingly.
constant constexpr uint MAX_SIMDGROUPS = 32;

// Simdgroups per threadgroup. Across all shaders, a function constant has one name for each index and one index for
// each name.
constant uint SIMDGROUPS [[function_constant(1)]];

// Instantiates a kernel template under a host name:
//   INSTANTIATE("rms_norm_f16", rms_norm, half)
#define INSTANTIATE(name, function, ...) \
    template [[host_name(name)]] [[kernel]] decltype(function<__VA_ARGS__>) function<__VA_ARGS__>;

// Position of a thread in its threadgroup. `simdgroups` should be a function constant: with one simdgroup, reductions
// over the threadgroup need neither memory nor barrier.
struct ThreadPosition {
    uint lane;
    uint simdgroup;
    uint simdgroups;
};

// Sum of `value` over the threadgroup, in every thread. `scratch` has room for MAX_SIMDGROUPS numbers and may be reused
// at once. The order of additions depends on the size of the threadgroup alone: results are the same bits in every run.
inline float threadgroup_sum(float value, threadgroup float* scratch, ThreadPosition position) {
    value = simd_sum(value);
    if (position.simdgroups == 1) {
        return value;
    }
    if (position.lane == 0) {
        scratch[position.simdgroup] = value;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value = simd_sum(position.lane < position.simdgroups ? scratch[position.lane] : 0.0f);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return value;
}

// Maximum of `value` over the threadgroup, in every thread; otherwise like threadgroup_sum.
inline float threadgroup_max(float value, threadgroup float* scratch, ThreadPosition position) {
    value = simd_max(value);
    if (position.simdgroups == 1) {
        return value;
    }
    if (position.lane == 0) {
        scratch[position.simdgroup] = value;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value = simd_max(scratch[position.lane < position.simdgroups ? position.lane : 0]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return value;
}

// Tests for NaN by its bits: fast math may assume that no operation yields NaN.
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

// Maps a float to bits that compare like it as unsigned integers; −0 maps to the bits of 0, and NaN is below all
// others. It tests for NaN by bits, because fast math assumes that there is none.
inline uint order(float value) {
    uint bits = as_type<uint>(value);
    bits = bits == 0x80000000u ? 0u : bits;
    uint ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0u : ordered;
}

// Inverse of `order`.
inline float unorder(uint bits) {
    return as_type<float>(bits & 0x80000000u ? bits & 0x7fffffffu : ~bits);
}

// 1 / (1 + e^-x). If e^-x overflows, the quotient is 0, which is the right limit.
inline float sigmoid(float x) {
    return 1.0f / (1.0f + exp(-x));
}

// x · sigmoid(x)
inline float silu(float x) {
    return x / (1.0f + exp(-x));
}

// x · sigmoid(1.702 · x) · (y + 1), with x at most 7 and y from -7 to 7: the gate of gpt-oss.
inline float clamped_swiglu(float x, float y) {
    x = min(x, 7.0f);
    return x * sigmoid(1.702f * x) * (clamp(y, -7.0f, 7.0f) + 1.0f);
}

// x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³))), the approximation that models are trained with. It uses (1 + tanh(u))/2
// = sigmoid(2u): a tanh could overflow to NaN under fast math.
inline float gelu(float x) {
    return x * sigmoid(1.5957691216f * (x + 0.044715f * x * x * x));
}

#endif
