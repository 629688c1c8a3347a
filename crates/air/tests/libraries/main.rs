//! Libraries of all the kernels that there are: every kernel compiles, its library reflects what its source does, and LLVM 14,
//! which is of the age of Apple's tools, reads and verifies it.
//!
//! `make air` installs LLVM 14, downloads shaders of others and runs the tests that are ignored. A kernel is compiled once for
//! all checks: compiling thousands of them is what takes the time.
#![cfg(llvm)]

mod llvm14;
mod reflection;

use metalworks_air::inkwell::context::Context;
use metalworks_air::metallib::Library;
use metalworks_air::{Error, MathMode, ProgramSource, lower};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Shaders in a folder, and how they are compiled.
struct Shaders {
    folder: PathBuf,
    options: msl::Options,
    /// Files that others include.
    fragments: &'static [&'static str],
    with_locations: bool,
    /// Kernels that must be there.
    least: usize,
}

#[test]
#[ignore = "needs LLVM 14 and scripts/corpus.sh; run by make air"]
fn every_kernel_compiles_reflects_and_is_read_by_llvm_14() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = workspace.join("crates/inference/src/metal");
    let own_options = msl::Options { include_dirs: vec![own.join("include")], ..msl::Options::default() };
    let shaders = |folder: &Path, least| Shaders {
        folder: folder.to_owned(),
        options: msl::Options::default(),
        fragments: &[],
        with_locations: false,
        least,
    };
    let all = [
        shaders(&workspace.join("examples"), 2),
        Shaders { with_locations: true, ..shaders(&workspace.join("examples"), 2) },
        Shaders { options: own_options.clone(), ..shaders(&own.join("shaders"), 200) },
        Shaders { options: own_options, with_locations: true, ..shaders(&own.join("shaders"), 200) },
        shaders(&corpus().join("candle"), 1734),
        Shaders {
            options: ggml_options(&[("GGML_METAL_HAS_BF16", Some("1"))]),
            fragments: &["fa_common.metal", "fa_vec_common.metal"],
            ..shaders(&corpus().join("ggml/ggml-metal/kernels"), 1066)
        },
    ];
    for shaders in &all {
        let (kernels, failures) = check_all(shaders);
        report(&format!("{}: {kernels} kernels compile, reflect and are verified", shaders.folder.display()));
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        assert!(kernels >= shaders.least, "kernels are missing in {}", shaders.folder.display());
    }
}

/// Kernels with tensors are refused as such, and the others of their file are lowered.
#[test]
#[ignore = "needs scripts/corpus.sh; run by make air"]
fn kernels_with_tensors_are_left_out() {
    let options = msl::Options {
        std: msl::LanguageVersion::new(4, 0),
        ..ggml_options(&[("GGML_METAL_HAS_TENSOR", None), ("GGML_METAL_HAS_BF16", None)])
    };
    let compilation = compile(&corpus().join("ggml/ggml-metal/kernels/mul_mm.metal"), &options);
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

fn corpus() -> PathBuf {
    std::env::var_os("METALWORKS_CORPUS").expect("METALWORKS_CORPUS names the corpus").into()
}

fn ggml_options(defines: &[(&str, Option<&str>)]) -> msl::Options {
    let folder = corpus().join("ggml");
    msl::Options {
        include_dirs: vec![folder.clone(), folder.join("ggml-metal")],
        defines: defines.iter().map(|(name, value)| ((*name).into(), value.map(Into::into))).collect(),
        ..msl::Options::default()
    }
}

fn compile(file: &Path, options: &msl::Options) -> msl::Compilation {
    let compilation = msl::compile_file(file, options).unwrap_or_else(|error| panic!("{error}"));
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    compilation
}

/// The number of kernels in these files that pass all checks, and a line for each failure.
fn check_all(shaders: &Shaders) -> (usize, Vec<String>) {
    let entries = std::fs::read_dir(&shaders.folder).unwrap_or_else(|error| panic!("{error}"));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "metal"));
    files.retain(|file| !shaders.fragments.iter().any(|fragment| file.ends_with(fragment)));
    // The largest is begun first, lest the others wait for it in the end.
    files.sort_by_key(|file| (std::fs::metadata(file).expect("it is there").len(), file.clone()));
    let files = Mutex::new(files);
    let found = Mutex::new((0, Vec::new()));
    let work = || {
        loop {
            // Not in the condition of a loop, where the lock would be held.
            let next = files.lock().expect("no thread panicked").pop();
            let Some(file) = next else { return };
            let (kernels, failures) = check_file(&file, shaders);
            let mut found = found.lock().expect("no thread panicked");
            found.0 += kernels;
            found.1.extend(failures);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            // Expressions nest.
            let thread = std::thread::Builder::new().stack_size(64 << 20);
            thread.spawn_scoped(scope, work).expect("a thread can be started");
        }
    });
    found.into_inner().expect("no thread panicked")
}

fn check_file(file: &Path, shaders: &Shaders) -> (usize, Vec<String>) {
    let compilation = compile(file, &shaders.options);
    let source = ProgramSource { has_locations: shaders.with_locations, ..ProgramSource::from(&compilation) };
    let compiled = metalworks_air::compile(source, MathMode::Fast).unwrap_or_else(|error| panic!("{error}"));
    let failed = |name: &str, error: &dyn std::fmt::Display| format!("{}: {name}: {error}", file.display());
    let mut failures: Vec<_> = compiled.left_out.iter().map(|(name, error)| failed(name, error)).collect();
    let library = Library::parse(&compiled.library).expect("we wrote it");
    if failures.is_empty() {
        reflection::compare(file, &compilation, &library);
    }
    let mut verified = 0;
    for function in library.functions() {
        match llvm14::verify(function.bitcode().expect("we wrote it")) {
            Ok(()) => verified += 1,
            Err(error) => failures.push(failed(function.name(), &error)),
        }
    }
    (verified, failures)
}

#[allow(clippy::print_stdout, reason = "the counts are what this test is run for")]
fn report(line: &str) {
    println!("{line}");
}
