//! `candle-metal-kernels`: bindings and grids are those of its Rust side.

mod attention;
mod conv;
mod elementwise;
mod indexing;
mod matmul;
mod quantized;
mod random;
mod reduce;
mod sort;
mod strides;

use crate::Case;

/// All cases, in order.
pub(crate) const CASES: &[Case] = &[
    ("unary", elementwise::unary),
    ("unary_strided", elementwise::unary_strided),
    ("binary", elementwise::binary),
    ("compare", elementwise::compare),
    ("cast", elementwise::cast),
    ("affine", elementwise::affine),
    ("fill_and_copy", elementwise::fill_and_copy),
    ("where", elementwise::choose),
    ("index_select", indexing::index_select),
    ("gather", indexing::gather),
    ("scatter", indexing::scatter),
    ("index_add", indexing::index_add),
    ("reduce", reduce::reductions),
    ("arg_reduce", reduce::arg_reductions),
    ("softmax", reduce::softmax),
    ("norms", reduce::norms),
    ("rope", reduce::rope),
    ("bitonic_sort", sort::bitonic),
    ("block_sort", sort::blocks),
    ("merge_sort", sort::merges),
    ("uniform", random::uniform),
    ("normal", random::normal),
    ("im2col", conv::im2col),
    ("col2im", conv::col2im),
    ("upsample", conv::upsample),
    ("pool", conv::pool),
    ("conv_transpose", conv::transposed),
    ("quantized_mul_mv", quantized::matrix_times_vector),
    ("quantized_mul_mm", quantized::matrix_times_matrix),
    ("quantized_get_rows", quantized::rows),
    ("gemm", matmul::gemm),
    ("gemv", matmul::gemv),
    ("sdpa_vector", attention::vector),
    ("sdpa_vector_2pass", attention::two_passes),
    ("steel_attention", attention::tiles),
];

/// The kernels that the cases must have compared.
pub(crate) const KERNELS: &str = include_str!("kernels.txt");
