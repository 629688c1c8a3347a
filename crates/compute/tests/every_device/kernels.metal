#include <metal_stdlib>
using namespace metal;

// x[i] += step
kernel void add(device uint *x [[buffer(0)]], constant uint &step [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    x[i] += step;
}

// y[i] = x[i] * factor
kernel void scale(device const uint *x [[buffer(0)]], device uint *y [[buffer(1)]], constant uint &factor [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
    y[i] = x[i] * factor;
}

// Appends a number to a list whose first number is its length; with one thread.
kernel void append(device uint *list [[buffer(0)]], constant uint &number [[buffer(1)]]) {
    list[++list[0]] = number;
}

// Each thread of a grid says that it was there, and in which threadgroup.
kernel void place(device uint4 *places [[buffer(0)]], uint3 position [[thread_position_in_grid]],
                  uint3 grid [[threads_per_grid]], uint3 group [[threadgroup_position_in_grid]],
                  uint3 size [[threads_per_threadgroup]]) {
    uint i = (position.z * grid.y + position.y) * grid.x + position.x;
    places[i] += uint4(1, group.x + 100 * group.y + 10000 * group.z, size.x * size.y * size.z, grid.x * grid.y * grid.z);
}

// The sum of the numbers of each threadgroup, by way of memory that the host gives.
kernel void sum(device const uint *x [[buffer(0)]], device uint *sums [[buffer(1)]],
                threadgroup uint *scratch [[threadgroup(0)]], uint i [[thread_position_in_grid]],
                uint t [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]],
                uint g [[threadgroup_position_in_grid]]) {
    scratch[t] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint half_size = n / 2; half_size > 0; half_size /= 2) {
        if (t < half_size) {
            scratch[t] += scratch[t + half_size];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (t == 0) {
        sums[g] = scratch[0];
    }
}

struct Table {
    uint numbers[1000];
};

// As many bytes as set_bytes takes, nearly.
kernel void pick(device uint *y [[buffer(0)]], constant Table &table [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    y[i] = table.numbers[999 - i];
}

constant bool USE [[function_constant(0)]];
constant bool USE_ANY = is_function_constant_defined(USE) ? USE : false;

// y[i] = i, and with USE the numbers of x backwards. Only then are x and scratch used.
kernel void backwards(device uint *y [[buffer(0)]], device const uint *x [[buffer(1)]],
                      threadgroup uint *scratch [[threadgroup(0)]], uint i [[thread_position_in_threadgroup]],
                      uint n [[threads_per_threadgroup]]) {
    y[i] = i;
    if (USE_ANY) {
        scratch[i] = x[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        y[i] = scratch[n - 1 - i];
    }
}
