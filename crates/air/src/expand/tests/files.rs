//! Everything that our lowering can emit is expanded.

use crate::expand::expand;
use crate::lower::{Error, MathMode, lower};
use inkwell::context::Context;
use std::path::{Path, PathBuf};

/// True for functions across threads, which may be left.
fn is_across_threads(name: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "air.simd_",
        "air.quad_",
        "air.simdgroup",
        "air.wg.barrier",
        "air.atomic.",
        "air.get_simdgroup_size",
        "air.get_thread_index_in_simdgroup",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The test files of the front end, as far as they can be lowered.
#[test]
fn kernels_of_the_front_end_are_expanded() {
    // Long expressions are lowered recursively: with the stack that compilations get.
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(all_kernels_of_the_front_end_are_expanded);
    thread.expect("a thread").join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

fn all_kernels_of_the_front_end_are_expanded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../msl/tests/files");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let (mut expanded, mut failures) = (0, Vec::new());
    for file in &files {
        let compilation =
            msl::compile_file(file, &msl::Options::default()).unwrap_or_else(|error| panic!("{error}"));
        if compilation.has_errors() {
            continue;
        }
        for entry in compilation.program.kernels() {
            for math in [MathMode::Fast, MathMode::Safe] {
                let context = Context::create();
                let mut module = match lower(&context, &compilation.program, entry, math) {
                    Ok(module) => module,
                    Err(Error::Unsupported { .. }) => continue,
                    Err(error) => panic!("{}: {}: {error}", file.display(), entry.name),
                };
                let mut failed =
                    |what: String| failures.push(format!("{}: {}: {what}", file.display(), entry.name));
                match expand(&mut module) {
                    Err(error) => failed(error.to_string()),
                    Ok(()) => match module.verify() {
                        Err(error) => failed(error.to_string()),
                        Ok(()) => expanded += 1,
                    },
                }
                let names =
                    module.get_functions().map(|function| function.get_name().to_string_lossy().into_owned());
                let left: Vec<String> =
                    names.filter(|name| name.starts_with("air.") && !is_across_threads(name)).collect();
                if !left.is_empty() {
                    failed(format!("{left:?} are left"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(expanded > 200, "only {expanded} modules");
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display())) {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "metal") {
            files.push(path);
        }
    }
}

/// Every kernel of `mlx.metallib`, which Apple's compiler made.
#[test]
#[ignore = "needs mlx.metallib in the corpus (scripts/corpus.sh)"]
fn kernels_of_mlx_are_expanded() {
    let bytes = crate::metallib::apple_library();
    let library = crate::metallib::Library::parse(&bytes).expect("a library");
    let mut failures = std::collections::BTreeMap::new();
    for function in library.functions() {
        let context = Context::create();
        let module = crate::bitcode::parse(&context, function.bitcode().expect("bitcode"), function.name());
        let mut module = module.unwrap_or_else(|error| panic!("{}: {error}", function.name()));
        let failure = match expand(&mut module) {
            Err(error) => error.to_string(),
            Ok(()) => match module.verify() {
                Err(error) => error.to_string(),
                Ok(()) => continue,
            },
        };
        failures.entry(failure).or_insert_with(Vec::new).push(function.name().to_string());
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
