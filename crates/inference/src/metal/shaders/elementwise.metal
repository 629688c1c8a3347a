// elementwise: y[i] = f(x[i]) and y[i] = f(a[i], b[i]), n elements.
//   unary    silu x·sigmoid(x)   gelu x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))
//            relu_squared max(x, 0)²
//   binary   add a + b   multiply a·b   silu_multiply silu(a)·b   gelu_multiply gelu(a)·b
//            sigmoid_gate a·sigmoid(b)
//            clamped_swiglu a·sigmoid(1.702·a)·(b + 1), with a at most 7 and b from -7 to 7
//   scale    x·factor
//   soft_cap factor·tanh(x / factor): numbers stay between −factor and factor
//   copy     converts between f32, f16 and bf16
// buffers  0 x (binary: 0 a, 1 b) device const [n]; then y device [n]; then n, or ScaleParams {n, factor}
//          y may be an input: every element is read before it is written, by the same thread
// grid     ceil(n / (128·S)) threadgroups of S simdgroups; n < 2^31
//          A simdgroup computes 128 consecutive elements, 32 at a time: adjacent lanes are adjacent in memory, and so
//          are the simdgroups. (A threadgroup that strides through its elements reads memory a third as fast on a CPU.)
// moves    one read of each input and one write; nothing is reused: bound by memory
#include "common.metal"

// Elements that a simdgroup computes.
constant constexpr uint PER_SIMDGROUP = 4 * SIMD_WIDTH;

struct ScaleParams {
    uint n;
    float factor;
};

struct Silu {
    static float apply(float x) { return silu(x); }
};

struct Gelu {
    static float apply(float x) { return gelu(x); }
};

struct ReluSquared {
    static float apply(float x) { return max(x, 0.0f) * max(x, 0.0f); }
};

struct Add {
    static float apply(float a, float b) { return a + b; }
};

struct Multiply {
    static float apply(float a, float b) { return a * b; }
};

struct SiluMultiply {
    static float apply(float a, float b) { return silu(a) * b; }
};

struct GeluMultiply {
    static float apply(float a, float b) { return gelu(a) * b; }
};

struct ClampedSwiglu {
    static float apply(float a, float b) { return clamped_swiglu(a, b); }
};

struct SigmoidGate {
    static float apply(float a, float b) { return a * sigmoid(b); }
};

template <typename T, typename Function>
kernel void unary(device const T* x [[buffer(0)]],
                  device T* y [[buffer(1)]],
                  constant uint& n [[buffer(2)]],
                  uint group [[threadgroup_position_in_grid]],
                  uint groups [[simdgroups_per_threadgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]]) {
    uint first = (group * groups + simdgroup) * PER_SIMDGROUP + lane;
    for (uint i = first; i < first + PER_SIMDGROUP; i += SIMD_WIDTH) {
        if (i < n) {
            y[i] = T(Function::apply(float(x[i])));
        }
    }
}

template <typename T, typename Function>
kernel void binary(device const T* a [[buffer(0)]],
                   device const T* b [[buffer(1)]],
                   device T* y [[buffer(2)]],
                   constant uint& n [[buffer(3)]],
                   uint group [[threadgroup_position_in_grid]],
                   uint groups [[simdgroups_per_threadgroup]],
                   uint simdgroup [[simdgroup_index_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]]) {
    uint first = (group * groups + simdgroup) * PER_SIMDGROUP + lane;
    for (uint i = first; i < first + PER_SIMDGROUP; i += SIMD_WIDTH) {
        if (i < n) {
            y[i] = T(Function::apply(float(a[i]), float(b[i])));
        }
    }
}

template <typename T>
kernel void scale(device const T* x [[buffer(0)]],
                  device T* y [[buffer(1)]],
                  constant ScaleParams& p [[buffer(2)]],
                  uint group [[threadgroup_position_in_grid]],
                  uint groups [[simdgroups_per_threadgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]]) {
    uint first = (group * groups + simdgroup) * PER_SIMDGROUP + lane;
    for (uint i = first; i < first + PER_SIMDGROUP; i += SIMD_WIDTH) {
        if (i < p.n) {
            y[i] = T(float(x[i]) * p.factor);
        }
    }
}

template <typename T>
kernel void soft_cap(device const T* x [[buffer(0)]],
                     device T* y [[buffer(1)]],
                     constant ScaleParams& p [[buffer(2)]],
                     uint group [[threadgroup_position_in_grid]],
                     uint groups [[simdgroups_per_threadgroup]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]]) {
    uint first = (group * groups + simdgroup) * PER_SIMDGROUP + lane;
    for (uint i = first; i < first + PER_SIMDGROUP; i += SIMD_WIDTH) {
        if (i < p.n) {
            y[i] = T(p.factor * precise::tanh(float(x[i]) / p.factor));
        }
    }
}

template <typename From, typename To>
kernel void copy(device const From* x [[buffer(0)]],
                 device To* y [[buffer(1)]],
                 constant uint& n [[buffer(2)]],
                 uint group [[threadgroup_position_in_grid]],
                 uint groups [[simdgroups_per_threadgroup]],
                 uint simdgroup [[simdgroup_index_in_threadgroup]],
                 uint lane [[thread_index_in_simdgroup]]) {
    uint first = (group * groups + simdgroup) * PER_SIMDGROUP + lane;
    for (uint i = first; i < first + PER_SIMDGROUP; i += SIMD_WIDTH) {
        if (i < n) {
            y[i] = To(float(x[i]));
        }
    }
}

INSTANTIATE("silu_f32", unary, float, Silu)
INSTANTIATE("silu_f16", unary, half, Silu)
INSTANTIATE("gelu_f32", unary, float, Gelu)
INSTANTIATE("gelu_f16", unary, half, Gelu)
INSTANTIATE("relu_squared_f32", unary, float, ReluSquared)
INSTANTIATE("relu_squared_f16", unary, half, ReluSquared)

INSTANTIATE("add_f32", binary, float, Add)
INSTANTIATE("add_f16", binary, half, Add)
INSTANTIATE("multiply_f32", binary, float, Multiply)
INSTANTIATE("multiply_f16", binary, half, Multiply)
INSTANTIATE("silu_multiply_f32", binary, float, SiluMultiply)
INSTANTIATE("silu_multiply_f16", binary, half, SiluMultiply)
INSTANTIATE("gelu_multiply_f32", binary, float, GeluMultiply)
INSTANTIATE("gelu_multiply_f16", binary, half, GeluMultiply)
INSTANTIATE("clamped_swiglu_f32", binary, float, ClampedSwiglu)
INSTANTIATE("clamped_swiglu_f16", binary, half, ClampedSwiglu)
INSTANTIATE("sigmoid_gate_f32", binary, float, SigmoidGate)
INSTANTIATE("sigmoid_gate_f16", binary, half, SigmoidGate)

INSTANTIATE("scale_f32", scale, float)
INSTANTIATE("scale_f16", scale, half)

INSTANTIATE("soft_cap_f32", soft_cap, float)
INSTANTIATE("soft_cap_f16", soft_cap, half)

INSTANTIATE("copy_f32_f32", copy, float, float)
INSTANTIATE("copy_f16_f16", copy, half, half)
INSTANTIATE("copy_f32_f16", copy, float, half)
INSTANTIATE("copy_f16_f32", copy, half, float)
INSTANTIATE("copy_bf16_f32", copy, bfloat, float)
INSTANTIATE("copy_bf16_f16", copy, bfloat, half)
