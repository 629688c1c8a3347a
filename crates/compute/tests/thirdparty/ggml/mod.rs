//! ggml's Metal back end: bindings, constants and grids are those of its host side.

mod attention;
mod copy;
mod elementwise;
mod images;
mod matmul;
mod recurrent;
mod rope;
mod rows;

use crate::Case;

/// All cases, in order.
pub(crate) const CASES: &[Case] = &[
    ("unary", elementwise::unary),
    ("binary", elementwise::binary),
    ("glu", elementwise::gated),
    ("repeat", elementwise::repeat),
    ("norms", rows::norms),
    ("softmax", rows::softmax),
    ("sum_rows", rows::sums),
    ("cumsum", rows::running_sums),
    ("argsort", rows::orders),
    ("rope", rope::rope),
    ("copy", copy::copies),
    ("quantize", copy::quantized),
    ("get_rows", copy::get_rows),
    ("set_rows", copy::set_rows),
    ("mul_mv", matmul::matrix_times_vector),
    ("mul_mv_ext", matmul::matrix_times_few),
    ("mul_mm", matmul::matrix_times_matrix),
    ("mul_mv_id", matmul::experts),
    ("flash_attn", attention::tiles),
    ("flash_attn_vec", attention::vectors),
    ("gated_delta_net", recurrent::gated_delta_net),
    ("ssm_conv", recurrent::convolution),
    ("ssm_scan", recurrent::scan),
    ("im2col", images::im2col),
    ("pool", images::pool),
];

/// The kernels that the cases must have compared.
pub(crate) const KERNELS: &str = include_str!("kernels.txt");
