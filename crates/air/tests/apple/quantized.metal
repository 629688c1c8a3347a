// Instances of MLX's kernels, under the names that mlx.metallib has.
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/gemm/gemm.h"
#include "mlx/backend/metal/kernels/quantized_utils.h"
#include "mlx/backend/metal/kernels/quantized.h"

instantiate_kernel("affine_qmv_float_gs_64_b_4_batch_0_pr_0_hgs_0_r_4", affine_qmv, float, 64, 4, false, false, false, 4)
instantiate_kernel("affine_qmv_fast_float16_t_gs_64_b_4_batch_1_pr_0_hgs_0_r_4", affine_qmv_fast, half, 64, 4, true, false, false, 4)
instantiate_kernel("affine_quantize_float_gs_64_b_4", affine_quantize, float, 64, 4)
instantiate_kernel("affine_dequantize_float_gs_64_b_4", affine_dequantize, float, 64, 4)
