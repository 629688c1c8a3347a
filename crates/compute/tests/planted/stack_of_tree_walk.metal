// A walk over a tree pushes more nodes than its stack holds.
//
// dispatch: 1 x 1
// buffer 0: i32[64] iota
// buffer 1: u32[1] zeros
#include <metal_stdlib>
using namespace metal;

kernel void k(device const int *children [[buffer(0)]], device uint *y [[buffer(1)]]) {
    int stack[4];
    int top = 0;
    uint visited = 0;
    stack[top++] = 1;
    while (top > 0) {
        int node = stack[--top];  // finding: out-of-bounds-read?
        visited += children[node] == node;
        if (node * 2 + 1 >= 64) continue;
#ifdef FIXED
        if (top + 2 > 4) continue;
#endif
        stack[top++] = node * 2;  // finding: out-of-bounds-write?
        stack[top++] = node * 2 + 1;  // finding: out-of-bounds-write
    }
    y[0] = visited;
}
