//! MLX's kernels that its headers define: the headers, the names in the library, and the templates.

/// The headers of a family, a pattern of names, and the kernel.
pub(crate) type Family = (&'static [&'static str], &'static str, &'static str);

const COPY: &[&str] = &["utils.h", "copy.h"];
const UNARY: &[&str] = &["utils.h", "unary_ops.h", "unary.h"];
const BINARY: &[&str] = &["utils.h", "binary_ops.h", "binary.h"];
const BINARY_TWO: &[&str] = &["utils.h", "binary_ops.h", "binary_two.h"];
const TERNARY: &[&str] = &["utils.h", "ternary_ops.h", "ternary.h"];
const REDUCE: &[&str] = &["utils.h", "atomic.h", "reduction/ops.h", "reduce.h"];
const SCAN: &[&str] = &["utils.h", "scan.h"];
const SORT: &[&str] = &["utils.h", "sort.h"];
const SEARCHSORTED: &[&str] = &["utils.h", "sort.h", "searchsorted.h"];
const SOFTMAX: &[&str] = &["utils.h", "softmax.h"];
const LOGSUMEXP: &[&str] = &["utils.h", "logsumexp.h"];
const ARANGE: &[&str] = &["utils.h", "arange.h"];
const CROSS_ENTROPY: &[&str] = &["utils.h", "cross_entropy.h"];
const DOT: &[&str] = &["utils.h", "dot.h"];
const FFT: &[&str] = &["utils.h", "fft.h"];
const GEMV: &[&str] = &["utils.h", "gemv.h"];
const GEMV_MASKED: &[&str] = &["utils.h", "steel/utils.h", "gemv_masked.h"];
const SDPA: &[&str] = &["utils.h", "sdpa_vector.h"];
const SDPA_BLOCKED: &[&str] = &["utils.h", "sdpa_blocked.h"];
const GATED_DELTA: &[&str] = &["utils.h", "gated_delta_update.h"];
const GATED_DELTA_VJP: &[&str] = &["utils.h", "gated_delta_update_vjp.h"];
const FUSED: &[&str] = &["utils.h", "steel/gemm/gemm.h", "steel/gemm/kernels/steel_gemm_fused.h"];
const GATHER: &[&str] = &["utils.h", "steel/gemm/gemm.h", "steel/gemm/kernels/steel_gemm_gather.h"];
const MASKED: &[&str] = &["utils.h", "steel/gemm/gemm.h", "steel/gemm/kernels/steel_gemm_masked.h"];
const SEGMENTED: &[&str] = &["utils.h", "steel/gemm/gemm.h", "steel/gemm/kernels/steel_gemm_segmented.h"];
const SPLITK: &[&str] = &["utils.h", "steel/gemm/gemm.h", "steel/gemm/kernels/steel_gemm_splitk.h"];
const ATTENTION: &[&str] = &["utils.h", "steel/attn/kernels/steel_attention.h"];
const CONV: &[&str] = &[
    "utils.h",
    "steel/gemm/mma.h",
    "steel/conv/conv.h",
    "steel/conv/params.h",
    "steel/utils.h",
    "steel/conv/kernels/steel_conv.h",
];
const CONV_3D: &[&str] = &[
    "utils.h",
    "steel/gemm/mma.h",
    "steel/conv/conv.h",
    "steel/conv/params.h",
    "steel/utils.h",
    "steel/conv/kernels/steel_conv_3d.h",
];
const CONV_GENERAL: &[&str] = &[
    "utils.h",
    "steel/gemm/mma.h",
    "steel/conv/conv.h",
    "steel/conv/params.h",
    "steel/utils.h",
    "steel/conv/kernels/steel_conv_general.h",
];
const QUANTIZED: &[&str] = &["utils.h", "steel/gemm/gemm.h", "quantized_utils.h", "quantized.h"];
const FP_QUANTIZED: &[&str] = &["utils.h", "steel/gemm/gemm.h", "quantized_utils.h", "fp_quantized.h"];

pub(crate) const FAMILIES: &[Family] = &[
    (COPY, "s_copy{T}{U}", "copy_s<{T}, {U}, 1>"),
    (COPY, "sn_copy{T}{U}", "copy_s<{T}, {U}>"),
    (COPY, "s2_copy{T}{U}", "copy_s2<{T}, {U}>"),
    (COPY, "v_copy{T}{U}", "copy_v<{T}, {U}, 1>"),
    (COPY, "vn_copy{T}{U}", "copy_v<{T}, {U}>"),
    (COPY, "v2_copy{T}{U}", "copy_v2<{T}, {U}>"),
    (COPY, "g{n:1|2|3}_copy{T}{U}", "copy_g_nd{n}<{T}, {U}, int>"),
    (COPY, "g{n:1|2|3}large_copy{T}{U}", "copy_g_nd{n}<{T}, {U}>"),
    (COPY, "gn2_copy{T}{U}", "copy_g<{T}, {U}, 2, int>"),
    (COPY, "gn4large_copy{T}{U}", "copy_g<{T}, {U}, 4>"),
    (COPY, "gg{n:1|2|3}_copy{T}{U}", "copy_gg_nd{n}<{T}, {U}, int>"),
    (COPY, "gg{n:1|2|3}large_copy{T}{U}", "copy_gg_nd{n}<{T}, {U}>"),
    (COPY, "ggn2_copy{T}{U}", "copy_gg<{T}, {U}, 2, int>"),
    (COPY, "ggn4large_copy{T}{U}", "copy_gg<{T}, {U}, 4>"),
    (COPY, "gg{n:1|2|3}_dynamic_copy{T}{U}", "copy_gg_dynamic_nd{n}<{T}, {U}, int>"),
    (COPY, "gg{n:1|2|3}large_dynamic_copy{T}{U}", "copy_gg_dynamic_nd{n}<{T}, {U}>"),
    (COPY, "ggn2_dynamic_copy{T}{U}", "copy_gg_dynamic<{T}, {U}, 2, int>"),
    (COPY, "ggn4large_dynamic_copy{T}{U}", "copy_gg_dynamic<{T}, {U}, 4>"),
    (UNARY, "v_{Op}{T}{U}", "unary_v<{T}, {U}, {Op}, 1>"),
    (UNARY, "vn_{Op}{T}{U}", "unary_v<{T}, {U}, {Op}>"),
    (UNARY, "v2_{Op}{T}{U}", "unary_v2<{T}, {U}, {Op}>"),
    (UNARY, "gn1_{Op}{T}{U}", "unary_g<{T}, {U}, {Op}, 1, int>"),
    (UNARY, "gn4large_{Op}{T}{U}", "unary_g<{T}, {U}, {Op}, 4>"),
    (BINARY_TWO, "ss_DivMod{T}", "binary_ss<{T}, {T}, DivMod>"),
    (BINARY_TWO, "{k:sv|vs|vv}_DivMod{T}", "binary_{k}<{T}, {T}, DivMod, 1>"),
    (BINARY_TWO, "{k:sv|vs|vv}n_DivMod{T}", "binary_{k}<{T}, {T}, DivMod>"),
    (BINARY_TWO, "{k:sv2|vs2|vv2}_DivMod{T}", "binary_{k}<{T}, {T}, DivMod>"),
    (BINARY_TWO, "g{n:1|2|3}_DivMod{T}", "binary_g_nd{n}<{T}, {T}, DivMod, int>"),
    (BINARY_TWO, "g{n:1|2|3}large_DivMod{T}", "binary_g_nd{n}<{T}, {T}, DivMod>"),
    (BINARY_TWO, "gn2_DivMod{T}", "binary_g<{T}, {T}, DivMod, 2, int>"),
    (BINARY_TWO, "gn4large_DivMod{T}", "binary_g<{T}, {T}, DivMod, 4>"),
    (TERNARY, "v_Select{T}", "ternary_v<{T}, Select, false, false, 1>"),
    (TERNARY, "vn_Select{T}", "ternary_v<{T}, Select, false, false>"),
    (TERNARY, "vs_Select{T}", "ternary_v<{T}, Select, false, true, 1>"),
    (TERNARY, "sv_Select{T}", "ternary_v<{T}, Select, true, false, 1>"),
    (TERNARY, "vsn_Select{T}", "ternary_v<{T}, Select, false, true>"),
    (TERNARY, "svn_Select{T}", "ternary_v<{T}, Select, true, false>"),
    (TERNARY, "v2_Select{T}", "ternary_v2<{T}, Select, false, false>"),
    (TERNARY, "vs2_Select{T}", "ternary_v2<{T}, Select, false, true>"),
    (TERNARY, "sv2_Select{T}", "ternary_v2<{T}, Select, true, false>"),
    (TERNARY, "g{n:1|2|3}_Select{T}", "ternary_g_nd{n}<{T}, Select, int>"),
    (TERNARY, "g{n:1|2|3}large_Select{T}", "ternary_g_nd{n}<{T}, Select>"),
    (TERNARY, "gn2_Select{T}", "ternary_g<{T}, Select, 2, int>"),
    (TERNARY, "gn4large_Select{T}", "ternary_g<{T}, Select, 4>"),
    (BINARY, "ss_{Op}{T}", "binary_ss<{T}, {@c}, {Op}>"),
    (BINARY, "{k:sv|vs|vv}_{Op}{T}", "binary_{k}<{T}, {@c}, {Op}, 1>"),
    (BINARY, "{k:sv|vs|vv}n_{Op}{T}", "binary_{k}<{T}, {@c}, {Op}>"),
    (BINARY, "{k:sv2|vs2|vv2}_{Op}{T}", "binary_{k}<{T}, {@c}, {Op}>"),
    (BINARY, "g{n:1|2|3}_{Op}{T}", "binary_g_nd{n}<{T}, {@c}, {Op}, int>"),
    (BINARY, "g{n:1|2|3}large_{Op}{T}", "binary_g_nd{n}<{T}, {@c}, {Op}>"),
    (BINARY, "gn2_{Op}{T}", "binary_g<{T}, {@c}, {Op}, 2, int>"),
    (BINARY, "gn4large_{Op}{T}", "binary_g<{T}, {@c}, {Op}, 4>"),
    (REDUCE, "init_reduce_{r:sum=Sum|prod=Prod|min=Min|max=Max}{T}", "init_reduce<{T}, {r}<{T}>>"),
    (REDUCE, "init_reduce_{r:and=And|or=Or}{T}", "init_reduce<{T}, {r}>"),
    (REDUCE, "all_reduce_{r:sum=Sum|prod=Prod|min=Min|max=Max}{T}", "all_reduce<{T}, {@out}, {r}<{@out}>>"),
    (REDUCE, "all_reduce_{r:and=And|or=Or}{T}", "all_reduce<{T}, {@out}, {r}>"),
    (
        REDUCE,
        "row_reduce_simple_{r:sum=Sum|prod=Prod|min=Min|max=Max}{T}",
        "row_reduce_simple<{T}, {@out}, {r}<{@out}>>",
    ),
    (REDUCE, "row_reduce_simple_{r:and=And|or=Or}{T}", "row_reduce_simple<{T}, {@out}, {r}>"),
    (
        REDUCE,
        "{k:row_reduce_small|row_reduce_looped|col_reduce_small|col_reduce_longcolumn}_{n}_reduce_{r:sum=Sum|prod=Prod|min=Min|max=Max}{T}",
        "{k}<{T}, {@out}, {r}<{@out}>, int, {n}>",
    ),
    (
        REDUCE,
        "{k:row_reduce_small|row_reduce_looped|col_reduce_small|col_reduce_longcolumn}_large_{n}_reduce_{r:sum=Sum|prod=Prod|min=Min|max=Max}{T}",
        "{k}<{T}, {@out}, {r}<{@out}>, int64_t, {n}>",
    ),
    (
        REDUCE,
        "{k:row_reduce_small|row_reduce_looped|col_reduce_small|col_reduce_longcolumn}_{n}_reduce_{r:and=And|or=Or}{T}",
        "{k}<{T}, {@out}, {r}, int, {n}>",
    ),
    (
        REDUCE,
        "{k:col_reduce_looped|col_reduce_2pass}_{n}_{bm}_{bn}_reduce_{r:sum=Sum|prod=Prod|min=Min|max=Max}{T}",
        "{k}<{T}, {@out}, {r}<{@out}>, int, {n}, {bm}, {bn}>",
    ),
    (
        REDUCE,
        "{k:col_reduce_looped|col_reduce_2pass}_large_{n}_{bm}_{bn}_reduce_{r:sum=Sum|prod=Prod|min=Min|max=Max}{T}",
        "{k}<{T}, {@out}, {r}<{@out}>, int64_t, {n}, {bm}, {bn}>",
    ),
    (
        REDUCE,
        "{k:col_reduce_looped|col_reduce_2pass}_{n}_{bm}_{bn}_reduce_{r:and=And|or=Or}{T}",
        "{k}<{T}, {@out}, {r}, int, {n}, {bm}, {bn}>",
    ),
    (
        SCAN,
        "{k:contig=contiguous|strided}_scan_{r:reverse_=true|=false}{i:inclusive=true|exclusive=false}_{o:sum=CumSum|prod=CumProd|max=CumMax|min=CumMin|logaddexp=CumLogaddexp}_{T}_{U}",
        "{k}_scan<{T}, {U}, {o}<{U}>, 4, {i}, {r}>",
    ),
    (SORT, "c_block_sort_{T}_{U}_bn{bn}_tn{tn}", "block_sort<{T}, {U}, false, {bn}, {tn}>"),
    (SORT, "carg_block_sort_{T}_{U}_bn{bn}_tn{tn}", "block_sort<{T}, {U}, true, {bn}, {tn}>"),
    (SORT, "nc_block_sort_{T}_{U}_bn{bn}_tn{tn}", "block_sort_nc<{T}, {U}, false, {bn}, {tn}>"),
    (SORT, "ncarg_block_sort_{T}_{U}_bn{bn}_tn{tn}", "block_sort_nc<{T}, {U}, true, {bn}, {tn}>"),
    (SORT, "sort_mbsort_{T}_{U}_bn{bn}_tn{tn}", "mb_block_sort<{T}, {U}, true, {bn}, {tn}>"),
    (SORT, "partition_mbsort_{T}_{U}_bn{bn}_tn{tn}", "mb_block_partition<{T}, {U}, true, {bn}, {tn}>"),
    (SORT, "merge_mbsort_{T}_{U}_bn{bn}_tn{tn}", "mb_block_merge<{T}, {U}, true, {bn}, {tn}>"),
    (SEARCHSORTED, "searchsorted_{T}_{r:left=false|right=true}", "searchsorted<{T}, {r}>"),
    (SOFTMAX, "block_softmax_{T}", "softmax_single_row<{T}>"),
    (SOFTMAX, "block_softmax_precise_{T}", "softmax_single_row<{T}, float>"),
    (SOFTMAX, "looped_softmax_{T}", "softmax_looped<{T}>"),
    (SOFTMAX, "looped_softmax_precise_{T}", "softmax_looped<{T}, float>"),
    (LOGSUMEXP, "block_logsumexp_{T}", "logsumexp<{T}>"),
    (LOGSUMEXP, "looped_logsumexp_{T}", "logsumexp_looped<{T}>"),
    (ARANGE, "arange{T}", "arange<{T}>"),
    (CROSS_ENTROPY, "cross_entropy_{T}", "cross_entropy<{T}>"),
    (CROSS_ENTROPY, "cross_entropy_vjp_{T}", "cross_entropy_vjp<{T}>"),
    (DOT, "dot_product_{T}_it{it}_tg{tg}_sg{sg}", "dot_product<{T}, {it}, {tg}, {sg}>"),
    (FFT, "{k:fft|rader_fft|bluestein_fft}_mem_{m}_{T}_{U}", "{k}<{m}, {T}, {U}>"),
    (FFT, "four_step_mem_{m}_{T}_{U}_{s}_{r:true|false}", "four_step_fft<{m}, {T}, {U}, {s}, {r}>"),
    (
        GEMV,
        "{k:gemv|gemv_t}_{T}_bm{bm}_bn{bn}_sm{sm}_sn{sn}_tm{tm}_tn{tn}_nc{b:0=false|1=true}_axpby{a:0=false|1=true}",
        "{k}<{T}, {bm}, {bn}, {sm}, {sn}, {tm}, {tn}, {b}, {a}>",
    ),
    (
        GEMV,
        "{k:gemv_gather|gemv_t_gather}_{T}_bm{bm}_bn{bn}_sm{sm}_sn{sn}_tm{tm}_tn{tn}",
        "{k}<{T}, {bm}, {bn}, {sm}, {sn}, {tm}, {tn}>",
    ),
    (GEMV, "gemv_wide_{T}_nv{nv}_kl{kl}", "gemv_wide<{T}, {nv}, {kl}>"),
    (GEMV, "gemv_wide_gather_{T}_nv{nv}_kl{kl}", "gemv_wide_gather<{T}, {nv}, {kl}>"),
    (
        GEMV_MASKED,
        "{k:gemv|gemv_t}_outmask_{O}_opmask_{P}_{T}_bm{bm}_bn{bn}_sm{sm}_sn{sn}_tm{tm}_tn{tn}_nc{b:0=false|1=true}",
        "{k}_masked<{T}, {O}, {P}, {bm}, {bn}, {sm}, {sn}, {tm}, {tn}, {b}>",
    ),
    (SDPA, "sdpa_vector_{T}_{d}_{v}", "sdpa_vector<{T}, {d}, {v}>"),
    (SDPA, "sdpa_vector_2pass_1_{T}_{d}_{v}", "sdpa_vector_2pass_1<{T}, {d}, {v}>"),
    (SDPA, "sdpa_vector_2pass_1_{T}_{d}_{v}_tk{t}", "sdpa_vector_2pass_1<{T}, {d}, {v}, {t}>"),
    (SDPA, "sdpa_vector_2pass_2_{T}_{d}", "sdpa_vector_2pass_2<{T}, {d}>"),
    (SDPA_BLOCKED, "sdpa_blocked_scale_copy_{T}", "sdpa_blocked_scale_copy<{T}>"),
    (SDPA_BLOCKED, "sdpa_blocked_causal_mask_{T}", "sdpa_blocked_causal_mask<{T}>"),
    (
        GATED_DELTA,
        "gated_delta_fused_chunk_{T}_{a}_{b}_{c}_{d}_{e}",
        "gated_delta_fused_chunk<{T}, {a}, {b}, {c}, {d}, {e}>",
    ),
    (GATED_DELTA, "seq_gated_delta_{T}_{a}_{b}_{c}_{d}_{e}", "gated_delta_seq<{T}, {a}, {b}, {c}, {d}, {e}>"),
    (
        GATED_DELTA_VJP,
        "seq_gated_delta_vjp_{T}_{a}_{b}_{c}_{d}_{e}",
        "gated_delta_vjp_seq<{T}, {a}, {b}, {c}, {d}, {e}>",
    ),
    (
        FUSED,
        "steel_gemm_fused_{a:n=false|t=true}{b:n=false|t=true}_{T}_{U}_bm{bm}_bn{bn}_bk{bk}_wm{wm}_wn{wn}",
        "gemm<{T}, {bm}, {bn}, {bk}, {wm}, {wn}, {a}, {b}>",
    ),
    (
        GATHER,
        "steel_gather_mm_{a:n=false|t=true}{b:n=false|t=true}_{T}_{U}_bm{bm}_bn{bn}_bk{bk}_wm{wm}_wn{wn}",
        "gather_mm<{T}, {bm}, {bn}, {bk}, {wm}, {wn}, {a}, {b}>",
    ),
    (
        GATHER,
        "steel_gather_mm_rhs_n{b:n=false|t=true}_{T}_{U}_bm{bm}_bn{bn}_bk{bk}_wm{wm}_wn{wn}",
        "gather_mm_rhs<{T}, {bm}, {bn}, {bk}, {wm}, {wn}, false, {b}>",
    ),
    (
        MASKED,
        "steel_gemm_block_outmask_{O}_opmask_{P}_{a:n=false|t=true}{b:n=false|t=true}_{T}_{U}_bm{bm}_bn{bn}_bk{bk}_wm{wm}_wn{wn}_MN_{m:t=true|n=false}aligned_K_{k:t=true|n=false}aligned",
        "block_masked_gemm<{T}, {O}, {P}, {bm}, {bn}, {bk}, {wm}, {wn}, {a}, {b}, {m}, {k}>",
    ),
    (
        SEGMENTED,
        "steel_segmented_mm_{a:n=false|t=true}{b:n=false|t=true}_{T}_{U}_bm{bm}_bn{bn}_bk{bk}_wm{wm}_wn{wn}",
        "segmented_mm<{T}, {bm}, {bn}, {bk}, {wm}, {wn}, {a}, {b}>",
    ),
    (
        SPLITK,
        "steel_gemm_splitk_{a:n=false|t=true}{b:n=false|t=true}_{T}_{U}_bm{bm}_bn{bn}_bk{bk}_wm{wm}_wn{wn}_MN_{m:t=true|n=false}aligned_K_{k:t=true|n=false}aligned",
        "gemm_splitk<{T}, {U}, {bm}, {bn}, {bk}, {wm}, {wn}, {a}, {b}, {m}, {k}>",
    ),
    (SPLITK, "steel_gemm_splitk_accum_{T}_{U}", "gemm_splitk_accum<{U}, {T}>"),
    (SPLITK, "steel_gemm_splitk_accum_{T}_{U}_axbpy", "gemm_splitk_accum_axpby<{U}, {T}>"),
    (
        ATTENTION,
        "steel_attention_{T}_bq{bq}_bk{bk}_bd{bd}_bv{bv}_wm{wm}_wn{wn}_mask{M}",
        "attention<{T}, {bq}, {bk}, {bd}, {bv}, {wm}, {wn}, {M}, float>",
    ),
    (
        CONV,
        "implicit_gemm_conv_2d_{T}_bm{bm}_bn{bn}_bk{bk}_wm{wm}_wn{wn}_channel_{c:1|2|3|4|l=0}_filter_{f:s=true|l=false}",
        "implicit_gemm_conv_2d<{T}, {bm}, {bn}, {bk}, {wm}, {wn}, {c}, {f}>",
    ),
    (
        CONV_3D,
        "implicit_gemm_conv_3d_{T}_bm{bm}_bn{bn}_bk{bk}_wm{wm}_wn{wn}_filter_{f:s=true|l=false}",
        "implicit_gemm_conv_3d<{T}, {bm}, {bn}, {bk}, {wm}, {wn}, {f}>",
    ),
    (
        CONV_GENERAL,
        "implicit_gemm_conv_2d_general_{T}_bm{bm}_bn{bn}_bk{bk}_wm{wm}_wn{wn}",
        "implicit_gemm_conv_2d_general<{T}, {bm}, {bn}, {bk}, {wm}, {wn}>",
    ),
    (
        QUANTIZED,
        "affine_qmv_quad_{T}_gs_{gs}_b_{b}_d_{d}_batch_{a:0=false|1=true}",
        "affine_qmv_quad<{T}, {gs}, {b}, {d}, {a}>",
    ),
    (
        QUANTIZED,
        "{k:affine_qmv|affine_qmv_fast}_{T}_gs_{gs}_b_{b}_batch_{a:0=false|1=true}_pr_{p:0=false|1=true}_hgs_{h:0=false|1=true}_r_{r}",
        "{k}<{T}, {gs}, {b}, {a}, {p}, {h}, {r}>",
    ),
    (
        QUANTIZED,
        "affine_qmv_wide_{T}_gs_{gs}_b_{b}_nv_{nv}_kl_{kl}_batch_{a:0=false|1=true}",
        "affine_qmv_wide<{T}, {gs}, {b}, {nv}, {kl}, {a}>",
    ),
    (
        QUANTIZED,
        "{k:affine_qvm|affine_qmm_n}_{T}_gs_{gs}_b_{b}_batch_{a:0=false|1=true}",
        "{k}<{T}, {gs}, {b}, {a}>",
    ),
    (QUANTIZED, "affine_qvm_split_k_{T}_gs_{gs}_b_{b}_spk_{s}", "affine_qvm_split_k<{T}, {gs}, {b}, {s}>"),
    (
        QUANTIZED,
        "affine_qmm_t_{T}_gs_{gs}_b_{b}_alN_{n:true|false}_batch_{a:0=false|1=true}",
        "affine_qmm_t<{T}, {gs}, {b}, {n}, {a}>",
    ),
    (
        QUANTIZED,
        "{k:affine_qmm_t_splitk|affine_gather_qmm_t}_{T}_gs_{gs}_b_{b}_alN_{n:true|false}",
        "{k}<{T}, {gs}, {b}, {n}>",
    ),
    (
        QUANTIZED,
        "{k:affine_gather_qmv_fast|affine_gather_qmv|affine_gather_qvm|affine_gather_qmm_n|affine_quantize|affine_dequantize}_{T}_gs_{gs}_b_{b}",
        "{k}<{T}, {gs}, {b}>",
    ),
    (
        QUANTIZED,
        "affine_gather_qmm_rhs_n{t:t=true|n=false}_{T}_gs_{gs}_b_{b}_bm_{bm}_bn_{bn}_bk_{bk}_wm_{wm}_wn_{wn}",
        "affine_gather_qmm_rhs<{T}, {gs}, {b}, {bm}, {bn}, {bk}, {wm}, {wn}, {t}>",
    ),
    (
        FP_QUANTIZED,
        "{m:mxfp4|mxfp8|nvfp4}_qmv_quad_{T}_gs_{gs}_b_{b}_d_{d}_batch_{a:0=false|1=true}",
        "fp_qmv_quad<{T}, {gs}, {b}, {d}, {a}>",
    ),
    (
        FP_QUANTIZED,
        "{m:mxfp4|mxfp8|nvfp4}_{k:qmv|qmv_fast}_{T}_gs_{gs}_b_{b}_batch_{a:0=false|1=true}_pr_{p:0=false|1=true}_hgs_{h:0=false|1=true}_r_{r}",
        "fp_{k}<{T}, {gs}, {b}, {a}, {p}, {h}, {r}>",
    ),
    (
        FP_QUANTIZED,
        "{m:mxfp4|mxfp8|nvfp4}_qmv_wide_{T}_gs_{gs}_b_{b}_nv_{nv}_kl_{kl}_batch_{a:0=false|1=true}",
        "fp_qmv_wide<{T}, {gs}, {b}, {nv}, {kl}, {a}>",
    ),
    (
        FP_QUANTIZED,
        "{m:mxfp4|mxfp8|nvfp4}_{k:qvm|qmm_n}_{T}_gs_{gs}_b_{b}_batch_{a:0=false|1=true}{h:_hgs=true|=false}",
        "fp_{k}<{T}, {gs}, {b}, {a}, {h}>",
    ),
    (
        FP_QUANTIZED,
        "{m:mxfp4|mxfp8|nvfp4}_qvm_split_k_{T}_gs_{gs}_b_{b}_spk_{s}",
        "fp_qvm_split_k<{T}, {gs}, {b}, {s}>",
    ),
    (
        FP_QUANTIZED,
        "{m:mxfp4|mxfp8|nvfp4}_qmm_t_{T}_gs_{gs}_b_{b}_alN_{n:true|false}_batch_{a:0=false|1=true}{h:_hgs=true|=false}",
        "fp_qmm_t<{T}, {gs}, {b}, {n}, {a}, {h}>",
    ),
    (
        FP_QUANTIZED,
        "{m:mxfp4|mxfp8|nvfp4}_qmm_t_splitk_{T}_gs_{gs}_b_{b}_alN_{n:true|false}",
        "fp_qmm_t_splitk<{T}, {gs}, {b}, {n}>",
    ),
    (
        FP_QUANTIZED,
        "{m:mxfp4|mxfp8|nvfp4}_gather_qmm_t_{T}_gs_{gs}_b_{b}_alN_{n:true|false}{h:_hgs=true|=false}",
        "fp_gather_qmm_t<{T}, {gs}, {b}, {n}, {h}>",
    ),
    (
        FP_QUANTIZED,
        "{m:mxfp4|mxfp8|nvfp4}_{k:gather_qmv_fast|gather_qmv|gather_qvm|gather_qmm_n}_{T}_gs_{gs}_b_{b}{h:_hgs=true|=false}",
        "fp_{k}<{T}, {gs}, {b}, {h}>",
    ),
    (
        FP_QUANTIZED,
        "{m:mxfp4|mxfp8|nvfp4}_gather_qmm_rhs_n{t:t=true|n=false}_{T}_gs_{gs}_b_{b}_bm_{bm}_bn_{bn}_bk_{bk}_wm_{wm}_wn_{wn}{h:_hgs=true|=false}",
        "fp_gather_qmm_rhs<{T}, {gs}, {b}, {bm}, {bn}, {bk}, {wm}, {wn}, {t}, {h}>",
    ),
    (
        FP_QUANTIZED,
        "{m:mxfp4|mxfp8|nvfp4}_{k:quantize|dequantize|quantize_dequantize}_{T}_gs_{gs}_b_{b}_hgs_{h:true|false}",
        "fp_{k}<{T}, {gs}, {b}, {h}>",
    ),
];
