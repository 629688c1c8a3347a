// Instances of MLX's kernels, under the names that mlx.metallib has.
#include <metal_common>
#include <metal_simdgroup>
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/atomic.h"
#include "mlx/backend/metal/kernels/reduction/ops.h"
#include "mlx/backend/metal/kernels/reduce.h"
#include "mlx/backend/metal/kernels/softmax.h"
#include "mlx/backend/metal/kernels/logsumexp.h"
#include "mlx/backend/metal/kernels/sort.h"

instantiate_kernel("block_softmax_float32", softmax_single_row, float)
instantiate_kernel("looped_softmax_float16", softmax_looped, half)
instantiate_kernel("block_softmax_precise_bfloat16", softmax_single_row, bfloat16_t, float)
instantiate_kernel("block_logsumexp_float32", logsumexp, float)
instantiate_kernel("c_block_sort_float32_float32_bn128_tn4", block_sort, float, float, false, 128, 4)
instantiate_kernel("all_reduce_sumfloat32", all_reduce, float, float, Sum<float>)
instantiate_kernel("row_reduce_simple_sumfloat32", row_reduce_simple, float, float, Sum<float>)
