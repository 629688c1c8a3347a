//! Libraries are for tools of Apple's age: LLVM 14 reads and verifies every kernel, as `compile` writes it.
//!
//! `make air` installs LLVM 14, downloads shaders of others and runs this test; it is ignored otherwise.
#![cfg(llvm)]

use metalworks_air::{MathMode, ProgramSource, compile_kernel};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
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
fn llvm_14_verifies_every_kernel() {
    let root = PathBuf::from(std::env::var_os("METALWORKS_CORPUS").expect("METALWORKS_CORPUS names the corpus"));
    let ggml = root.join("ggml");
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
        shaders(&root.join("candle"), 1734),
        Shaders {
            options: msl::Options {
                include_dirs: vec![ggml.clone(), ggml.join("ggml-metal")],
                defines: vec![("GGML_METAL_HAS_BF16".into(), Some("1".into()))],
                ..msl::Options::default()
            },
            fragments: &["fa_common.metal", "fa_vec_common.metal"],
            ..shaders(&ggml.join("ggml-metal/kernels"), 1066)
        },
    ];
    let failures = Mutex::new(Vec::new());
    for shaders in &all {
        let verified = verify_all(shaders, &failures);
        report(&format!("{}: LLVM 14 has verified {verified} kernels", shaders.folder.display()));
        let failures = failures.lock().expect("no thread panicked");
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        assert!(verified >= shaders.least, "kernels are missing in {}", shaders.folder.display());
    }
}

/// The number of kernels in these files that LLVM 14 has verified.
fn verify_all(shaders: &Shaders, failures: &Mutex<Vec<String>>) -> usize {
    let entries = std::fs::read_dir(&shaders.folder).unwrap_or_else(|error| panic!("{error}"));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "metal"));
    files.retain(|file| !shaders.fragments.iter().any(|fragment| file.ends_with(fragment)));
    files.sort();
    let files = Mutex::new(files);
    let verified = Mutex::new(0);
    let work = || {
        loop {
            // Not in the condition of a loop, where the lock would be held.
            let next = files.lock().expect("no thread panicked").pop();
            let Some(file) = next else { return };
            let (count, failed) = verify_file(&file, shaders);
            *verified.lock().expect("no thread panicked") += count;
            failures.lock().expect("no thread panicked").extend(failed);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            // Expressions nest.
            let thread = std::thread::Builder::new().stack_size(64 << 20);
            thread.spawn_scoped(scope, work).expect("a thread can be started");
        }
    });
    verified.into_inner().expect("no thread panicked")
}

fn verify_file(file: &Path, shaders: &Shaders) -> (usize, Vec<String>) {
    let compilation = msl::compile_file(file, &shaders.options).unwrap_or_else(|error| panic!("{error}"));
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let source = ProgramSource { has_locations: shaders.with_locations, ..ProgramSource::from(&compilation) };
    let (mut verified, mut failures) = (0, Vec::new());
    for entry in compilation.program.kernels() {
        let function = compile_kernel(source, entry, MathMode::Fast).map_err(|error| error.to_string());
        let result = function.and_then(|function| verify(function.bitcode().expect("it was just made")));
        match result {
            Ok(()) => verified += 1,
            Err(error) => failures.push(format!("{}: {}: {error}", file.display(), entry.name)),
        }
    }
    (verified, failures)
}

/// Has LLVM 14 read and verify a module. (Its `opt` refuses a triple that it does not know, and Apple's own modules with
/// it.)
fn verify(bitcode: &[u8]) -> Result<(), String> {
    let folder = std::env::var_os("METALWORKS_LLVM14").unwrap_or_else(|| "/usr/lib/llvm-14/bin".into());
    let program = PathBuf::from(folder).join("opt");
    let mut child = Command::new(&program)
        .args(["-mtriple=x86_64-linux", "-passes=verify", "-disable-output", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{} cannot be run (make llvm14): {error}", program.display()));
    let mut input = child.stdin.take().expect("it is piped");
    // A program that refuses the beginning does not read the rest.
    let _ = input.write_all(bitcode);
    drop(input);
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).lines().take(3).collect::<Vec<_>>().join(" | ")),
    }
}

#[allow(clippy::print_stdout, reason = "the counts are what this test is run for")]
fn report(line: &str) {
    println!("{line}");
}
