//! The kernels of the shader library and the examples.

use super::{kernel, kernel_with, root};
use abi::{ConstantValue, Threadgroups};
use metalworks_air::MathMode;
use std::collections::BTreeSet;
use std::path::PathBuf;

fn shaders() -> Vec<PathBuf> {
    let folders = [root().join("crates/inference/src/metal/shaders"), root().join("examples")];
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("it can be listed"));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "metal"));
    files.sort();
    files
}

fn compilation(file: &std::path::Path) -> msl::Compilation {
    let options = msl::Options {
        include_dirs: vec![root().join("crates/inference/src/metal/include")],
        ..msl::Options::default()
    };
    let compilation = msl::compile_file(file, &options).unwrap_or_else(|error| panic!("{error}"));
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    compilation
}

/// Compiles kernels of the library that `is_meant` says, and returns how many.
fn compile_all(mut is_meant: impl FnMut(&str, &str) -> bool) -> usize {
    let (mut count, mut failures) = (0, Vec::new());
    for file in shaders() {
        let compilation = compilation(&file);
        let stem = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let names: Vec<String> = compilation.program.kernels().map(|entry| entry.name.to_string()).collect();
        for name in names.into_iter().filter(|name| is_meant(&stem, name)) {
            count += 1;
            match kernel(&compilation, &name, Threadgroups::Whole, MathMode::Fast) {
                Ok(compiled) => {
                    let has_arrays = compiled.ptx.contains(".local");
                    let has_debug = compiled.ptx.contains("debug");
                    if has_arrays || has_debug {
                        failures.push(format!("{stem}: {name}: arrays {has_arrays}, debug {has_debug}"));
                    }
                }
                Err(error) => failures.push(format!("{stem}: {name}: {error}")),
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
    count
}

/// The kernels of one file differ in the types of their elements: one of each kind will do.
#[test]
fn a_kernel_of_each_family_compiles() {
    let mut seen = BTreeSet::new();
    let count = compile_all(|stem, name| {
        let family = name.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default();
        let family = family.trim_end_matches(|c: char| c != '_').to_owned();
        seen.insert((stem.to_owned(), family))
    });
    assert!(count >= 16, "{count} kernels");
}

#[test]
#[ignore = "takes minutes; run by scripts/ptxas.sh"]
fn all_kernels_compile() {
    assert!(compile_all(|_, _| true) >= 100);
}

/// The steps of a tile are unrolled, so that two products after one another are one.
#[test]
fn the_product_of_half_uses_the_largest_instruction() {
    let compilation = compilation(&root().join("crates/inference/src/metal/shaders/gemm.metal"));
    let compiled = kernel(&compilation, "gemm_q4_0_f16", Threadgroups::Whole, MathMode::Fast).expect("it compiles");
    assert!(
        compiled.ptx.contains("mma.sync.aligned.m16n8k16") && !compiled.ptx.contains("m16n8k8"),
        "{}",
        compiled.ptx
    );
}

/// All simdgroups multiply with the same matrices of threadgroup memory: four of them together.
#[test]
fn products_with_shared_matrices_are_those_of_warpgroups() {
    let compilation = compilation(&root().join("crates/inference/src/metal/shaders/gemm.metal"));
    let wide = [("WIDE", ConstantValue::Bool(true)), ("AHEAD", ConstantValue::Uint(2))];
    for (name, instruction) in [
        ("gemm_q4_0_f16", "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"),
        ("gemm_large_f16_f16", "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16"),
    ] {
        let compile = |threadgroups| {
            kernel_with(&compilation, name, threadgroups, MathMode::Fast, &wide).expect("it compiles")
        };
        let whole = compile(Threadgroups::Whole);
        assert!(whole.ptx.contains(instruction) && !whole.ptx.contains("mma.sync."), "{}", whole.ptx);
        assert_eq!(whole.thread_multiple, 128);
        // Stores are announced before each barrier, and products are waited for.
        let count = |text: &str| whole.ptx.matches(text).count();
        assert!(count("fence.proxy.async.shared::cta;") >= count("\tbar.sync"), "{}", whole.ptx);
        assert_eq!(count("wgmma.commit_group"), count("wgmma.wait_group"), "{}", whole.ptx);
        let any = compile(Threadgroups::Any);
        assert!(!any.ptx.contains("wgmma.") && any.ptx.contains("mma.sync."), "{}", any.ptx);
        assert_eq!(any.thread_multiple, 1);
    }
}
