#include <metal_stdlib>
using namespace metal;

constant uint FACTOR [[function_constant(0)]];

// z[i] = x[i] + y[i]
kernel void add(device const uint *x [[buffer(0)]], device const uint *y [[buffer(1)]], device uint *z [[buffer(2)]],
                uint i [[thread_position_in_grid]]) {
    z[i] = x[i] + y[i];
}

// y[i] = FACTOR * x[i] + offset
kernel void scale(device const uint *x [[buffer(0)]], device uint *y [[buffer(1)]], constant uint &offset [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
    y[i] = FACTOR * x[i] + offset;
}

// sums[g] = the sum of the 128 numbers of threadgroup g, in memory of the kernel's own
kernel void reduce(device const uint *x [[buffer(0)]], device uint *sums [[buffer(1)]],
                   uint i [[thread_position_in_grid]], uint t [[thread_position_in_threadgroup]],
                   uint g [[threadgroup_position_in_grid]]) {
    threadgroup uint scratch[128];
    scratch[t] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint rest = 64; rest > 0; rest /= 2) {
        if (t < rest) {
            scratch[t] += scratch[t + rest];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (t == 0) {
        sums[g] = scratch[0];
    }
}

// target[i] = 3 * target[i] + source[i] + addend
kernel void mix(device const uint *source [[buffer(0)]], device uint *target [[buffer(1)]],
                constant uint &addend [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    target[i] = 3 * target[i] + source[i] + addend;
}

// Appends a number to a list whose first number is its length; with one thread.
kernel void append(device uint *list [[buffer(0)]], constant uint &number [[buffer(1)]]) {
    list[++list[0]] = number;
}

// Turns numbers around, by way of threadgroup memory that the host gives.
kernel void turn(device uint *x [[buffer(0)]], threadgroup uint *scratch [[threadgroup(0)]],
                 uint t [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
    scratch[t] = x[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[t] = scratch[n - 1 - t];
}

// 20 KiB of threadgroup memory
kernel void hoard(device uint *x [[buffer(0)]], uint t [[thread_position_in_threadgroup]]) {
    threadgroup uint scratch[5120];
    for (uint i = t; i < 5120; i += 32) {
        scratch[5119 - i] = x[i];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = t; i < 5120; i += 32) {
        x[i] = scratch[i];
    }
}
