// Instances of MLX's kernels, under the names that mlx.metallib has.
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/gemv.h"

instantiate_kernel("gemv_float32_bm4_bn1_sm1_sn32_tm4_tn4_nc0_axpby0", gemv, float, 4, 1, 1, 32, 4, 4, 0, 0)
instantiate_kernel("gemv_float16_bm1_bn8_sm1_sn32_tm4_tn4_nc1_axpby1", gemv, half, 1, 8, 1, 32, 4, 4, 1, 1)
instantiate_kernel("gemv_t_float32_bm1_bn2_sm8_sn4_tm4_tn4_nc0_axpby0", gemv_t, float, 1, 2, 8, 4, 4, 4, 0, 0)
