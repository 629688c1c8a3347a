//! The test files of the front end, lowered: every kernel that is accepted gives a valid module, or is refused as
//! something that is not supported yet. A mistake of ours fails.
#![cfg(llvm)]

use inkwell::context::Context;
use metalworks_air::{Error, MathMode, lower};
use std::path::{Path, PathBuf};

#[test]
fn accepted_programs_are_lowered() {
    // Long expressions are lowered recursively: with the stack that compilations get.
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(all_accepted_programs_are_lowered);
    thread.expect("a thread").join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

fn all_accepted_programs_are_lowered() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../msl/tests/files");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let (mut lowered, mut failures) = (0, Vec::new());
    for file in &files {
        let options = msl::Options { std: version(file), ..msl::Options::default() };
        let compilation = msl::compile_file(file, &options).unwrap_or_else(|error| panic!("{error}"));
        if compilation.has_errors() {
            continue;
        }
        for entry in compilation.program.kernels() {
            for math in [MathMode::Fast, MathMode::Safe] {
                let context = Context::create();
                match lower(&context, &compilation, entry, math).map(|module| module.verify()) {
                    Ok(Ok(())) => lowered += 1,
                    Ok(Err(error)) => failures.push(format!("{}: {}: {error}", file.display(), entry.name)),
                    Err(Error::Unsupported { .. }) => {}
                    Err(error) => failures.push(format!("{}: {}: {error}", file.display(), entry.name)),
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(lowered > 200, "only {lowered} modules");
}

/// The language version that the options of a test file choose.
fn version(file: &Path) -> msl::LanguageVersion {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let options = text.lines().find_map(|line| line.strip_prefix("// options: "));
    let version = options.and_then(|options| options.split_once("--std ")?.1.split_whitespace().next());
    version.map_or_else(msl::LanguageVersion::default, |version| version.parse().expect("a version"))
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
