//! The Metal standard library, as headers written in Metal.
//!
//! `#include <metal_stdlib>` makes the preprocessor read these texts, and parser and checker read them like any other
//! code: what the library offers is what `include/` says, in the order of the specification. They are written for this
//! front end and its few conventions:
//!
//! * A function or method without a body is a *builtin*. The code generator knows it by its qualified name without
//!   `metal::`: `exp`, `fast::exp`, `simd_sum`, `texture2d::sample`. It has a body where the definition in Metal is the
//!   natural one. A builtin method may be called on an object in any address space.
//! * `template <__each_floatn T> T exp(T x);` is no template, but one function for each type of the family; see
//!   [`families`].
//! * Types that only a compiler can define (`float4`, `vec<T, N>`, `matrix<T, C, R>`, `atomic<T>`,
//!   `simdgroup_matrix<T, 8, 8>`, …) are native to the checker, and so are two alias templates: `__shape_of<T, E>` is
//!   `E` with the shape of `T` (`__shape_of<float4, bool>` is `bool4`), and `__element_of<T>` is the component type of
//!   `T`.
//! * Type traits are plain templates over the checker's `__is_enum(T)`, `__is_class(T)`, `__is_union(T)`,
//!   `__is_convertible(T, U)`, `__is_base_of(T, U)`, `__is_constructible(T, …)` and `__underlying_type(T)`.
//! * Parameters, template parameters and variables have reserved names (`__x`, `_T`): a program may define macros such
//!   as `T` or `N` before it includes a header.
//! * Names beginning with `__metal_`, `_` or `__` are ours, save those that code in use is known to rely on:
//!   `_numeric_limits_impl`, `_fp_numeric_limits_impl_base`, `__is_valid_simdgroup_type`, `vec_elements`,
//!   `_disjunction`, and the `__metal_…` functions of `__metal_internals`. For the same reason the library must not
//!   have more than Apple's: MLX adds `is_empty` and `void_t` to namespace `metal`, candle its own
//!   `simd_shuffle_down(long, ushort)`.

pub mod families;
#[cfg(test)]
mod tests;

/// Every header: what stands in `#include <…>`, and its text.
const HEADERS: &[(&str, &str)] = &[
    (
        "MetalPerformancePrimitives/MetalPerformancePrimitives.h",
        include_str!("include/MetalPerformancePrimitives/MetalPerformancePrimitives.h"),
    ),
    (
        "MetalPerformanceShaders/MetalPerformanceShaders.h",
        include_str!("include/MetalPerformanceShaders/MetalPerformanceShaders.h"),
    ),
    ("TargetConditionals.h", include_str!("include/TargetConditionals.h")),
    ("__metal_internals", include_str!("include/__metal_internals")),
    ("__metal_math_functions", include_str!("include/__metal_math_functions")),
    ("cstdint", include_str!("include/cstdint")),
    ("metal_array", include_str!("include/metal_array")),
    ("metal_assert", include_str!("include/metal_assert")),
    ("metal_atomic", include_str!("include/metal_atomic")),
    ("metal_command_buffer", include_str!("include/metal_command_buffer")),
    ("metal_common", include_str!("include/metal_common")),
    ("metal_compute", include_str!("include/metal_compute")),
    ("metal_config", include_str!("include/metal_config")),
    ("metal_constants", include_str!("include/metal_constants")),
    ("metal_cooperative_tensor", include_str!("include/metal_cooperative_tensor")),
    ("metal_extended_vector", include_str!("include/metal_extended_vector")),
    ("metal_geometric", include_str!("include/metal_geometric")),
    ("metal_graphics", include_str!("include/metal_graphics")),
    ("metal_imageblocks", include_str!("include/metal_imageblocks")),
    ("metal_integer", include_str!("include/metal_integer")),
    ("metal_curves", include_str!("include/metal_curves")),
    ("metal_interpolate", include_str!("include/metal_interpolate")),
    ("metal_limits", include_str!("include/metal_limits")),
    ("metal_logging", include_str!("include/metal_logging")),
    ("metal_math", include_str!("include/metal_math")),
    ("metal_matrix", include_str!("include/metal_matrix")),
    ("metal_mesh", include_str!("include/metal_mesh")),
    ("metal_numeric", include_str!("include/metal_numeric")),
    ("metal_pack", include_str!("include/metal_pack")),
    ("metal_pixel", include_str!("include/metal_pixel")),
    ("metal_quadgroup", include_str!("include/metal_quadgroup")),
    ("metal_raytracing", include_str!("include/metal_raytracing")),
    ("metal_relational", include_str!("include/metal_relational")),
    ("metal_simdgroup", include_str!("include/metal_simdgroup")),
    ("metal_simdgroup_matrix", include_str!("include/metal_simdgroup_matrix")),
    ("metal_stdlib", include_str!("include/metal_stdlib")),
    ("metal_tensor", include_str!("include/metal_tensor")),
    ("metal_tessellation", include_str!("include/metal_tessellation")),
    ("metal_texture", include_str!("include/metal_texture")),
    ("metal_type_traits", include_str!("include/metal_type_traits")),
    ("metal_types", include_str!("include/metal_types")),
    ("metal_uniform", include_str!("include/metal_uniform")),
    ("metal_utility", include_str!("include/metal_utility")),
    ("metal_visible_function_table", include_str!("include/metal_visible_function_table")),
    ("simd/matrix_types.h", include_str!("include/simd/matrix_types.h")),
    ("simd/simd.h", include_str!("include/simd/simd.h")),
    ("simd/vector_types.h", include_str!("include/simd/vector_types.h")),
    ("stdint.h", include_str!("include/stdint.h")),
];

/// The text of a header, by the name in `#include <…>`: `metal_stdlib`, `simd/simd.h`.
pub fn header(name: &str) -> Option<&'static str> {
    HEADERS.iter().find(|(candidate, _)| *candidate == name).map(|(_, text)| *text)
}

/// The names that [`header`] knows, in alphabetical order.
pub fn header_names() -> impl Iterator<Item = &'static str> {
    HEADERS.iter().map(|(name, _)| *name)
}
