// Products of one to eight vectors, or batches of them, with a matrix of Q2_K (weight = d · scale · q - dmin · minimum) or
// Q3_K (weight = d · scale · (q - 4)), groups of 16 in blocks of 256 weights.
// Kernels, buffers and grids are those of include/gemv.metal, formats and layouts those of include/quantize.metal.
#include "gemv.metal"

LOW_BITS(INSTANTIATE_GEMV)
