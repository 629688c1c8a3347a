// Instances of MLX's kernels, under the names that mlx.metallib has.
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/steel/gemm/gemm.h"
#include "mlx/backend/metal/kernels/steel/gemm/kernels/steel_gemm_fused.h"

instantiate_kernel("steel_gemm_fused_nn_float32_float32_bm64_bn64_bk16_wm2_wn2", gemm, float, 64, 64, 16, 2, 2, false, false, float)
instantiate_kernel("steel_gemm_fused_nt_float16_float16_bm64_bn64_bk16_wm2_wn2", gemm, half, 64, 64, 16, 2, 2, false, true, float)
