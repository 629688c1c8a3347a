// test check
#include <metal_atomic>
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_math>
#include <metal_common>
#include <metal_integer>
#include <metal_geometric>
#include <metal_relational>
#include <metal_compute>
#include <metal_texture>
#include <metal_type_traits>
#include <metal_limits>
#include <metal_pack>
#include <metal_matrix>
#include <metal_quadgroup>
#include <metal_graphics>
#include <metal_array>
#include <metal_types>
#include <metal_config>
#include <metal_constants>
#include <metal_utility>
#include <simd/simd.h>
using namespace metal;
kernel void k(device float *out, device simd_float4 *v, device vector_float3 *w, device matrix_float4x4 *m) { out[0] = sqrt(2.0f) + v->x + w->y + (*m)[0][0]; }
