//! Checks the shader library and writes its Rust bindings; `build/mod.rs` documents the steps.

#[path = "build/mod.rs"]
mod library;

use std::path::PathBuf;

fn main() {
    // Build scripts run in the folder of the package, so messages have paths relative to it.
    let folders = library::Folders {
        shaders: "src/metal/shaders".into(),
        include: "src/metal/include".into(),
        operations: "src/metal/operations".into(),
        out: std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default(),
    };
    for path in ["build.rs", "build", "src/metal/shaders", "src/metal/include", "src/metal/operations"] {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rerun-if-env-changed={}", library::metallib::SWITCH);
    let for_macos = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "macos");
    // Kernels are compiled with LLVM, on macOS only with the feature `cpu`: as in the other crates.
    println!("cargo::rustc-check-cfg=cfg(llvm)");
    let feature = if for_macos { "CARGO_FEATURE_CPU" } else { "CARGO_FEATURE_COMPILER" };
    if std::env::var_os(feature).is_some() {
        println!("cargo::rustc-cfg=llvm");
    }
    let switch = std::env::var(library::metallib::SWITCH).ok();
    let compiler = library::metallib::Compiler::choose(for_macos, switch.as_deref());
    // One directive per line: cargo shows them in order, with the carets below their lines. An error fails the build.
    let (kind, text) = match library::build(&folders, compiler.as_ref()) {
        Ok(warnings) => ("warning", warnings),
        Err(errors) => ("error", errors),
    };
    for line in text.lines() {
        println!("cargo::{kind}={line}");
    }
}
