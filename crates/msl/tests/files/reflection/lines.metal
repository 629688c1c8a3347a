// test reflect
#include <metal_stdlib>

kernel void here() {}
#line 70 "elsewhere.metal"
kernel void there() {}

// reflect:
// {
//   "kernels": [
//     { "line": 4, "name": "here", "static_threadgroup_memory": 0 },
//     { "file": "elsewhere.metal", "line": 70, "name": "there", "static_threadgroup_memory": 0 }
//   ]
// }
