// Products of one to eight vectors, or batches of them, with a matrix of a format of four bits whose steps are not equal:
// MXFP4, weight = 2^(e - 128) · 2 E2M1(q), IQ4_NL, weight = d · curve[q], or IQ4_XS, weight = d · scale · curve[q].
// Kernels, buffers and grids are those of include/gemv.metal, formats and layouts those of include/quantize.metal.
#include "gemv.metal"

TABLE_FORMATS(INSTANTIATE_GEMV)
