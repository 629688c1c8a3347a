//! Kernels of others, lowered to AIR: every one must give a module that LLVM's verifier accepts.
//!
//! `make air` downloads them and runs this test; it is ignored otherwise, because it needs the download.
#![cfg(llvm)]

use inkwell::context::Context;
use metalworks_air::{Error, MathMode, lower};
use std::path::{Path, PathBuf};

#[test]
#[ignore = "needs scripts/corpus.sh; run by make air"]
fn kernels_of_others_are_lowered() {
    let root = PathBuf::from(std::env::var_os("METALWORKS_CORPUS").expect("METALWORKS_CORPUS names the corpus"));
    let ggml = root.join("ggml");
    let plain = msl::Options::default();
    let with_headers = msl::Options {
        include_dirs: vec![ggml.clone(), ggml.join("ggml-metal")],
        defines: vec![("GGML_METAL_HAS_BF16".into(), Some("1".into()))],
        ..msl::Options::default()
    };
    let mut failures = Vec::new();
    let candle = lower_all(&root.join("candle"), &plain, &[], &mut failures);
    let fragments = ["fa_common.metal", "fa_vec_common.metal"];
    let ggml = lower_all(&ggml.join("ggml-metal/kernels"), &with_headers, &fragments, &mut failures);
    report(&format!("candle: {candle} kernels lowered and verified; ggml: {ggml}; {} refused", failures.len()));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(candle >= 1734 && ggml >= 1066, "kernels are missing");
}

/// Kernels with tensors are refused as such, and the others of their file are lowered.
#[test]
#[ignore = "needs scripts/corpus.sh; run by make air"]
fn kernels_with_tensors_are_left_out() {
    let root = PathBuf::from(std::env::var_os("METALWORKS_CORPUS").expect("METALWORKS_CORPUS names the corpus"));
    let ggml = root.join("ggml");
    let options = msl::Options {
        include_dirs: vec![ggml.clone(), ggml.join("ggml-metal")],
        defines: vec![("GGML_METAL_HAS_TENSOR".into(), None), ("GGML_METAL_HAS_BF16".into(), None)],
        std: msl::LanguageVersion::new(4, 0),
        ..msl::Options::default()
    };
    let file = ggml.join("ggml-metal/kernels/mul_mm.metal");
    let compilation = msl::compile_file(&file, &options).unwrap_or_else(|error| panic!("{error}"));
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let (mut lowered, mut left_out) = (0, 0);
    for entry in compilation.program.kernels() {
        let context = Context::create();
        match lower(&context, &compilation, entry, MathMode::Fast) {
            Ok(module) => {
                module.verify().unwrap_or_else(|error| panic!("{}: {error}", entry.name));
                lowered += 1;
            }
            Err(error @ Error::Unsupported { .. }) => {
                assert!(error.to_string().contains("extents"), "{}: {error}", entry.name);
                left_out += 1;
            }
            Err(error) => panic!("{}: {error}", entry.name),
        }
    }
    report(&format!("ggml with tensors: {lowered} kernels lowered, {left_out} left out"));
    assert_eq!((lowered, left_out), (11, 102));
}

/// The number of kernels below `dir` that are lowered and verified.
fn lower_all(dir: &Path, options: &msl::Options, fragments: &[&str], failures: &mut Vec<String>) -> usize {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "metal"));
    files.retain(|file| !fragments.iter().any(|fragment| file.ends_with(fragment)));
    files.sort();
    let mut lowered = 0;
    for file in files {
        let compilation = msl::compile_file(&file, options).unwrap_or_else(|error| panic!("{error}"));
        assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
        for entry in compilation.program.kernels() {
            let context = Context::create();
            let result = lower(&context, &compilation, entry, MathMode::Fast);
            let verified = result.map_err(|error| error.to_string()).and_then(|module| {
                module.verify().map_err(|error| error.to_string().lines().take(3).collect::<Vec<_>>().join(" | "))
            });
            match verified {
                Ok(()) => lowered += 1,
                Err(error) => failures.push(format!("{}: {}: {error}", file.display(), entry.name)),
            }
        }
    }
    lowered
}

#[allow(clippy::print_stdout, reason = "the counts are what this test is run for")]
fn report(line: &str) {
    println!("{line}");
}
