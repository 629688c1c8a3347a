// A bitonic sort of indices compares the elements that pad it to a power of two.
//
// dispatch: 1 x 128
// buffer 0: f32[100] ones
// buffer 1: u32[100] zeros
// buffer 2: u32 = 100
#include <metal_stdlib>
using namespace metal;

kernel void k(device const float *x [[buffer(0)]], device uint *i [[buffer(1)]], constant uint &n [[buffer(2)]], uint t [[thread_position_in_threadgroup]]) {
    threadgroup uint idx[128];
    idx[t] = t;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint size = 2; size <= 128; size *= 2) for (uint j = size / 2; j > 0; j /= 2) {
        uint o = t ^ j;
        if (o > t) {
            bool up = (t & size) == 0;
            uint a = idx[t], b = idx[o];
#ifdef FIXED
            bool swap = up ? (a >= n || (b < n && x[a] > x[b])) : (b >= n || (a < n && x[a] < x[b]));
#else
            bool swap = up ? (x[a] > x[b]) : (x[a] < x[b]);  // finding: out-of-bounds-read?, out-of-bounds-read
#endif
            if (swap) { idx[t] = b; idx[o] = a; }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (t < n) i[t] = idx[t];
}
