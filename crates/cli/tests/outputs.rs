//! Files that are written: if there is no room for the new one, the old one is whole and nothing else is left.
#![cfg(all(unix, llvm))]

mod support;

use std::process::Command;

use support::{Scratch, root};

/// Runs the program with files of at most 512 bytes, as on a full disk. Writing fails; no signal ends the process.
fn on_a_full_disk(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_metalworks")])
        .args(arguments)
        .env("METALWORKS_CACHE", "off")
        .current_dir(root())
        .output()
        .expect("the program starts");
    (output.status.code(), String::from_utf8(output.stderr).expect("stderr is UTF-8"))
}

#[test]
fn the_old_file_is_whole_if_the_disk_is_full() {
    let add = ["--threads", "1024", "--arg", "a=iota:f32:1024", "--arg", "b=ones:f32:1024", "--arg"];
    let exec = ["exec", "examples/add_arrays.metal", "add_arrays"];
    let exec = [&exec[..], &add[..], &["result=zeros:f32:1024", "--out"]].concat();
    for (arguments, prefix) in [
        (vec!["compile", "examples/add_arrays.metal", "-o"], ""),
        (vec!["compile", "examples/add_arrays.metal", "--target", "cpu", "-o"], ""),
        (exec, "result="),
        (vec!["xcrun", "metal", "-c", "examples/add_arrays.metal", "-o"], ""),
        (vec!["synthesize", "llama-tiny:q4_0", "-o"], ""),
    ] {
        let scratch = Scratch::new();
        let path = scratch.file("old", "the old file");
        let (status, stderr) = on_a_full_disk(&[&arguments[..], &[&format!("{prefix}{path}")]].concat());
        assert_eq!(status, Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains("the old file is unchanged"), "{arguments:?}: {stderr}");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"the old file", "{arguments:?}");
        assert_eq!(std::fs::read_dir(scratch.path()).expect("it is there").count(), 1, "{arguments:?}");
    }
}
