//! Programs in Objective-C, compiled by clang for GNUstep's ABI and linked to the framework.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// clang 22: `METALWORKS_CLANG`, or where packages install it.
fn clang() -> PathBuf {
    if let Some(named) = std::env::var_os("METALWORKS_CLANG") {
        return named.into();
    }
    let folder = std::env::var_os("LLVM_SYS_221_PREFIX").map_or("/usr/lib/llvm-22".into(), PathBuf::from);
    let installed = folder.join("bin/clang");
    if installed.exists() { installed } else { "clang-22".into() }
}

/// The folder with the framework, built for these tests.
fn library() -> PathBuf {
    let program = std::env::current_exe().expect("this program");
    program.parent().expect("its folder").to_owned()
}

/// Compiles a program of this folder.
fn build(name: &str, flags: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objective_c").join(name);
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).with_extension("out");
    let library = library();
    let output = Command::new(clang())
        .args([
            "-fobjc-runtime=gnustep-2.0",
            "-fblocks",
            "-fexceptions",
            "-fobjc-exceptions",
            "-O1",
            "-Wall",
            "-Werror",
        ])
        .args(["-Wno-objc-root-class", "-Wno-objc-method-access", "-Wno-incomplete-implementation"])
        .args(flags)
        .arg(source)
        .args(["-lmetal_framework", "-o"])
        .arg(&program)
        .arg(format!("-L{}", library.display()))
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .output()
        .expect("clang 22 is installed");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    program
}

fn run(program: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).env("METALWORKS_LEAKS", "fail").env_remove("LD_LIBRARY_PATH");
    command.output().expect("it runs")
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A program checks itself: its result is the number of failures, and what is left at its end is one more.
fn succeeds(name: &str, flags: &[&str]) {
    let output = run(&build(name, flags), &[]);
    assert!(output.status.success(), "{name}: {:?}\n{}", output.status, text(&output));
}

#[test]
fn loads_classes() {
    succeeds("classes.m", &[]);
}

#[test]
fn counts_references() {
    succeeds("references.m", &["-fobjc-arc"]);
}

#[test]
fn exceptions_reach_their_handlers() {
    succeeds("exceptions.m", &[]);
    let output = run(&build("exceptions.m", &[]), &["uncaught"]);
    let errors = text(&output);
    assert!(!output.status.success(), "{errors}");
    assert!(errors.contains("uncaught exception 'Generic', reason: 'a reason'"), "{errors}");
}

#[test]
fn work_runs_in_its_order() {
    succeeds("work.m", &[]);
}

#[test]
fn messages_of_kernels_reach_their_log_state() {
    let output = run(&build("log.m", &[]), &[]);
    let said = text(&output);
    assert!(output.status.success(), "{:?}\n{said}", output.status);
    let printed: Vec<&str> = said.lines().filter(|line| line.contains("x is ")).collect();
    let [message] = printed[..] else { panic!("{said}") };
    assert!(
        message.ends_with("error: x is 10 (com.example: tiles; threadgroup (0, 0, 0), thread (0, 0, 0))"),
        "{said}"
    );
}

#[test]
fn foundation_answers() {
    succeeds("foundation.m", &[]);
}

#[test]
fn queues_run_blocks() {
    succeeds("dispatch.m", &[]);
}

#[test]
fn metal_4_computes() {
    succeeds("metal4.m", &[]);
    let output = run(&build("metal4.m", &[]), &["commit too early"]);
    let expected =
        "-[MTL4DebugCommandQueue commit:count:]: failed assertion `commit a command buffer that was not begun.'";
    assert!(!output.status.success() && text(&output).contains(expected), "{}", text(&output));
}
