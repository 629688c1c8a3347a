//! Embedded libraries, from Apple's compiler or ours.

use crate::library::metallib::{Compiler, apple};
use crate::{TWICE, folders, library};
use std::fs;
use std::path::PathBuf;

/// A script in place of `xcrun`: it logs its arguments and runs `then`.
#[cfg(unix)]
fn fake_xcrun(folders: &library::Folders, then: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folders.out.join("xcrun");
    let log = folders.out.join("calls");
    // The library is the argument after -o.
    let find = "while [ $# -gt 0 ]; do if [ \"$1\" = -o ]; then out=$2; fi; shift; done";
    fs::write(&path, format!("#!/bin/sh\necho \"$@\" >> '{}'\n{find}\n{then}\n", log.display())).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
#[cfg(unix)]
fn apples_compiler_is_called_with_pinned_flags() {
    let folders = folders("xcrun");
    fs::write(folders.shaders.join("twice.metal"), TWICE).unwrap();
    let xcrun = fake_xcrun(&folders, "[ -z \"$out\" ] || printf 'MTLB and more' > \"$out\"");
    assert!(apple::has_metal(&xcrun));
    library::build(&folders, Some(&Compiler::Apple(xcrun))).unwrap();
    let calls = fs::read_to_string(folders.out.join("calls")).unwrap();
    let path = |path: PathBuf| path.display().to_string();
    let expected = format!(
        "-sdk macosx metal --version\n-sdk macosx metal -std=metal3.1 -mmacosx-version-min=14.0 -O2 -ffast-math -I {} -o {} {}\n",
        path(folders.include.clone()),
        path(folders.out.join("twice.metallib")),
        path(folders.shaders.join("twice.metal")),
    );
    assert_eq!(calls, expected);
    let text = fs::read_to_string(folders.out.join("kernels.rs")).unwrap();
    assert!(text.contains(&embedded("twice", "Apple")), "{text}");
}

#[test]
#[cfg(unix)]
fn reports_a_compiler_that_fails_or_writes_no_library() {
    for (then, expected) in [
        ("echo 'twice.metal:3: error: no' >&2; exit 1", "twice.metal:3: error: no"),
        ("true", "wrote no library"),
        ("printf '' > \"$out\"", "wrote 0 bytes that are no Metal library"),
        ("printf 'hello' > \"$out\"", "wrote 5 bytes that are no Metal library"),
    ] {
        let folders = folders("failing");
        fs::write(folders.shaders.join("twice.metal"), TWICE).unwrap();
        fs::write(folders.out.join("twice.metallib"), "MTLB of an earlier build").unwrap();
        let xcrun = fake_xcrun(&folders, then);
        let message = library::build(&folders, Some(&Compiler::Apple(xcrun))).expect_err(then);
        assert!(message.contains(expected), "{then}: {message}");
    }
}

/// Generated code that embeds a library.
fn embedded(name: &str, compiler: &str) -> String {
    let data = format!("include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.metallib\"))");
    format!("metallib: Some(PrecompiledLibrary {{ data: {data}, compiler: LibraryCompiler::{compiler} }})")
}

#[test]
#[cfg(all(feature = "compiler", not(target_os = "macos")))]
fn our_compiler_writes_a_library_for_each_shader() {
    let folders = folders("ours");
    fs::write(folders.include.join("two.metal"), "inline float two() { return 2.0f; }\n").unwrap();
    let thrice = "kernel void thrice(device float* x [[buffer(0)]]) { x[0] += x[0] * two(); }\n";
    fs::write(folders.shaders.join("thrice.metal"), format!("#include \"two.metal\"\n{thrice}")).unwrap();
    fs::write(folders.shaders.join("twice.metal"), TWICE).unwrap();
    library::build(&folders, Compiler::choose(false, None).as_ref()).unwrap();
    let text = fs::read_to_string(folders.out.join("kernels.rs")).unwrap();
    for (name, kernels) in [("thrice", &["thrice"][..]), ("twice", &["twice_f32", "twice_f16"])] {
        let bytes = fs::read(folders.out.join(name).with_extension("metallib")).unwrap();
        let library = air::metallib::Library::parse(&bytes).unwrap();
        let names: Vec<&str> = library.functions().iter().map(|function| function.name()).collect();
        assert_eq!(names, kernels);
        assert!(text.contains(&embedded(name, "Metalworks")), "{text}");
    }
}

#[test]
#[cfg(all(feature = "compiler", not(target_os = "macos")))]
fn a_shader_that_our_compiler_cannot_lower_fails_the_build() {
    let folders = folders("unsupported");
    let shader = "float missing(float x);
        kernel void k(device float* x [[buffer(0)]]) { x[0] = missing(x[0]); }";
    fs::write(folders.shaders.join("lacking.metal"), shader).unwrap();
    let message = library::build(&folders, Compiler::choose(false, None).as_ref()).expect_err("nothing defines it");
    let expected =
        "lacking.metal:1:7: error: kernel 'k': a call of 'missing', which is declared and never defined,";
    assert!(message.contains(expected), "{message}");
    assert!(library::build(&folders, None).is_ok(), "the source alone is fine");
}

#[test]
fn without_a_compiler_only_the_source_is_embedded() {
    let folders = folders("alone");
    fs::write(folders.shaders.join("twice.metal"), TWICE).unwrap();
    library::build(&folders, None).unwrap();
    let text = fs::read_to_string(folders.out.join("kernels.rs")).unwrap();
    assert!(text.contains("metallib: None"), "{text}");
    assert!(!folders.out.join("twice.metallib").exists());
}

#[test]
fn the_switch_disables_libraries_for_all_targets() {
    for for_macos in [false, true] {
        assert!(Compiler::choose(for_macos, Some("0")).is_none());
    }
    let ours = Compiler::choose(false, None);
    assert_eq!(ours.is_some(), cfg!(all(feature = "compiler", not(target_os = "macos"))));
}
