//! The families of kernels: headers, and for each form of a name the instance of a template.

/// Kernels that are compiled together, because they need the same headers.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// Headers, without the folder of MLX's kernels; a name in angle brackets is Metal's.
    pub(crate) headers: &'static [&'static str],
    /// A pattern, and the instance; `$0` is the first template argument that the pattern yields.
    pub(crate) rules: &'static [(&'static str, &'static str)],
}

/// All families. The first rule that matches a name is the one.
pub(crate) const FAMILIES: &[Family] = &[
    Family {
        name: "unary",
        headers: &["utils.h", "unary_ops.h", "unary.h"],
        rules: &[
            ("v_{op}{type}{type}", "unary_v<$1, $2, $0, 1>"),
            ("vn_{op}{type}{type}", "unary_v<$1, $2, $0>"),
            ("v2_{op}{type}{type}", "unary_v2<$1, $2, $0>"),
            ("gn1_{op}{type}{type}", "unary_g<$1, $2, $0, 1, int>"),
            ("gn4large_{op}{type}{type}", "unary_g<$1, $2, $0, 4>"),
        ],
    },
    Family {
        name: "binary_two",
        headers: &["<metal_integer>", "<metal_math>", "utils.h", "binary_ops.h", "binary_two.h"],
        rules: &[
            ("ss_DivMod{type}", "binary_ss<$0, $0, DivMod>"),
            ("sv_DivMod{type}", "binary_sv<$0, $0, DivMod, 1>"),
            ("vs_DivMod{type}", "binary_vs<$0, $0, DivMod, 1>"),
            ("vv_DivMod{type}", "binary_vv<$0, $0, DivMod, 1>"),
            ("svn_DivMod{type}", "binary_sv<$0, $0, DivMod>"),
            ("vsn_DivMod{type}", "binary_vs<$0, $0, DivMod>"),
            ("vvn_DivMod{type}", "binary_vv<$0, $0, DivMod>"),
            ("sv2_DivMod{type}", "binary_sv2<$0, $0, DivMod>"),
            ("vs2_DivMod{type}", "binary_vs2<$0, $0, DivMod>"),
            ("vv2_DivMod{type}", "binary_vv2<$0, $0, DivMod>"),
            ("g{n}_DivMod{type}", "binary_g_nd$0<$1, $1, DivMod, int>"),
            ("g{n}large_DivMod{type}", "binary_g_nd$0<$1, $1, DivMod>"),
            ("gn{n}_DivMod{type}", "binary_g<$1, $1, DivMod, $0, int>"),
            ("gn{n}large_DivMod{type}", "binary_g<$1, $1, DivMod, $0>"),
        ],
    },
    Family {
        name: "ternary",
        headers: &["<metal_integer>", "<metal_math>", "utils.h", "ternary_ops.h", "ternary.h"],
        rules: &[
            ("v_Select{type}", "ternary_v<$0, Select, false, false, 1>"),
            ("sv_Select{type}", "ternary_v<$0, Select, true, false, 1>"),
            ("vs_Select{type}", "ternary_v<$0, Select, false, true, 1>"),
            ("vn_Select{type}", "ternary_v<$0, Select, false, false>"),
            ("svn_Select{type}", "ternary_v<$0, Select, true, false>"),
            ("vsn_Select{type}", "ternary_v<$0, Select, false, true>"),
            ("v2_Select{type}", "ternary_v2<$0, Select, false, false>"),
            ("sv2_Select{type}", "ternary_v2<$0, Select, true, false>"),
            ("vs2_Select{type}", "ternary_v2<$0, Select, false, true>"),
            ("g{n}_Select{type}", "ternary_g_nd$0<$1, Select, int>"),
            ("g{n}large_Select{type}", "ternary_g_nd$0<$1, Select>"),
            ("gn{n}_Select{type}", "ternary_g<$1, Select, $0, int>"),
            ("gn{n}large_Select{type}", "ternary_g<$1, Select, $0>"),
        ],
    },
    Family {
        name: "binary",
        headers: &["<metal_integer>", "<metal_math>", "utils.h", "binary_ops.h", "binary.h"],
        rules: &[
            ("ss_{comparison}{type}", "binary_ss<$1, bool, $0>"),
            ("sv_{comparison}{type}", "binary_sv<$1, bool, $0, 1>"),
            ("vs_{comparison}{type}", "binary_vs<$1, bool, $0, 1>"),
            ("vv_{comparison}{type}", "binary_vv<$1, bool, $0, 1>"),
            ("svn_{comparison}{type}", "binary_sv<$1, bool, $0>"),
            ("vsn_{comparison}{type}", "binary_vs<$1, bool, $0>"),
            ("vvn_{comparison}{type}", "binary_vv<$1, bool, $0>"),
            ("sv2_{comparison}{type}", "binary_sv2<$1, bool, $0>"),
            ("vs2_{comparison}{type}", "binary_vs2<$1, bool, $0>"),
            ("vv2_{comparison}{type}", "binary_vv2<$1, bool, $0>"),
            ("g{n}_{comparison}{type}", "binary_g_nd$0<$2, bool, $1, int>"),
            ("g{n}large_{comparison}{type}", "binary_g_nd$0<$2, bool, $1>"),
            ("gn{n}_{comparison}{type}", "binary_g<$2, bool, $1, $0, int>"),
            ("gn{n}large_{comparison}{type}", "binary_g<$2, bool, $1, $0>"),
            ("ss_{op}{type}", "binary_ss<$1, $1, $0>"),
            ("sv_{op}{type}", "binary_sv<$1, $1, $0, 1>"),
            ("vs_{op}{type}", "binary_vs<$1, $1, $0, 1>"),
            ("vv_{op}{type}", "binary_vv<$1, $1, $0, 1>"),
            ("svn_{op}{type}", "binary_sv<$1, $1, $0>"),
            ("vsn_{op}{type}", "binary_vs<$1, $1, $0>"),
            ("vvn_{op}{type}", "binary_vv<$1, $1, $0>"),
            ("sv2_{op}{type}", "binary_sv2<$1, $1, $0>"),
            ("vs2_{op}{type}", "binary_vs2<$1, $1, $0>"),
            ("vv2_{op}{type}", "binary_vv2<$1, $1, $0>"),
            ("g{n}_{op}{type}", "binary_g_nd$0<$2, $2, $1, int>"),
            ("g{n}large_{op}{type}", "binary_g_nd$0<$2, $2, $1>"),
            ("gn{n}_{op}{type}", "binary_g<$2, $2, $1, $0, int>"),
            ("gn{n}large_{op}{type}", "binary_g<$2, $2, $1, $0>"),
        ],
    },
    Family {
        name: "copy",
        headers: &["utils.h", "copy.h"],
        rules: &[
            ("s_copy{type}{type}", "copy_s<$0, $1, 1>"),
            ("v_copy{type}{type}", "copy_v<$0, $1, 1>"),
            ("sn_copy{type}{type}", "copy_s<$0, $1>"),
            ("vn_copy{type}{type}", "copy_v<$0, $1>"),
            ("s2_copy{type}{type}", "copy_s2<$0, $1>"),
            ("v2_copy{type}{type}", "copy_v2<$0, $1>"),
            ("g{n}_copy{type}{type}", "copy_g_nd$0<$1, $2, int>"),
            ("g{n}large_copy{type}{type}", "copy_g_nd$0<$1, $2>"),
            ("gn{n}_copy{type}{type}", "copy_g<$1, $2, $0, int>"),
            ("gn{n}large_copy{type}{type}", "copy_g<$1, $2, $0>"),
            ("gg{n}_copy{type}{type}", "copy_gg_nd$0<$1, $2, int>"),
            ("gg{n}large_copy{type}{type}", "copy_gg_nd$0<$1, $2>"),
            ("ggn{n}_copy{type}{type}", "copy_gg<$1, $2, $0, int>"),
            ("ggn{n}large_copy{type}{type}", "copy_gg<$1, $2, $0>"),
            ("gg{n}_dynamic_copy{type}{type}", "copy_gg_dynamic_nd$0<$1, $2, int>"),
            ("gg{n}large_dynamic_copy{type}{type}", "copy_gg_dynamic_nd$0<$1, $2>"),
            ("ggn{n}_dynamic_copy{type}{type}", "copy_gg_dynamic<$1, $2, $0, int>"),
            ("ggn{n}large_dynamic_copy{type}{type}", "copy_gg_dynamic<$1, $2, $0>"),
        ],
    },
    Family { name: "arange", headers: &["utils.h", "arange.h"], rules: &[("arange{type}", "arange<$0>")] },
    Family {
        name: "reduce",
        headers: &["<metal_atomic>", "<metal_simdgroup>", "utils.h", "reduce_utils.h", "reduce.h"],
        rules: &[
            ("init_reduce_{reduction}", "init_reduce<$1, $2>"),
            ("all_reduce_{reduction}", "all_reduce<$0, $1, $2>"),
            ("row_reduce_simple_{reduction}", "row_reduce_simple<$0, $1, $2>"),
            ("row_reduce_small_{n}_reduce_{reduction}", "row_reduce_small<$1, $2, $3, int, $0>"),
            ("row_reduce_small_large_{n}_reduce_{reduction}", "row_reduce_small<$1, $2, $3, int64_t, $0>"),
            ("row_reduce_looped_{n}_reduce_{reduction}", "row_reduce_looped<$1, $2, $3, int, $0>"),
            ("row_reduce_looped_large_{n}_reduce_{reduction}", "row_reduce_looped<$1, $2, $3, int64_t, $0>"),
            ("col_reduce_small_{n}_reduce_{reduction}", "col_reduce_small<$1, $2, $3, int, $0>"),
            ("col_reduce_small_large_{n}_reduce_{reduction}", "col_reduce_small<$1, $2, $3, int64_t, $0>"),
            ("col_reduce_longcolumn_{n}_reduce_{reduction}", "col_reduce_longcolumn<$1, $2, $3, int, $0>"),
            (
                "col_reduce_longcolumn_large_{n}_reduce_{reduction}",
                "col_reduce_longcolumn<$1, $2, $3, int64_t, $0>",
            ),
            ("col_reduce_looped_{n}_{n}_{n}_reduce_{reduction}", "col_reduce_looped<$3, $4, $5, int, $0, $1, $2>"),
            (
                "col_reduce_looped_large_{n}_{n}_{n}_reduce_{reduction}",
                "col_reduce_looped<$3, $4, $5, int64_t, $0, $1, $2>",
            ),
            ("col_reduce_2pass_{n}_{n}_{n}_reduce_{reduction}", "col_reduce_2pass<$3, $4, $5, int, $0, $1, $2>"),
            (
                "col_reduce_2pass_large_{n}_{n}_{n}_reduce_{reduction}",
                "col_reduce_2pass<$3, $4, $5, int64_t, $0, $1, $2>",
            ),
        ],
    },
    Family {
        name: "scan",
        headers: &["<metal_math>", "<metal_simdgroup>", "utils.h", "scan.h"],
        rules: &[
            ("contig_scan_inclusive_{scan}", "contiguous_scan<$0, $1, $2, true, false>"),
            ("contig_scan_exclusive_{scan}", "contiguous_scan<$0, $1, $2, false, false>"),
            ("contig_scan_reverse_inclusive_{scan}", "contiguous_scan<$0, $1, $2, true, true>"),
            ("contig_scan_reverse_exclusive_{scan}", "contiguous_scan<$0, $1, $2, false, true>"),
            ("strided_scan_inclusive_{scan}", "strided_scan<$0, $1, $2, true, false>"),
            ("strided_scan_exclusive_{scan}", "strided_scan<$0, $1, $2, false, false>"),
            ("strided_scan_reverse_inclusive_{scan}", "strided_scan<$0, $1, $2, true, true>"),
            ("strided_scan_reverse_exclusive_{scan}", "strided_scan<$0, $1, $2, false, true>"),
        ],
    },
    Family {
        name: "sort",
        headers: &["<metal_stdlib>", "utils.h", "sort.h"],
        rules: &[
            ("c_block_sort_{type}_{type}_bn{n}_tn{n}", "block_sort<$0, $1, false, $2, $3>"),
            ("carg_block_sort_{type}_{type}_bn{n}_tn{n}", "block_sort<$0, $1, true, $2, $3>"),
            ("nc_block_sort_{type}_{type}_bn{n}_tn{n}", "block_sort_nc<$0, $1, false, $2, $3>"),
            ("ncarg_block_sort_{type}_{type}_bn{n}_tn{n}", "block_sort_nc<$0, $1, true, $2, $3>"),
            ("sort_mbsort_{type}_{type}_bn{n}_tn{n}", "mb_block_sort<$0, $1, true, $2, $3>"),
            ("partition_mbsort_{type}_{type}_bn{n}_tn{n}", "mb_block_partition<$0, $1, true, $2, $3>"),
            ("merge_mbsort_{type}_{type}_bn{n}_tn{n}", "mb_block_merge<$0, $1, true, $2, $3>"),
        ],
    },
    Family {
        name: "searchsorted",
        headers: &["<metal_stdlib>", "utils.h", "sort.h", "searchsorted.h"],
        rules: &[
            ("searchsorted_{type}_left", "searchsorted<$0, false>"),
            ("searchsorted_{type}_right", "searchsorted<$0, true>"),
        ],
    },
    Family {
        name: "softmax",
        headers: &["<metal_common>", "<metal_simdgroup>", "utils.h", "softmax.h"],
        rules: &[
            ("block_softmax_{type}", "softmax_single_row<$0>"),
            ("looped_softmax_{type}", "softmax_looped<$0>"),
            ("block_softmax_precise_{type}", "softmax_single_row<$0, float>"),
            ("looped_softmax_precise_{type}", "softmax_looped<$0, float>"),
        ],
    },
    Family {
        name: "logsumexp",
        headers: &["<metal_common>", "<metal_simdgroup>", "utils.h", "logsumexp.h"],
        rules: &[("block_logsumexp_{type}", "logsumexp<$0>"), ("looped_logsumexp_{type}", "logsumexp_looped<$0>")],
    },
    Family {
        name: "cross_entropy",
        headers: &["<metal_common>", "<metal_simdgroup>", "utils.h", "cross_entropy.h"],
        rules: &[
            ("cross_entropy_{type}", "cross_entropy<$0>"),
            ("cross_entropy_vjp_{type}", "cross_entropy_vjp<$0>"),
        ],
    },
    Family {
        name: "dot",
        headers: &["<metal_stdlib>", "dot.h"],
        rules: &[("dot_product_{type}_it{n}_tg{n}_sg{n}", "dot_product<$0, $1, $2, $3>")],
    },
    Family {
        name: "gemv",
        headers: &["<metal_stdlib>", "gemv.h"],
        rules: &[
            (
                "gemv_{type}_bm{n}_bn{n}_sm{n}_sn{n}_tm{n}_tn{n}_nc{n}_axpby{n}",
                "gemv<$0, $1, $2, $3, $4, $5, $6, $7, $8>",
            ),
            (
                "gemv_t_{type}_bm{n}_bn{n}_sm{n}_sn{n}_tm{n}_tn{n}_nc{n}_axpby{n}",
                "gemv_t<$0, $1, $2, $3, $4, $5, $6, $7, $8>",
            ),
            ("gemv_gather_{type}_bm{n}_bn{n}_sm{n}_sn{n}_tm{n}_tn{n}", "gemv_gather<$0, $1, $2, $3, $4, $5, $6>"),
            (
                "gemv_t_gather_{type}_bm{n}_bn{n}_sm{n}_sn{n}_tm{n}_tn{n}",
                "gemv_t_gather<$0, $1, $2, $3, $4, $5, $6>",
            ),
            ("gemv_wide_{type}_nv{n}_kl{n}", "gemv_wide<$0, $1, $2>"),
            ("gemv_wide_gather_{type}_nv{n}_kl{n}", "gemv_wide_gather<$0, $1, $2>"),
        ],
    },
    Family {
        name: "gemv_masked",
        headers: &["<metal_simdgroup>", "<metal_stdlib>", "utils.h", "gemv_masked.h"],
        rules: &[
            (
                "gemv_outmask_{mask}_opmask_{mask}_{type}_bm{n}_bn{n}_sm{n}_sn{n}_tm{n}_tn{n}_nc{n}",
                "gemv_masked<$2, $0, $1, $3, $4, $5, $6, $7, $8, $9>",
            ),
            (
                "gemv_t_outmask_{mask}_opmask_{mask}_{type}_bm{n}_bn{n}_sm{n}_sn{n}_tm{n}_tn{n}_nc{n}",
                "gemv_t_masked<$2, $0, $1, $3, $4, $5, $6, $7, $8, $9>",
            ),
        ],
    },
    Family {
        name: "gemm_fused",
        headers: &["<metal_stdlib>", "utils.h", "steel/gemm/gemm.h", "steel/gemm/kernels/steel_gemm_fused.h"],
        rules: &[(
            "steel_gemm_fused_{transposes}_{type}_{type}_bm{n}_bn{n}_bk{n}_wm{n}_wn{n}",
            "gemm<$2, $4, $5, $6, $7, $8, $0, $1, float>",
        )],
    },
    Family {
        name: "gemm_gather",
        headers: &["<metal_stdlib>", "utils.h", "steel/gemm/gemm.h", "steel/gemm/kernels/steel_gemm_gather.h"],
        rules: &[
            (
                "steel_gather_mm_{transposes}_{type}_{type}_bm{n}_bn{n}_bk{n}_wm{n}_wn{n}",
                "gather_mm<$2, $4, $5, $6, $7, $8, $0, $1, float>",
            ),
            (
                "steel_gather_mm_rhs_{transposes}_{type}_{type}_bm{n}_bn{n}_bk{n}_wm{n}_wn{n}",
                "gather_mm_rhs<$2, $4, $5, $6, $7, $8, $0, $1, float>",
            ),
        ],
    },
    Family {
        name: "gemm_segmented",
        headers: &["<metal_stdlib>", "utils.h", "steel/gemm/gemm.h", "steel/gemm/kernels/steel_gemm_segmented.h"],
        rules: &[(
            "steel_segmented_mm_{transposes}_{type}_{type}_bm{n}_bn{n}_bk{n}_wm{n}_wn{n}",
            "segmented_mm<$2, $4, $5, $6, $7, $8, $0, $1, float>",
        )],
    },
    Family {
        name: "gemm_masked",
        headers: &["<metal_stdlib>", "utils.h", "steel/gemm/gemm.h", "steel/gemm/kernels/steel_gemm_masked.h"],
        rules: &[(
            "steel_gemm_block_outmask_{mask}_opmask_{mask}_{transposes}_{type}_{type}_bm{n}_bn{n}_bk{n}_wm{n}_wn{n}\
             _MN_{aligned}_K_{aligned}",
            "block_masked_gemm<$4, $0, $1, $6, $7, $8, $9, $10, $2, $3, $11, $12>",
        )],
    },
    Family {
        name: "gemm_split",
        headers: &["<metal_stdlib>", "utils.h", "steel/gemm/gemm.h", "steel/gemm/kernels/steel_gemm_splitk.h"],
        rules: &[
            (
                "steel_gemm_splitk_{transposes}_{type}_{type}_bm{n}_bn{n}_bk{n}_wm{n}_wn{n}_MN_{aligned}_K_{aligned}",
                "gemm_splitk<$2, $3, $4, $5, $6, $7, $8, $0, $1, $9, $10>",
            ),
            ("steel_gemm_splitk_accum_{type}_{type}", "gemm_splitk_accum<$1, $0>"),
            ("steel_gemm_splitk_accum_{type}_{type}_axbpy", "gemm_splitk_accum_axpby<$1, $0>"),
        ],
    },
    Family {
        name: "attention",
        headers: &["utils.h", "sdpa_vector.h"],
        rules: &[
            ("sdpa_vector_{spelled}_{n}_{n}", "sdpa_vector<$0, $1, $2>"),
            ("sdpa_vector_2pass_1_{spelled}_{n}_{n}", "sdpa_vector_2pass_1<$0, $1, $2>"),
            ("sdpa_vector_2pass_1_{spelled}_{n}_{n}_tk{n}", "sdpa_vector_2pass_1<$0, $1, $2, $3>"),
            // Heads per thread are not in the name.
            ("sdpa_vector_2pass_1_gqa_8_{spelled}_64_64", "sdpa_vector_2pass_1_gqa<$0, 64, 64, 8, 8>"),
            ("sdpa_vector_2pass_1_gqa_8_{spelled}_128_128", "sdpa_vector_2pass_1_gqa<$0, 128, 128, 8, 4>"),
            ("sdpa_vector_2pass_1_gqa_12_{spelled}_128_128", "sdpa_vector_2pass_1_gqa<$0, 128, 128, 12, 4>"),
            ("sdpa_vector_2pass_1_gqa_16_{spelled}_128_128", "sdpa_vector_2pass_1_gqa<$0, 128, 128, 16, 2>"),
            ("sdpa_vector_2pass_2_{spelled}_{n}", "sdpa_vector_2pass_2<$0, $1>"),
        ],
    },
    Family {
        name: "attention_blocked",
        headers: &["utils.h", "sdpa_blocked.h"],
        rules: &[
            ("sdpa_blocked_scale_copy_{type}", "sdpa_blocked_scale_copy<$0>"),
            ("sdpa_blocked_causal_mask_{type}", "sdpa_blocked_causal_mask<$0>"),
        ],
    },
    Family {
        name: "attention_tiles",
        headers: &["utils.h", "steel/attn/kernels/steel_attention.h"],
        rules: &[(
            "steel_attention_{type}_bq{n}_bk{n}_bd{n}_bv{n}_wm{n}_wn{n}_mask{type}",
            "attention<$0, $1, $2, $3, $4, $5, $6, $7, float>",
        )],
    },
    Family {
        name: "conv",
        headers: &["<metal_stdlib>", "utils.h", "steel/conv/conv.h", "steel/conv/kernels/steel_conv.h"],
        rules: &[(
            "implicit_gemm_conv_2d_{type}_bm{n}_bn{n}_bk{n}_wm{n}_wn{n}_channel_{channels}_filter_{filter}",
            "implicit_gemm_conv_2d<$0, $1, $2, $3, $4, $5, $6, $7>",
        )],
    },
    Family {
        name: "conv_3d",
        headers: &["<metal_stdlib>", "utils.h", "steel/conv/conv.h", "steel/conv/kernels/steel_conv_3d.h"],
        rules: &[(
            "implicit_gemm_conv_3d_{type}_bm{n}_bn{n}_bk{n}_wm{n}_wn{n}_filter_{filter}",
            "implicit_gemm_conv_3d<$0, $1, $2, $3, $4, $5, $6>",
        )],
    },
    Family {
        name: "conv_general",
        headers: &["<metal_stdlib>", "utils.h", "steel/conv/conv.h", "steel/conv/kernels/steel_conv_general.h"],
        rules: &[(
            "implicit_gemm_conv_2d_general_{type}_bm{n}_bn{n}_bk{n}_wm{n}_wn{n}",
            "implicit_gemm_conv_2d_general<$0, $1, $2, $3, $4, $5>",
        )],
    },
    Family {
        name: "gated_delta",
        headers: &["gated_delta_update.h"],
        rules: &[
            ("seq_gated_delta_{spelled}_{n}_{n}_{n}_{n}_{n}", "gated_delta_seq<$0, $1, $2, $3, $4, $5>"),
            (
                "gated_delta_fused_chunk_{spelled}_{n}_{n}_{n}_{n}_{n}",
                "gated_delta_fused_chunk<$0, $1, $2, $3, $4, $5>",
            ),
        ],
    },
    Family {
        name: "gated_delta_vjp",
        headers: &["gated_delta_update_vjp.h"],
        rules: &[(
            "seq_gated_delta_vjp_{spelled}_{n}_{n}_{n}_{n}_{n}",
            "gated_delta_vjp_seq<$0, $1, $2, $3, $4, $5>",
        )],
    },
    Family {
        name: "fft",
        headers: &["utils.h", "fft.h"],
        rules: &[
            ("fft_mem_{n}_{spelled}_{spelled}", "fft<$0, $1, $2>"),
            ("rader_fft_mem_{n}_{spelled}_{spelled}", "rader_fft<$0, $1, $2>"),
            ("bluestein_fft_mem_{n}_{spelled}_{spelled}", "bluestein_fft<$0, $1, $2>"),
            ("four_step_mem_{n}_{spelled}_{spelled}_{n}_{bool}", "four_step_fft<$0, $1, $2, $3, $4>"),
            // Not a template: the header defines it under this name.
            ("generate_bluestein_twiddles", ""),
        ],
    },
    Family { name: "quantized", headers: QUANTIZED, rules: AFFINE },
    Family { name: "fp_quantized", headers: FP_QUANTIZED, rules: FP },
];

const QUANTIZED: &[&str] = &["utils.h", "steel/gemm/gemm.h", "quantized_utils.h", "quantized.h"];
const FP_QUANTIZED: &[&str] = &["utils.h", "steel/gemm/gemm.h", "quantized_utils.h", "fp_quantized.h"];

const AFFINE: &[(&str, &str)] = &[
    ("affine_quantize_{spelled}_gs_{n}_b_{n}", "affine_quantize<$0, $1, $2>"),
    ("affine_dequantize_{spelled}_gs_{n}_b_{n}", "affine_dequantize<$0, $1, $2>"),
    ("affine_gather_qmv_{spelled}_gs_{n}_b_{n}", "affine_gather_qmv<$0, $1, $2>"),
    ("affine_gather_qmv_fast_{spelled}_gs_{n}_b_{n}", "affine_gather_qmv_fast<$0, $1, $2>"),
    ("affine_gather_qvm_{spelled}_gs_{n}_b_{n}", "affine_gather_qvm<$0, $1, $2>"),
    ("affine_gather_qmm_n_{spelled}_gs_{n}_b_{n}", "affine_gather_qmm_n<$0, $1, $2>"),
    ("affine_gather_qmm_t_{spelled}_gs_{n}_b_{n}_alN_{bool}", "affine_gather_qmm_t<$0, $1, $2, $3>"),
    (
        "affine_gather_qmm_rhs_nt_{spelled}_gs_{n}_b_{n}_bm_{n}_bn_{n}_bk_{n}_wm_{n}_wn_{n}",
        "affine_gather_qmm_rhs<$0, $1, $2, $3, $4, $5, $6, $7, true>",
    ),
    (
        "affine_gather_qmm_rhs_nn_{spelled}_gs_{n}_b_{n}_bm_{n}_bn_{n}_bk_{n}_wm_{n}_wn_{n}",
        "affine_gather_qmm_rhs<$0, $1, $2, $3, $4, $5, $6, $7, false>",
    ),
    ("affine_qmv_quad_{spelled}_gs_{n}_b_{n}_d_{n}_batch_{n}", "affine_qmv_quad<$0, $1, $2, $3, $4>"),
    ("affine_qmv_wide_{spelled}_gs_{n}_b_{n}_nv_{n}_kl_{n}_batch_{n}", "affine_qmv_wide<$0, $1, $2, $3, $4, $5>"),
    (
        "affine_qmv_fast_{spelled}_gs_{n}_b_{n}_batch_{n}_pr_{n}_hgs_{n}_r_{n}",
        "affine_qmv_fast<$0, $1, $2, $3, $4, $5, $6>",
    ),
    ("affine_qmv_{spelled}_gs_{n}_b_{n}_batch_{n}_pr_{n}_hgs_{n}_r_{n}", "affine_qmv<$0, $1, $2, $3, $4, $5, $6>"),
    ("affine_qvm_{spelled}_gs_{n}_b_{n}_batch_{n}", "affine_qvm<$0, $1, $2, $3>"),
    ("affine_qvm_split_k_{spelled}_gs_{n}_b_{n}_spk_{n}", "affine_qvm_split_k<$0, $1, $2, $3>"),
    ("affine_qmm_n_{spelled}_gs_{n}_b_{n}_batch_{n}", "affine_qmm_n<$0, $1, $2, $3>"),
    ("affine_qmm_t_{spelled}_gs_{n}_b_{n}_alN_{bool}_batch_{n}", "affine_qmm_t<$0, $1, $2, $3, $4>"),
    ("affine_qmm_t_splitk_{spelled}_gs_{n}_b_{n}_alN_{bool}", "affine_qmm_t_splitk<$0, $1, $2, $3>"),
];

/// Names after `mxfp4_`, `mxfp8_` and `nvfp4_`; see [`super::FLOATING`].
const FP: &[(&str, &str)] = &[
    ("fp_quantize_{spelled}_gs_{n}_b_{n}_hgs_{bool}", "fp_quantize<$0, $1, $2, $3>"),
    ("fp_dequantize_{spelled}_gs_{n}_b_{n}_hgs_{bool}", "fp_dequantize<$0, $1, $2, $3>"),
    ("fp_quantize_dequantize_{spelled}_gs_{n}_b_{n}_hgs_{bool}", "fp_quantize_dequantize<$0, $1, $2, $3>"),
    ("fp_gather_qmv_{spelled}_gs_{n}_b_{n}", "fp_gather_qmv<$0, $1, $2>"),
    ("fp_gather_qmv_{spelled}_gs_{n}_b_{n}_hgs", "fp_gather_qmv<$0, $1, $2, true>"),
    ("fp_gather_qmv_fast_{spelled}_gs_{n}_b_{n}", "fp_gather_qmv_fast<$0, $1, $2>"),
    ("fp_gather_qmv_fast_{spelled}_gs_{n}_b_{n}_hgs", "fp_gather_qmv_fast<$0, $1, $2, true>"),
    ("fp_gather_qvm_{spelled}_gs_{n}_b_{n}", "fp_gather_qvm<$0, $1, $2>"),
    ("fp_gather_qvm_{spelled}_gs_{n}_b_{n}_hgs", "fp_gather_qvm<$0, $1, $2, true>"),
    ("fp_gather_qmm_n_{spelled}_gs_{n}_b_{n}", "fp_gather_qmm_n<$0, $1, $2>"),
    ("fp_gather_qmm_n_{spelled}_gs_{n}_b_{n}_hgs", "fp_gather_qmm_n<$0, $1, $2, true>"),
    ("fp_gather_qmm_t_{spelled}_gs_{n}_b_{n}_alN_{bool}", "fp_gather_qmm_t<$0, $1, $2, $3>"),
    ("fp_gather_qmm_t_{spelled}_gs_{n}_b_{n}_alN_{bool}_hgs", "fp_gather_qmm_t<$0, $1, $2, $3, true>"),
    (
        "fp_gather_qmm_rhs_{transposes}_{spelled}_gs_{n}_b_{n}_bm_{n}_bn_{n}_bk_{n}_wm_{n}_wn_{n}",
        "fp_gather_qmm_rhs<$2, $3, $4, $5, $6, $7, $8, $9, $1>",
    ),
    (
        "fp_gather_qmm_rhs_{transposes}_{spelled}_gs_{n}_b_{n}_bm_{n}_bn_{n}_bk_{n}_wm_{n}_wn_{n}_hgs",
        "fp_gather_qmm_rhs<$2, $3, $4, $5, $6, $7, $8, $9, $1, true>",
    ),
    ("fp_qmv_quad_{spelled}_gs_{n}_b_{n}_d_{n}_batch_{n}", "fp_qmv_quad<$0, $1, $2, $3, $4>"),
    ("fp_qmv_wide_{spelled}_gs_{n}_b_{n}_nv_{n}_kl_{n}_batch_{n}", "fp_qmv_wide<$0, $1, $2, $3, $4, $5>"),
    (
        "fp_qmv_fast_{spelled}_gs_{n}_b_{n}_batch_{n}_pr_{n}_hgs_{n}_r_{n}",
        "fp_qmv_fast<$0, $1, $2, $3, $4, $5, $6>",
    ),
    ("fp_qmv_{spelled}_gs_{n}_b_{n}_batch_{n}_pr_{n}_hgs_{n}_r_{n}", "fp_qmv<$0, $1, $2, $3, $4, $5, $6>"),
    ("fp_qvm_{spelled}_gs_{n}_b_{n}_batch_{n}", "fp_qvm<$0, $1, $2, $3>"),
    ("fp_qvm_{spelled}_gs_{n}_b_{n}_batch_{n}_hgs", "fp_qvm<$0, $1, $2, $3, true>"),
    ("fp_qvm_split_k_{spelled}_gs_{n}_b_{n}_spk_{n}", "fp_qvm_split_k<$0, $1, $2, $3>"),
    ("fp_qmm_n_{spelled}_gs_{n}_b_{n}_batch_{n}", "fp_qmm_n<$0, $1, $2, $3>"),
    ("fp_qmm_n_{spelled}_gs_{n}_b_{n}_batch_{n}_hgs", "fp_qmm_n<$0, $1, $2, $3, true>"),
    ("fp_qmm_t_{spelled}_gs_{n}_b_{n}_alN_{bool}_batch_{n}", "fp_qmm_t<$0, $1, $2, $3, $4>"),
    ("fp_qmm_t_{spelled}_gs_{n}_b_{n}_alN_{bool}_batch_{n}_hgs", "fp_qmm_t<$0, $1, $2, $3, $4, true>"),
    ("fp_qmm_t_splitk_{spelled}_gs_{n}_b_{n}_alN_{bool}", "fp_qmm_t_splitk<$0, $1, $2, $3>"),
];
