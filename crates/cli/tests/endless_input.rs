//! Input without an end: every command that reads stdin or a file stops at the limit, with the same words.
#![cfg(all(unix, llvm))]

mod support;

use std::fs::File;
use std::process::Command;

use support::{Scratch, metalworks, root};

const ADD: &str = "examples/add_arrays.metal";

/// Runs the program with zeros on stdin. The shell's limit ends a run that keeps on reading.
fn with_zeros(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 16000000; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_metalworks")])
        .args(arguments)
        .env("METALWORKS_CACHE", "off")
        .env("METALWORKS_MODELS", "/nowhere")
        .stdin(File::open("/dev/zero").expect("zeros"))
        .current_dir(root())
        .output()
        .expect("the program starts");
    (output.status.code(), String::from_utf8(output.stderr).expect("stderr is UTF-8"))
}

#[track_caller]
fn is_refused(arguments: &[&str], name: &str) {
    let (status, stderr) = with_zeros(arguments);
    assert_eq!(status, Some(2), "{arguments:?}: {stderr}");
    let expected = format!("cannot read '{name}': it is larger than 64 MiB");
    assert!(stderr.contains(&expected), "{arguments:?}: {stderr}");
}

#[test]
fn stdin_has_the_limit_of_files() {
    let scratch = Scratch::new();
    let model = format!("{}/tiny.gguf", scratch.path());
    metalworks(["synthesize", "llama-tiny:q8_0", "-o", &model]).exits(0);
    let out = format!("{}/out", scratch.path());
    for arguments in [
        vec!["check", "-"],
        vec!["reflect", "-"],
        vec!["compile", "-", "-o", &out],
        vec!["compile", "-", "--target", "cpu", "-o", &out],
        vec!["exec", "-", "k", "--threads", "1"],
        vec!["run", "-m", &model],
        vec!["tokenize", "-m", &model],
        vec!["xcrun", "metal", "-c", "-", "-o", &out],
    ] {
        is_refused(&arguments, "<stdin>");
    }
    assert!(!std::path::Path::new(&out).exists());
}

#[test]
fn devices_have_the_limit_of_files() {
    let scratch = Scratch::new();
    let zeros = "/dev/zero";
    let library = format!("{}/zeros.metallib", scratch.path());
    std::os::unix::fs::symlink(zeros, &library).expect("a link");
    let out = format!("{}/out", scratch.path());
    is_refused(&["check", zeros], zeros);
    is_refused(&["reflect", zeros], zeros);
    is_refused(&["reflect", &library], &library);
    is_refused(&["objdump", zeros], zeros);
    is_refused(&["compile", zeros, "-o", &out], zeros);
    is_refused(&["compile", &library, "-o", &out], &library);
    is_refused(&["compile", ADD, "--link", zeros, "-o", &out], zeros);
    is_refused(&["compile", ADD, "--target", "cpu", "--kernels", zeros, "-o", &out], zeros);
    is_refused(&["exec", ADD, "add_arrays", "--threads", "1", "--arg", "a=@/dev/zero"], zeros);
    is_refused(&["perplexity", "--synthetic", "llama-tiny:q8_0", "-f", zeros], zeros);
    is_refused(&["doctor", "--reference", zeros], zeros);
    is_refused(&["xcrun", "metallib", zeros, "-o", &out], zeros);
    is_refused(&["xcrun", "metal-ar", "t", zeros], zeros);
}

/// Detecting a library reads no byte of a pipe.
#[test]
fn a_shader_may_come_through_a_named_pipe() {
    for command in ["check", "reflect"] {
        let line = format!("exec \"$0\" {command} <(cat {ADD})");
        let output = Command::new("bash")
            .args(["-c", &line, env!("CARGO_BIN_EXE_metalworks")])
            .current_dir(root())
            .output()
            .expect("the program starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {stderr}");
    }
}
