// Products of one to eight vectors, or batches of them, with a matrix of a format whose steps are not equal: MXFP4,
// weight = 2^(e - 128) · q, of 16 values.
// Kernels, buffers and grids are those of include/gemv.metal, formats and layouts those of include/quantize.metal.
#include "gemv.metal"

TABLE_FORMATS(INSTANTIATE_GEMV)
