// add_arrays: result[i] = a[i] + b[i].
// buffers  0 a device const float [N]   1 b device const float [N]   2 result device float [N]
// grid     N threads, in threadgroups of any size (dispatchThreads: no partial threadgroup to mask)
// moves    12·N bytes
#include <metal_stdlib>
using namespace metal;

kernel void add_arrays(device const float* a [[buffer(0)]],
                       device const float* b [[buffer(1)]],
                       device float* result [[buffer(2)]],
                       uint index [[thread_position_in_grid]]) {
    result[index] = a[index] + b[index];
}
