//! Files that are written: if there is no room for the new one, the old one is whole and nothing else is left.
#![cfg(all(unix, llvm))]

mod support;

use std::path::Path;
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
        (vec!["xcrun", "metal", "-E", "examples/gemv.metal", "-o"], ""),
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

/// Commands that write several files: each of them is an old one or a new one.
#[test]
fn folders_have_whole_files_if_the_disk_is_full() {
    let scratch = Scratch::new();
    let framework = scratch.file("libmetal_framework.so", "");
    let [pages, environment] = ["pages", "env"].map(|name| format!("{}/{name}", scratch.path()));
    let page = scratch.file("pages/metalworks-check.1", "the old file");
    let header = scratch.file("env/include/Metal/Metal.h", "the old file");
    for (arguments, old, folder) in [
        (vec!["man", &pages], &page, &pages),
        (vec!["env", "--framework", &framework, "--folder", &environment], &header, &environment),
    ] {
        let (status, stderr) = on_a_full_disk(&arguments);
        assert_eq!(status, Some(2), "{arguments:?}: {stderr}");
        assert_eq!(std::fs::read(old).expect("it is there"), b"the old file", "{arguments:?}");
        assert_eq!(temporary_files(folder.as_ref()), 0, "{arguments:?}");
    }
}

/// Files in a folder that are incomplete.
fn temporary_files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let count = |entry: std::fs::DirEntry| match entry.path().is_dir() {
        true => temporary_files(&entry.path()),
        false => usize::from(entry.file_name().to_string_lossy().ends_with(".tmp")),
    };
    entries.map(count).sum()
}
