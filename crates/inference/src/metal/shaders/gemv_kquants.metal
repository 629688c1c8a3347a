// Products of one to eight vectors, or batches of them, with a matrix of Q4_K, Q5_K (weight = d · scale · q - dmin · minimum,
// groups of 32) or Q6_K (weight = d · scale · (q - 32), groups of 16), in blocks of 256 weights.
// Kernels, buffers and grids are those of include/gemv.metal, the formats and their layouts those of include/tiles.metal.
#include "gemv.metal"

INSTANTIATE_GEMV("q4_K", q4_K)
INSTANTIATE_GEMV("q5_K", q5_K)
INSTANTIATE_GEMV("q6_K", q6_K)
