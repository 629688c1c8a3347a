//! The examples of all crates run and print what they promise. `cargo test` builds them before the tests.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::Scratch;

/// The program of an example, in the folder beside that of the tests.
fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    let folder = test.parent().and_then(Path::parent).expect("the target folder");
    let program = folder.join("examples").join(name);
    assert!(program.is_file(), "{} is not built: run `cargo build --workspace --examples`", program.display());
    program
}

/// Stdout of an example that succeeds.
#[track_caller]
fn output(name: &str, arguments: &[&str]) -> String {
    let cache = Scratch::new();
    let run = Command::new(program(name))
        .args(arguments)
        .env("METALWORKS_CACHE", cache.path())
        .env("METALWORKS_DEVICE", "cpu")
        .output()
        .expect("the example starts");
    assert!(run.status.success(), "{name}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).expect("stdout is UTF-8")
}

#[test]
fn reflect_prints_the_interface_of_kernels() {
    assert_eq!(
        output("reflect", &[]),
        "kernel scale\n  Buffer 0: device float * x\n  Buffer 1: constant float & factor\n"
    );
    let gemv = support::root().join("examples/gemv.metal").display().to_string();
    assert!(output("reflect", &[&gemv]).starts_with("kernel gemv\n"));
    let folder = Scratch::new();
    let broken = folder.file("broken.metal", "kernel void k(constant int *n [[buffer(0)]]) { *n = 1; }");
    let run = Command::new(program("reflect")).arg(broken).output().expect("the example starts");
    assert_eq!(run.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&run.stderr).contains("broken.metal:1:"), "{run:?}");
}

#[test]
#[cfg(llvm)]
fn run_kernel_computes() {
    assert!(output("run_kernel", &[]).ends_with("2 · 9999 + 1 = 19999\n"));
}

#[test]
#[cfg(llvm)]
fn cache_pipelines_finds_them_again() {
    let folder = Scratch::new();
    let file = format!("{}/kernels.mwarchive", folder.path());
    let first = output("cache_pipelines", &[&file]);
    assert_eq!(first.matches(": Compiled\n").count(), 3, "{first}");
    let second = output("cache_pipelines", &[&file]);
    assert_eq!(second.matches(": Archive\n").count(), 3, "{second}");
}

#[test]
#[cfg(llvm)]
fn gemv_multiplies() {
    assert!(output("gemv", &[]).contains("96 × 256 weights in q8_0: largest error 0."));
}

#[test]
#[cfg(llvm)]
fn generate_writes_text() {
    let text = output("generate", &[]);
    let last = text.lines().next_back().unwrap_or_default();
    // Random weights may also end the text.
    assert!(last.contains(" tokens, ") && last.contains(" per second, stopped by "), "{text}");
}
