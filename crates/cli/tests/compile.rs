//! `metalworks compile`, which is there with the feature `air`.
#![cfg(feature = "air")]

use std::path::PathBuf;
use std::process::{Command, Output};

fn metalworks(args: &[&str]) -> Output {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_metalworks")).args(args).current_dir(root).output().expect("it runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn writes_a_library_that_can_be_read() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("gemv.metallib");
    let output = metalworks(&["compile", "examples/gemv.metal", "-o", path.to_str().expect("a name")]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(stdout(&output).contains("1 kernel, "), "{output:?}");
    let bytes = std::fs::read(&path).expect("it was written");
    let library = air::metallib::Library::parse(&bytes).expect("it is a library");
    let function = library.function("gemv").expect("it has the kernel");
    assert!(!function.bitcode().expect("its hash is right").is_empty());
}

#[test]
fn prints_air() {
    let output = metalworks(&["compile", "examples/gemv.metal", "--emit", "air", "gemv"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for part in ["target triple = \"air64_v26", "@air.simd_sum.f32", "!air.kernel", "MTL_FC_INIT_1_b"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

#[test]
fn says_what_is_wrong() {
    let missing = metalworks(&["compile", "examples/missing.metal", "-o", "out.metallib"]);
    assert_eq!(missing.status.code(), Some(2));
    let kernel = metalworks(&["compile", "examples/gemv.metal", "--emit", "air", "no_such"]);
    assert_eq!(kernel.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&kernel.stderr).contains("no kernel 'no_such'"));
    let folder = metalworks(&["compile", "examples/gemv.metal", "-o", "/no/such/folder/out.metallib"]);
    assert_eq!(folder.status.code(), Some(2));
}
