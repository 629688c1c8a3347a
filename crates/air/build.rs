//! Sets the cfg `llvm`: the crate has its content everywhere but on macOS, where LLVM comes in with the feature `cpu`
//! only.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(llvm)");
    let on_macos = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "macos");
    if !on_macos || std::env::var_os("CARGO_FEATURE_CPU").is_some() {
        println!("cargo::rustc-cfg=llvm");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
