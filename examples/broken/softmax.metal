// A kernel with three mistakes, for `metalworks check`.
#include <metal_stdlib>
using namespace metal;

kernel void softmax(device const float* x [[buffer(0)]],
                    device float*       y [[buffer(1)]],
                    constant uint&      n [[buffer(1)]],
                    uint2 lane [[thread_index_in_simdgroup]]) {
    float m = simd_max(x[lane.x]);
    y[lane.x] = exp(x[lane.x] - m) * simd_summ(m);
}
