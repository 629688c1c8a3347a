//! Families of MLX's kernels, by name.

/// The families whose names begin with a word of their own; a longer beginning comes before a shorter one.
const BEGINNINGS: [(&str, &[&str]); 26] = [
    ("affine quantized, matrix × vector", &["affine_qmv", "affine_qvm", "affine_gather_qmv", "affine_gather_qvm"]),
    ("affine quantized, matrix × matrix", &["affine_qmm", "affine_gather_qmm"]),
    ("affine quantize, dequantize", &["affine_"]),
    ("fp quantized", &["mxfp", "nvfp"]),
    ("all, row and column reductions", &["all_reduce", "row_reduce", "col_reduce", "init_reduce"]),
    ("arange", &["arange"]),
    ("argmax, argmin", &["argm"]),
    ("attention, vector", &["sdpa_vector"]),
    ("attention, steel", &["steel_attention"]),
    ("attention, other", &["sdpa_", "attention"]),
    ("convolution", &["implicit_gemm", "winograd", "depthwise", "naive_unfold"]),
    ("cross entropy", &["cross_entropy"]),
    ("fft", &["fft_", "rader_fft", "bluestein_fft", "four_step", "generate_bluestein"]),
    ("gated delta", &["gated_delta", "seq_gated_delta"]),
    ("gemv", &["gemv"]),
    ("hadamard", &["hadamard"]),
    ("layer norm, rms norm", &["layer_norm", "rms", "vjp_layer_norm", "vjp_rms"]),
    ("random", &["rbits"]),
    ("rope", &["rope"]),
    ("scan", &["contig_scan", "strided_scan"]),
    ("search", &["searchsorted"]),
    ("softmax, log-sum-exp", &["block_softmax", "looped_softmax", "block_logsumexp", "looped_logsumexp"]),
    ("sort", &["c_block", "carg_block", "nc_block", "ncarg_block", "sort_mb", "partition_mb", "merge_mb"]),
    ("steel gemm, masked", &["steel_gemm_block"]),
    ("steel gemm, split", &["steel_gemm_splitk"]),
    ("steel gemm, other", &["steel_"]),
];

/// The layouts of elementwise kernels: the first part of their names.
const LAYOUTS: [&str; 7] = ["v", "s", "g", "ss", "sv", "vs", "vv"];

const TYPES: [&str; 13] = [
    "bfloat16",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "int16",
    "int32",
    "int64",
    "int8",
    "float16",
    "float32",
    "bool_",
    "complex64",
];

pub(crate) fn family(name: &str) -> &'static str {
    let begins =
        |(_, beginnings): &&(&str, &[&str])| beginnings.iter().any(|beginning| name.starts_with(beginning));
    if let Some((family, _)) = BEGINNINGS.iter().find(begins) {
        return family;
    }
    let Some((layout, operation)) = name.split_once('_') else { return "other" };
    let layout =
        layout.trim_end_matches("large").trim_end_matches(|last: char| last.is_ascii_digit() || last == 'n');
    if !LAYOUTS.contains(&layout) && layout != "gg" {
        return "other";
    }
    match operation {
        _ if operation.contains("copy") => "copy",
        _ if operation.starts_with("Select") => "select",
        _ if names_one_type(operation) => "binary",
        _ => "unary",
    }
}

/// An operation of one input names the types of the input and of the output, any other only one type.
fn names_one_type(operation: &str) -> bool {
    // "bfloat16" ends with "float16": the longest name counts.
    let without = |text: &str| {
        let rests = TYPES.iter().filter_map(|name| text.strip_suffix(name).map(str::len));
        rests.min().map(|length| text[..length].to_string())
    };
    without(operation).is_none_or(|rest| without(&rest).is_none())
}
