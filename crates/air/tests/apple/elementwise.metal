// Instances of MLX's kernels, under the names that mlx.metallib has.
#include "mlx/backend/metal/kernels/utils.h"
#include "mlx/backend/metal/kernels/unary_ops.h"
#include "mlx/backend/metal/kernels/unary.h"
#include "mlx/backend/metal/kernels/binary_ops.h"
#include "mlx/backend/metal/kernels/binary.h"
#include "mlx/backend/metal/kernels/ternary_ops.h"
#include "mlx/backend/metal/kernels/ternary.h"
#include "mlx/backend/metal/kernels/copy.h"
#include "mlx/backend/metal/kernels/arange.h"

instantiate_kernel("v_Absfloat32float32", unary_v, float, float, Abs, 1)
instantiate_kernel("v2_Absint32int32", unary_v2, int32_t, int32_t, Abs)
instantiate_kernel("gn1_Absfloat16float16", unary_g, half, half, Abs, 1, int)
instantiate_kernel("v_Expfloat32float32", unary_v, float, float, Exp, 1)
instantiate_kernel("v_Sqrtfloat32float32", unary_v, float, float, Sqrt, 1)
instantiate_kernel("v_LogicalNotbool_bool_", unary_v, bool, bool, LogicalNot, 1)
instantiate_kernel("ss_Addfloat32", binary_ss, float, float, Add)
instantiate_kernel("vv_Addbool_", binary_vv, bool, bool, Add, 1)
instantiate_kernel("vv_Maximumfloat32", binary_vv, float, float, Maximum, 1)
instantiate_kernel("vv_Maximumbfloat16", binary_vv, bfloat16_t, bfloat16_t, Maximum, 1)
instantiate_kernel("vv_Lessint64", binary_vv, int64_t, bool, Less, 1)
instantiate_kernel("vv_Powerint32", binary_vv, int32_t, int32_t, Power, 1)
instantiate_kernel("vv_Powerfloat32", binary_vv, float, float, Power, 1)
instantiate_kernel("g1_Addfloat32", binary_g_nd1, float, float, Add, int)
instantiate_kernel("g2_Maximumuint8", binary_g_nd2, uint8_t, uint8_t, Maximum, int)
instantiate_kernel("v_copyfloat32float16", copy_v, float, half, 1)
instantiate_kernel("v_copyfloat32bool_", copy_v, float, bool, 1)
instantiate_kernel("g1_copyfloat32int32", copy_g_nd1, float, int32_t, int)
instantiate_kernel("arangefloat32", arange, float)
