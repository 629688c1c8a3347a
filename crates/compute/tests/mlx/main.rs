//! Runs kernels compiled by Apple's compiler on the CPU: functions of `mlx.metallib` against references in plain Rust.
//!
//! Each module makes the cases of one family: the names of the functions, taken from the library; their arguments, as
//! in MLX's host code; and the expected results, from the formula. Sizes are odd and threadgroups partial on purpose.
//! If possible, the numbers are such that a correct kernel computes without rounding, and must match to the last bit.
//!
//! `make mlx` downloads the library and runs these tests; they are ignored otherwise, because they need the download.
//! The number of functions of each family, and of those that are run, is fixed here: a test fails when one is lost.
//! `MLX_ONLY=text` runs all functions with that text in their names, and `MLX_ONLY=` runs all.

#![cfg(llvm)]

mod agreement;
mod arange;
mod argreduce;
mod array;
mod attention;
mod binary;
mod compare;
mod complex;
mod copy;
mod fp8;
mod gemm;
mod gemv;
mod harness;
mod layout;
#[path = "../mlx_sources/mod.rs"]
mod mlx_sources;
mod names;
mod norm;
mod prefill;
mod quantized;
mod random;
mod reduce;
mod rope;
mod scan;
mod softmax;
mod sort;
mod ternary;
mod unary;

use harness::check;
use quantized::{convert, floating, matrix, vector};
use reduce::{columns, rows};

/// The families: number of functions, step between those that are run, step between those that are also compiled from
/// source and compared, and their cases. The steps are prime, so that no type or tile is always skipped.
macro_rules! families {
    ($($name:ident: $functions:literal / $every:literal $(~ $agree:literal)? = $cases:expr;)*) => {
        $(
            #[test]
            #[ignore = "needs scripts/corpus.sh; run by make mlx"]
            fn $name() {
                check(stringify!($name), $functions, $every, $cases);
            }
        )*

        mod agree {
            use super::*;

            $($(
                #[test]
                #[ignore = "needs scripts/corpus.sh; run by make mlx"]
                fn $name() {
                    agreement::check(stringify!($name), $agree, $cases);
                }
            )?)*
        }
    };
}

families! {
    unary_contiguous: 183 / 1 ~ 5 = unary::cases("v");
    unary_several_each: 145 / 5 ~ 13 = unary::cases("vn");
    unary_plane: 183 / 5 ~ 17 = unary::cases("v2");
    unary_strided: 366 / 7 ~ 31 = ["gn1", "gn4large"].into_iter().flat_map(unary::cases);
    binary_contiguous: 1044 / 5 ~ 41 = ["vv", "sv", "vs", "ss"].into_iter().flat_map(binary::cases);
    binary_several_each: 1395 / 17 ~ 97 = ["vvn", "svn", "vsn", "vv2", "sv2", "vs2"].into_iter().flat_map(binary::cases);
    binary_strided: 2088 / 31 ~ 151 = BINARY_STRIDED.into_iter().flat_map(binary::cases);
    select: 147 / 5 ~ 13 = SELECT.into_iter().flat_map(ternary::cases);
    copy_contiguous: 936 / 17 ~ 67 = ["v", "s", "vn", "sn", "v2", "s2"].into_iter().flat_map(copy::cases);
    copy_strided: 845 / 31 ~ 71 = ["g1", "g2", "g3", "gn2", "gn4large"].into_iter().flat_map(copy::cases);
    copy_to_strided: 130 / 7 ~ 11 = ["g1", "g2", "g3", "gn2", "gn4large"].into_iter().flat_map(copy::strided_cases);
    arange: 11 / 1 ~ 1 = arange::cases();
    reduce_all: 108 / 1 ~ 11 = reduce::all().chain(reduce::initial());
    reduce_rows: 832 / 23 ~ 71 = rows::simple().chain(rows::small()).chain(rows::looped());
    reduce_columns: 1536 / 47 ~ 131 = columns::small().chain(columns::long()).chain(columns::looped()).chain(columns::two_pass());
    arg_reduce: 24 / 1 = argreduce::cases();
    softmax: 10 / 1 ~ 1 = softmax::softmax();
    log_sum_exp: 6 / 1 ~ 1 = softmax::log_sum_exp();
    rms_norm: 6 / 1 = norm::rms();
    layer_norm: 6 / 1 = norm::layer();
    rope: 18 / 1 = rope::sequences().chain(rope::single());
    gemv: 192 / 7 ~ 17 = gemv::plain();
    gemv_gathered: 32 / 5 ~ 3 = gemv::gathered();
    gemv_wide: 16 / 3 ~ 2 = gemv::wide();
    gemm_fused: 96 / 11 ~ 30 = gemm::fused();
    gemm_split: 264 / 23 ~ 37 = gemm::split().chain(gemm::accumulated());
    attention: 69 / 3 ~ 7 = attention::single_pass().chain(attention::first_pass()).chain(attention::second_pass());
    attention_tiles: 50 / 5 ~ 13 = prefill::cases();
    quantized_qmv: 378 / 11 ~ 37 = vector::qmv().chain(vector::qmv_fast());
    quantized_qmv_small: 612 / 31 ~ 53 = vector::qmv_quad().chain(vector::qmv_wide());
    quantized_qvm: 252 / 17 ~ 23 = vector::qvm().chain(vector::qvm_split());
    quantized_gather: 126 / 11 ~ 11 = ["affine_gather_qmv", "affine_gather_qmv_fast"].into_iter().flat_map(vector::gather_qmv);
    quantized_matrix: 504 / 31 ~ 83 = matrix::qmm_t().chain(matrix::qmm_n()).chain(matrix::qmm_t_split());
    quantized_floating: 132 / 7 ~ 11 = ["mxfp4", "mxfp8", "nvfp4"].into_iter().flat_map(floating::qmv);
    quantize: 126 / 5 ~ 11 = convert::quantize().chain(convert::dequantize());
    sort_rows: 228 / 17 ~ 19 = SORTS.into_iter().flat_map(sort::rows);
    sort_blocks: 36 / 5 ~ 3 = sort::blocks().chain(sort::cuts()).chain(sort::merges());
    scan_rows: 228 / 7 ~ 19 = scan::rows();
    scan_columns: 228 / 7 ~ 19 = scan::columns();
}

/// Families that are only compared with ours: the step between functions, and their cases. Large tiles take ten times as
/// long to compile as small ones; a step that is a multiple of the number of tiles skips them.
macro_rules! compared {
    ($($name:ident ~ $agree:literal = $cases:expr;)*) => {
        mod agree_others {
            use super::agreement::{self, others::*};

            $(
                #[test]
                #[ignore = "needs scripts/corpus.sh; run by make mlx"]
                fn $name() {
                    agreement::check(stringify!($name), $agree, $cases);
                }
            )*
        }
    };
}

compared! {
    search ~ 3 = rows::search();
    cross_entropy ~ 1 = rows::cross_entropy();
    dot ~ 1 = rows::dot();
    gemm_masked ~ 149 = matrices::masked();
    gemm_gathered ~ 20 = matrices::gathered();
    gemm_segmented ~ 20 = matrices::segmented();
    gemv_masked ~ 53 = matrices::masked_vectors();
    gated_delta ~ 37 = sequences::gated_delta();
    attention_grouped ~ 2 = sequences::grouped();
    attention_blocked ~ 1 = sequences::blocked();
    quantized_gathered ~ 101 = quantized::affine();
    quantized_floating_others ~ 71 = quantized::floating();
    conv_images ~ 11 = conv::images();
    conv_volumes ~ 13 = conv::volumes();
    conv_general ~ 5 = conv::general();
    fft ~ 2 = fft::whole();
}

const BINARY_STRIDED: [&str; 8] = ["g1", "g2", "g3", "gn2", "g1large", "g2large", "g3large", "gn4large"];
const SELECT: [&str; 12] = ["v", "vn", "v2", "vs", "sv", "vsn", "svn", "g1", "g2", "g3", "gn2", "gn4large"];
const SORTS: [&str; 4] = ["c_block_sort_", "carg_block_sort_", "nc_block_sort_", "ncarg_block_sort_"];
