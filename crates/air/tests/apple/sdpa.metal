// Instances of MLX's kernels, under the names that mlx.metallib has.
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/sdpa_vector.h"

instantiate_kernel("sdpa_vector_float_64_64", sdpa_vector, float, 64, 64)
instantiate_kernel("sdpa_vector_2pass_1_float_128_128", sdpa_vector_2pass_1, float, 128, 128)
