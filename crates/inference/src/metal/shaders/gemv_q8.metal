// Products of one to eight vectors, or batches of them, with a matrix of Q8_0, weight = d · q: a scale for 32 signed
// bytes.
// Kernels, buffers and grids are those of include/gemv.metal, format and layouts those of include/quantize.metal.
//
// On one thread of a CPU with AVX-512 a matrix of 4096 × 4096 streams at 24 GB/s, the speed of a copy: two instructions
// turn 16 bytes into floats, one multiplies and adds. Reading GGUF's blocks as they are is five times slower.
#include "gemv.metal"

Q8_FORMATS(INSTANTIATE_GEMV)
