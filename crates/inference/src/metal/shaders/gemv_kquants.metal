// Products of one to eight vectors, or batches of them, with a matrix of Q4_K, Q5_K (weight = d · scale · q - dmin ·
// minimum, groups of 32) or Q6_K (weight = d · scale · (q - 32), groups of 16), in blocks of 256 weights.
// Kernels, buffers and grids are those of include/gemv.metal, formats and layouts those of include/quantize.metal.
#include "gemv.metal"

K_QUANTS(INSTANTIATE_GEMV)
