//! Quantized matrices, in the forms that the other tests do not have: a choice of matrices, and floating-point weights.

use super::{Content, Kernel, case};
use crate::agreement::Offer;
use crate::harness::{self, CaseGrid};
use crate::mlx_sources::instance;
use metalworks_compute::ConstantValue;

/// Rows of `x` that a product has.
const VECTORS: usize = 37;

pub(crate) fn affine() -> impl Iterator<Item = Offer> {
    harness::names("affine_gather_").into_iter().filter_map(|name| product(&name))
}

pub(crate) fn floating() -> impl Iterator<Item = Offer> {
    let names = ["mxfp4_", "mxfp8_", "nvfp4_"].into_iter().flat_map(harness::names);
    names.filter_map(|name| if name.contains("quantize") { conversion(&name) } else { product(&name) })
}

fn kernel(name: &str) -> Option<(String, Kernel)> {
    let template = instance(name)?.template;
    let (template, arguments) = template.split_once('<')?;
    let arguments = arguments.strip_suffix('>')?.split(", ").map(String::from).collect();
    Some((template.to_string(), Kernel { name: name.into(), arguments }))
}

/// Any product of vectors or matrices with quantized matrices.
fn product(name: &str) -> Option<Offer> {
    let (template, kernel) = kernel(name)?;
    let (group, bits) = (kernel.number(1), kernel.number(2));
    let kind = template.strip_prefix("affine_").or_else(|| template.strip_prefix("fp_"))?;
    let is_gathered = kind.starts_with("gather_");
    let kind = kind.strip_prefix("gather_").unwrap_or(kind);
    let is_vector_split = kind == "qvm_split_k";
    // Inputs, outputs, rows of x, and threadgroups along x and y.
    let (inputs, outputs, vectors, groups, threads) = match kind {
        "qmv" => (3 * group, 13, 1, [1, 2], [32, 2, 1]),
        "qmv_fast" => (1024, 16, 1, [1, 4], [32, 2, 1]),
        "qmv_quad" => (kernel.number(3), 75, 2, [2, 2], [32, 1, 1]),
        "qmv_wide" => {
            let (per_group, rows) = (kernel.number(3), 2 * 32 / kernel.number(4));
            (9 * group, 13, per_group + 1, [2, 13usize.div_ceil(rows)], [32, 2, 1])
        }
        "qvm" => (70, 128, 1, [1, 2], [32, 2, 1]),
        "qvm_split_k" => (64, 128, 1, [1, 2], [32, 2, 1]),
        "qmm_t" | "qmm_t_splitk" => {
            let outputs = if name.contains("alN_true") { 64 } else { 45 };
            (3 * group.max(32), outputs, VECTORS, [2, 2], [32, 2, 2])
        }
        "qmm_n" => (45, 128, VECTORS, [4, 2], [32, 2, 2]),
        "qmm_rhs" => (64, 128, VECTORS, [4, 5], [32, 2, 1]),
        _ => return None,
    };
    // Group sizes divide the rows of a matrix, whichever way it lies.
    let is_by_columns = matches!(kind, "qvm" | "qvm_split_k" | "qmm_n") || name.contains("rhs_nn");
    let inputs = if kind == "qmm_rhs" && !is_by_columns { 2 * group.max(32) } else { inputs };
    // A threadgroup's `z` is a matrix of a batch, a choice of matrices, or a part of the inputs.
    let matrices = 3;
    let is_split = kind.contains("split");
    let depth = match kind {
        "qmm_rhs" => 1,
        "qvm_split_k" => kernel.number(3),
        _ if is_gathered || is_split => 3,
        _ if name.contains("batch_1") => matrices,
        _ => 1,
    };
    let part = if kind == "qvm_split_k" { inputs / depth } else { inputs };
    let weights = inputs * outputs;
    let words = weights * bits / 32;
    let x_rows = matrices * vectors;
    let constants = [(200, false), (201, outputs % 32 == 0), (202, inputs % 32 == 0)];
    let constants = constants.map(|(index, value)| (index, ConstantValue::Bool(value))).into();
    let grid = CaseGrid::Threadgroups([groups[0], groups[1], depth], threads);
    let is_floating = template.starts_with("fp_");
    Some(case(name, constants, grid, move |argument| {
        Some(match argument {
            "w" => Content::Numbers(matrices * words),
            // Near 1, as a number of eight bits or as a power of two.
            "scales" if is_floating => {
                let (least, count) = if group == 16 { (0x30, 16) } else { (124, 5) };
                Content::Indices(
                    (0..matrices * weights / group).map(|at| (least + at * 7 % count) as i128).collect(),
                )
            }
            "scales" | "biases" => Content::Numbers(matrices * weights / group),
            "global_scale" => Content::Numbers(1),
            "x" => Content::Numbers(x_rows * inputs),
            "y" => Content::Written(depth * vectors * outputs),
            "lhs_indices" => Content::Indices(vec![2, 0, 1]),
            "rhs_indices" => Content::Indices(vec![0, 1, 1]),
            "offsets" => Content::Indices(vec![0, 4, 20]),
            "num_groups" => Content::int(3),
            "in_vec_size" if is_vector_split => Content::int(part),
            "in_vec_size" | "K" => Content::int(inputs),
            "out_vec_size" | "N" => Content::int(outputs),
            "M" => Content::int(vectors),
            "x_batch_ndims" | "w_batch_ndims" | "batch_ndims" => Content::int(1),
            "x_shape" => Content::ints(&[matrices, vectors]),
            "w_shape" | "batch_shape" => Content::ints(&[matrices]),
            "x_strides" if is_vector_split => Content::longs(&[part]),
            "x_strides" => Content::longs(&[vectors * inputs]),
            "w_strides" if is_vector_split => Content::longs(&[part * outputs * bits / 32]),
            "w_strides" => Content::longs(&[words]),
            "s_strides" | "b_strides" if is_vector_split => Content::longs(&[part * outputs / group]),
            "s_strides" | "b_strides" => Content::longs(&[weights / group]),
            "lhs_strides" | "rhs_strides" => Content::longs(&[1]),
            "final_block_size" => Content::int(part),
            "k_partition_size" => Content::int(group.max(32)),
            "split_k_partition_stride" => Content::int(vectors * outputs),
            _ => return None,
        })
    }))
}

/// To and from floating-point numbers of few bits.
fn conversion(name: &str) -> Option<Offer> {
    let (template, kernel) = kernel(name)?;
    let (group, bits) = (kernel.number(1), kernel.number(2));
    let numbers = 64 * 12;
    let packed = numbers * bits / 8;
    let is_decoding = template == "fp_dequantize";
    let threads = if is_decoding { packed } else { numbers };
    let grid = CaseGrid::Threads([threads, 1, 1], [64, 1, 1]);
    Some(case(name, Vec::new(), grid, move |argument| {
        Some(match argument {
            "w" if is_decoding => Content::Numbers(packed),
            "w" => Content::Numbers(numbers),
            "scales" if is_decoding => Content::Numbers(numbers / group),
            "scales" => Content::Written(numbers / group),
            "global_scale" => Content::Numbers(1),
            "out" if template == "fp_quantize" => Content::Written(packed),
            "out" => Content::Written(numbers),
            _ => return None,
        })
    }))
}
