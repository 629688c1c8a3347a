//! Shaders that others wrote: every one is accepted, and the number of kernels does not drop.
//!
//! `scripts/corpus.sh` downloads them, `make corpus` does that and runs this test. It is ignored otherwise, because a
//! test that needs a download would pass or fail with the network.

use std::path::{Path, PathBuf};

/// One collection of shaders.
struct Corpus {
    /// Its directory in the corpus.
    name: &'static str,
    /// Folder of its shaders, below that.
    shaders: &'static str,
    /// Folders to search for includes, below that.
    include_dirs: &'static [&'static str],
    defines: &'static [(&'static str, &'static str)],
    /// The language version.
    std: (u32, u32),
    /// Shaders that only others include.
    fragments: &'static [&'static str],
    /// Number of shaders that are accepted, and of their kernels.
    expected: (usize, usize),
}

const CORPORA: [Corpus; 5] = [
    Corpus {
        name: "candle",
        shaders: "",
        include_dirs: &[],
        defines: &[],
        std: (3, 1),
        fragments: &[],
        expected: (17, 1734),
    },
    ggml((3, 1), &[], (34, 1005)),
    ggml((3, 1), &[("GGML_METAL_HAS_BF16", "1")], (34, 1066)),
    ggml((4, 0), &[("GGML_METAL_HAS_TENSOR", "1")], (34, 1005)),
    ggml((4, 0), &[("GGML_METAL_HAS_TENSOR", "1"), ("GGML_METAL_HAS_BF16", "1")], (34, 1066)),
];

const fn ggml(
    std: (u32, u32),
    defines: &'static [(&'static str, &'static str)],
    expected: (usize, usize),
) -> Corpus {
    Corpus {
        name: "ggml",
        shaders: "ggml-metal/kernels",
        include_dirs: &["", "ggml-metal"],
        defines,
        std,
        fragments: &["fa_common.metal", "fa_vec_common.metal"],
        expected,
    }
}

/// Headers of MLX with kernels for Metal 4, below `mlx/backend/metal/kernels`, and instances of these kernels.
///
/// Three are missing, which call functions with arguments that these do not take: `fp_qmm_n_nax`,
/// `fp_gather_qmm_n_nax` and `gated_delta_vjp_fused_nax0`.
const MLX: &[(&[&str], &[&str])] = &[
    (
        &["steel/gemm/gemm.h", "steel/gemm/nax.h", "steel/gemm/loader.h", "quantized_utils.h", "quantized_nax.h"],
        &[
            "affine_qmm_t_nax, half, 64, 4, true, true",
            "affine_qmm_n_nax, bfloat, 64, 4, false",
            "affine_gather_qmm_t_nax, float, 32, 8, false",
            "affine_gather_qmm_n_nax, half, 128, 2",
            "affine_gather_qmm_rhs_nax, half, 64, 4, 64, 64, 64, 2, 2, true",
            "affine_gather_qmm_rhs_nax, bfloat, 64, 4, 64, 64, 64, 2, 2, false",
        ],
    ),
    (
        &[
            "steel/gemm/gemm.h",
            "steel/gemm/nax.h",
            "steel/gemm/loader.h",
            "quantized_utils.h",
            "fp_quantized_nax.h",
        ],
        &[
            "fp_qmm_t_nax, half, 32, 4, true, true",
            "fp_gather_qmm_t_nax, float, 16, 4, false",
            "fp_gather_qmm_rhs_nax, half, 32, 4, 64, 64, 64, 2, 2, true",
        ],
    ),
    (
        &["steel/attn/kernels/steel_attention_nax.h"],
        &[
            "attention_nax, half, 64, 32, 128, 128, 4, 1, bool",
            "attention_nax, bfloat, 64, 32, 64, 64, 4, 1",
            "attention_nax_dsplit, half, 64, 32, 256, 4, 2",
        ],
    ),
    (
        &["steel/gemm/gemm_nax.h", "steel/gemm/params.h", "steel/gemm/kernels/steel_gemm_fused_nax.h"],
        &["gemm, half, 64, 64, 256, 2, 2, false, true", "gemm, float, 128, 128, 512, 4, 4, true, false"],
    ),
    (
        &["steel/gemm/gemm_nax.h", "steel/gemm/params.h", "steel/gemm/kernels/steel_gemm_gather_nax.h"],
        &["gather_mm_rhs_nax, half, 64, 64, 256, 2, 2, false, true"],
    ),
    (
        &["steel/gemm/gemm_nax.h", "steel/gemm/params.h", "steel/gemm/kernels/steel_gemm_segmented_nax.h"],
        &["segmented_mm_nax, half, 64, 64, 256, 2, 2, false, true"],
    ),
    (
        &["steel/gemm/gemm_nax.h", "steel/gemm/params.h", "steel/gemm/kernels/steel_gemm_splitk_nax.h"],
        &["gemm_splitk_nax, half, 64, 64, 256, 2, 2, false, true"],
    ),
    (
        &["steel/gemm/gemm_nax.h", "steel/gemm/params.h", "steel/gemm/kernels/steel_gemm_thin_nax.h"],
        &["gemm_thin_nax, half, 1, 2, 1, 4, 1, true", "gemm_thin_nax, bfloat, 1, 2, 1, 2, 2, false"],
    ),
    (
        &["gated_delta_update_nax.h"],
        &[
            "gated_delta_fused_nax, bfloat, 128, 128, 16, 32, 64, 1",
            "gated_delta_fused_nax, float, 128, 128, 16, 32, 16, 1",
        ],
    ),
    (
        &["gated_delta_update_nax_vjp.h"],
        &[
            "gated_delta_vjp_fused_nax, bfloat, 128, 128, 16, 32, 16, 1",
            "gated_delta_vjp_fused_nax1, bfloat, 128, 128, 16, 32, 16",
            "gated_delta_dgamma_to_dg, bfloat, 16",
        ],
    ),
];

#[test]
#[ignore = "needs scripts/corpus.sh; run by make corpus"]
fn shaders_of_others_are_accepted() {
    let root = corpus_dir();
    let mut failures = Vec::new();
    for corpus in &CORPORA {
        let dir = root.join(corpus.name);
        let options = metalworks_msl::Options {
            include_dirs: corpus.include_dirs.iter().map(|include| dir.join(include)).collect(),
            std: metalworks_msl::LanguageVersion::new(corpus.std.0, corpus.std.1),
            defines: corpus.defines.iter().map(|(name, value)| ((*name).into(), Some((*value).into()))).collect(),
            ..metalworks_msl::Options::default()
        };
        let files = shaders(&dir.join(corpus.shaders), corpus.fragments);
        let (mut accepted, mut kernels) = (0, 0);
        for file in &files {
            let compilation =
                metalworks_msl::compile_file(file, &options).unwrap_or_else(|error| panic!("{error}"));
            if compilation.has_errors() {
                let first: Vec<_> =
                    compilation.render_diagnostics(false).lines().take(4).map(str::to_owned).collect();
                failures.push(format!("{} errors, first:\n{}", compilation.error_count(), first.join("\n")));
            } else {
                accepted += 1;
                kernels += compilation.reflect().kernels.len();
            }
        }
        let (name, (major, minor), macros) = (corpus.name, corpus.std, corpus.defines);
        let macros: Vec<&str> = macros.iter().map(|(name, _)| *name).collect();
        let macros = macros.join(", ");
        report(&format!(
            "{name} (Metal {major}.{minor}, {macros}): {accepted} of {} files accepted, {kernels} kernels",
            files.len()
        ));
        if accepted < corpus.expected.0 || kernels < corpus.expected.1 {
            let (files, all) = corpus.expected;
            failures.push(format!("{}: expected {files} files and {all} kernels or more", corpus.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The kernels of MLX are templates, which its own build instantiates: here by a text with each header.
#[test]
#[ignore = "needs scripts/corpus.sh; run by make corpus"]
fn kernels_of_mlx_for_metal_4_are_accepted() {
    let options = metalworks_msl::Options {
        include_dirs: vec![corpus_dir().join("mlx")],
        std: metalworks_msl::LanguageVersion::new(4, 0),
        ..metalworks_msl::Options::default()
    };
    let (mut kernels, mut failures) = (0, Vec::new());
    for (headers, instances) in MLX {
        let mut text = String::from("#include <metal_stdlib>\n");
        for header in ["utils.h", "steel/utils.h"].iter().chain(*headers) {
            text += &format!("#include \"mlx/backend/metal/kernels/{header}\"\n");
        }
        for (index, instance) in instances.iter().enumerate() {
            text += &format!("instantiate_kernel(\"k{index}\", {instance})\n");
        }
        let compilation = metalworks_msl::compile_source(headers.last().expect("a header"), &text, &options);
        if compilation.has_errors() {
            failures.push(compilation.render_diagnostics(false));
        }
        kernels += compilation.program.kernels().count();
    }
    report(&format!("mlx: {kernels} kernels for Metal 4"));
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert_eq!(kernels, 24);
}

/// Folder that `scripts/corpus.sh` fills; `METALWORKS_CORPUS` overrides it.
fn corpus_dir() -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let dir = variable("METALWORKS_CORPUS")
        .or_else(|| Some(variable("METALWORKS_CACHE")?.join("corpus")))
        .or_else(|| Some(variable("XDG_CACHE_HOME")?.join("metalworks/corpus")))
        .or_else(|| Some(variable("HOME")?.join(".cache/metalworks/corpus")))
        .expect("METALWORKS_CORPUS or HOME is set");
    assert!(dir.is_dir(), "{} is not there: run scripts/corpus.sh", dir.display());
    dir
}

/// The `.metal` files of a directory in the order of their names.
fn shaders(dir: &Path, fragments: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "metal"));
    files.retain(|file| !fragments.iter().any(|fragment| file.ends_with(fragment)));
    files.sort();
    files
}

#[allow(clippy::print_stdout, reason = "the counts are what this test is run for")]
fn report(line: &str) {
    println!("{line}");
}
