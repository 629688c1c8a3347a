//! A source and the library that it is compiled to must tell a host the same.

use metalworks_air::metallib::Library;
use metalworks_air::reflect::reflect_library;
use metalworks_air::{Error, MathMode};
use msl::reflect::Kernel;
use std::path::{Path, PathBuf};

/// Takes from the description of a source what only its optimized code shows: arguments that no code uses though the
/// source mentions them, and variables in threadgroup memory.
fn leave_out_unused(source: &mut Kernel, library: &Kernel) {
    for (source, library) in source.arguments.iter_mut().zip(&library.arguments) {
        assert!(source.is_used || !library.is_used, "{} is unused", source.name);
        source.is_used = library.is_used;
    }
    source.threadgroup_memory.retain(|variable| library.threadgroup_memory.contains(variable));
    assert!(library.static_threadgroup_memory <= source.static_threadgroup_memory);
    source.static_threadgroup_memory = library.static_threadgroup_memory;
}

/// Compares the two; the number of kernels.
pub(crate) fn compare(file: &Path, compilation: &msl::Compilation, library: &Library) -> usize {
    let mut source = compilation.reflect();
    let library = reflect_library(library, |_| true).unwrap_or_else(|error| panic!("{error}"));
    // A library has kernels only, and lists function constants in the kernels' modules only.
    source.functions.clear();
    if source.kernels.is_empty() {
        source.function_constants.clear();
    }
    assert_eq!(source.kernels.len(), library.kernels.len(), "{}", file.display());
    for (source, library) in source.kernels.iter_mut().zip(&library.kernels) {
        leave_out_unused(source, library);
        assert_eq!(source, library, "{}: {}", file.display(), source.name);
    }
    assert_eq!(source, library, "{}", file.display());
    source.kernels.len()
}

/// Compiles and compares; `None` where the file is wrong, or has a kernel that cannot be compiled yet.
fn compile_and_compare(file: &Path) -> Option<usize> {
    let compilation = msl::compile_file(file, &msl::Options::default()).unwrap_or_else(|error| panic!("{error}"));
    if compilation.has_errors() {
        return None;
    }
    let compiled = metalworks_air::compile(&compilation, MathMode::Fast).unwrap_or_else(|error| panic!("{error}"));
    let internal = compiled.left_out.iter().find(|(_, error)| matches!(error, Error::Internal(_)));
    assert!(internal.is_none(), "{internal:?}");
    if !compiled.left_out.is_empty() {
        return None;
    }
    let library = Library::parse(&compiled.library).expect("we wrote it");
    Some(compare(file, &compilation, &library))
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
    files.sort();
}

#[test]
fn examples_and_test_files() {
    // Long expressions are lowered recursively: with the stack that compilations get.
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(all_examples_and_test_files);
    thread.expect("a thread").join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

fn all_examples_and_test_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&root.join("../../examples"), &mut files);
    collect(&root.join("../msl/tests/files"), &mut files);
    let kernels: usize = files.iter().filter_map(|file| compile_and_compare(file)).sum();
    assert!(kernels > 100, "only {kernels} kernels");
}
