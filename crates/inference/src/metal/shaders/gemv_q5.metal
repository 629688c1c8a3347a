// Products of one to eight vectors, or batches of them, with a matrix of Q5_0, weight = d · (q - 16), or Q5_1,
// weight = d · q + m: a scale for 32 weights of five bits.
// Kernels, buffers and grids are those of include/gemv.metal, formats and layouts those of include/quantize.metal.
#include "gemv.metal"

Q5_FORMATS(INSTANTIATE_GEMV)
