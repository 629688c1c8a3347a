//! Sets the cfg `llvm`: kernels are compiled with LLVM. That is what the feature `compiler` means everywhere but on macOS,
//! where Metal compiles them, and LLVM comes in with the feature `cpu` only.
//!
//! Sets the cfg `metal`: there is a Metal framework. On Linux that is the crate `framework`, for tests
//! (`make metal-on-linux`, which sets the cfg `metal_on_linux`).
//!
//! Sets the cfg `cuda` where NVIDIA has drivers.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(llvm, metal, metal_on_linux)");
    let on_macos = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "macos");
    let feature = if on_macos { "CARGO_FEATURE_CPU" } else { "CARGO_FEATURE_COMPILER" };
    if std::env::var_os(feature).is_some() {
        println!("cargo::rustc-cfg=llvm");
    }
    println!("cargo::rustc-check-cfg=cfg(cuda)");
    let is_in =
        |variable: &str, known: &[&str]| std::env::var(variable).is_ok_and(|value| known.contains(&&*value));
    if is_in("CARGO_CFG_TARGET_OS", &["linux"]) && is_in("CARGO_CFG_TARGET_ARCH", &["x86_64", "aarch64"]) {
        println!("cargo::rustc-cfg=cuda");
    }
    if on_macos || std::env::var_os("CARGO_CFG_METAL_ON_LINUX").is_some() {
        println!("cargo::rustc-cfg=metal");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
