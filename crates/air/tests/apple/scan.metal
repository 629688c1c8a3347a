// Instances of MLX's kernels, under the names that mlx.metallib has.
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/scan.h"

instantiate_kernel("contig_scan_inclusive_sum_float32_float32", contiguous_scan, float, float, CumSum<float>, 4, true, false)
instantiate_kernel("contig_scan_exclusive_max_float16_float16", contiguous_scan, half, half, CumMax<half>, 4, false, false)
