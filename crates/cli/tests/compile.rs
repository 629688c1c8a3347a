//! `metalworks compile`, which is there with LLVM, and `reflect` of what it writes.
#![cfg(llvm)]

mod support;

use support::{Scratch, metalworks, metalworks_with_stdin};

const GEMV: &str = "examples/gemv.metal";
const ADD_ARRAYS: &str = "examples/add_arrays.metal";

#[test]
fn writes_a_library_that_can_be_read() {
    let scratch = Scratch::new();
    let path = format!("{}/out.metallib", scratch.path());
    let run = metalworks(["compile", GEMV, ADD_ARRAYS, "-o", &path]).exits(0);
    assert!(run.stdout.starts_with(&format!("{path}: 2 kernels, ")), "{}", run.stdout);
    let bytes = std::fs::read(&path).expect("it was written");
    let library = air::metallib::Library::parse(&bytes).expect("it is a library");
    for name in ["gemv", "add_arrays"] {
        let function = library.function(name).expect("it has the kernel");
        assert!(!function.bitcode().expect("its hash is right").is_empty());
    }
    // A library is an input like another.
    let copy = format!("{}/copy.metallib", scratch.path());
    metalworks(["compile", &path, "-o", &copy]).exits(0);
    assert_eq!(std::fs::read(&copy).expect("it was written"), bytes);
}

#[test]
fn a_source_and_its_library_are_reflected_alike() {
    let scratch = Scratch::new();
    let path = format!("{}/out.metallib", scratch.path());
    for file in [GEMV, ADD_ARRAYS] {
        metalworks(["compile", file, "-o", &path]).exits(0);
        for json in [&["--json"][..], &[]] {
            let reflect = |file: &str| metalworks(["reflect", file].iter().chain(json)).exits(0).stdout;
            assert_eq!(reflect(&path), reflect(file));
        }
    }
    metalworks(["compile", GEMV, ADD_ARRAYS, "-o", &path]).exits(0);
    let of = |file: &str, kernel: &str| metalworks(["reflect", file, kernel]).exits(0).stdout;
    assert_eq!(of(&path, "gemv"), of(GEMV, "gemv"));
    assert_eq!(of(&path, "add_arrays"), of(ADD_ARRAYS, "add_arrays"));
    metalworks(["reflect", &path, "gemw"]).exits(1).says("no kernel named 'gemw'; did you mean 'gemv'?");
}

#[test]
fn prints_air() {
    let run = metalworks(["compile", GEMV, "--emit", "air", "gemv"]).exits(0);
    for part in ["target triple = \"air64_v26", "@air.simd_sum.f32", "!air.kernel", "MTL_FC_INIT_1_b"] {
        assert!(run.stdout.contains(part), "no {part} in {}", run.stdout);
    }
}

#[test]
fn prints_air_with_constants_set() {
    let emit = ["compile", GEMV, "--emit", "air", "gemv"];
    let run = metalworks(emit.iter().chain(&["--const", "0=u32:128", "--const", "USE_BIAS=bool:false"])).exits(0);
    assert!(run.stdout.contains(", 128\n"), "{}", run.stdout);
    assert!(!run.stdout.contains("fc_initializer"), "{}", run.stdout);
    assert!(!run.stdout.contains("!DILocation"), "{}", run.stdout);
    let located =
        metalworks(emit.iter().chain(&["-g", "--const", "0=u32:128", "--const", "USE_BIAS=bool:false"])).exits(0);
    assert!(located.stdout.contains(", 128, !dbg"), "{}", located.stdout);
    assert!(located.stdout.contains("!DILocation(line: 25, "), "{}", located.stdout);
    let one = metalworks(emit.iter().chain(&["--const", "0=u32:128"])).exits(1);
    one.says("examples/gemv.metal: kernel 'gemv': function constant not set: 'USE_BIAS' (index 1, bool)");
    let wrong = metalworks(emit.iter().chain(&["--const", "K=f32:1"])).exits(1);
    wrong.says("function constant 'K' (index 0) is a uint, and its value is a float");
    let unknown = metalworks(emit.iter().chain(&["--const", "9=bool:true"])).exits(1);
    unknown.says("there is no function constant with index 9; there is 'K' (index 0, uint)");
}

#[test]
fn prints_code_for_this_machine() {
    for (stage, expected) in [("llvm", "<32 x float>"), ("asm", "metalworks_kernel:")] {
        let emit = ["compile", GEMV, "--emit", stage, "gemv"];
        let run = metalworks(emit.iter().chain(&["--const", "0=u32:128", "--const", "1=bool:false"])).exits(0);
        assert!(run.stdout.contains(expected), "{}", run.stdout);
        metalworks(emit)
            .exits(1)
            .says("function constants not set: 'K' (index 0, uint), 'USE_BIAS' (index 1, bool)");
    }
    let run = metalworks(["compile", ADD_ARRAYS, "--emit", "asm", "add_arrays"]).exits(0);
    assert!(run.stdout.contains("metalworks_kernel:"), "{}", run.stdout);
}

#[test]
fn prints_ptx() {
    let emit = ["compile", GEMV, "--emit", "ptx", "gemv"];
    let constants = ["--const", "0=u32:128", "--const", "1=bool:false"];
    let run = metalworks(emit.iter().chain(&["--target", "sm_90a"]).chain(&constants)).exits(0);
    assert!(
        run.stdout.contains(".target sm_90a") && run.stdout.contains(".entry metalworks_kernel"),
        "{}",
        run.stdout
    );
    metalworks(emit).exits(2).says("--emit ptx needs one --target");
    metalworks(emit.iter().chain(&["--target", "sm_1"])).exits(2).says("the architecture 'sm_1'");
    metalworks(["compile", GEMV, "--emit", "asm", "gemv", "--target", "sm_90a"])
        .exits(2)
        .says("not for a --target");
}

#[test]
fn reports_problems_of_files() {
    let scratch = Scratch::new();
    let path = format!("{}/out.metallib", scratch.path());
    metalworks(["compile", "examples/missing.metal", "-o", &path]).exits(2).says("examples/missing.metal");
    metalworks(["compile", "examples/missing.metallib", "-o", &path]).exits(2).says("examples/missing.metallib");
    metalworks(["compile", GEMV, "--emit", "air", "no_such"]).exits(1).says("no kernel 'no_such'");
    metalworks(["compile", GEMV, "-o", "/no/such/folder/out.metallib"])
        .exits(2)
        .says("cannot write '/no/such/folder");
    metalworks(["compile", GEMV, "-o", &scratch.path()]).exits(2).says("cannot write");
    metalworks(["compile", GEMV, "--emit", "sass", "gemv"]).exits(2).says("unknown stage 'sass'");
    metalworks(["compile", GEMV, "-o", &path, "--const", "0=u32:1"]).exits(2).says("--const goes with --emit");
    metalworks(["compile", GEMV]).exits(2).says("--output");
    if cfg!(target_os = "linux") {
        metalworks(["compile", GEMV, "-o", "/dev/full"]).exits(2).says("cannot write '/dev/full'");
    }
    let bad = metalworks_with_stdin(["compile", "-", "-o", &path], b"kernel void k() { x = 1; }").exits(1);
    bad.says("<stdin>:1:19: error: use of undeclared identifier 'x'");
    let texture = b"#include <metal_stdlib>\nkernel void k(metal::texture2d<float> t [[texture(0)]]) {}";
    let unsupported = metalworks_with_stdin(["compile", "-", "-o", &path], texture).exits(1);
    unsupported.says("<stdin>:2:").says("kernel 'k': a texture argument is not supported yet");
}

#[test]
fn leaves_out_kernels_that_are_not_supported() {
    let scratch = Scratch::new();
    let path = format!("{}/out.metallib", scratch.path());
    let text = "#include <metal_stdlib>\nusing namespace metal;\n\
        kernel void a(texture2d<float> t [[texture(0)]]) {}\n\
        kernel void b(device int *x [[buffer(0)]]) { x[0] = 7; }\n\
        struct Arguments { texture2d<float> t; device float *x; };\n\
        kernel void c(constant Arguments &args [[buffer(0)]]) {\n  \
          args.x[0] = args.t.read(uint2(0)).x;\n\
        }\n";
    let file = scratch.file("mixed.metal", text);
    let run = metalworks(["compile", &file, "-o", &path]).exits(0);
    assert!(run.stdout.contains(": 1 kernel, "), "{}", run.stdout);
    run.says(&format!("warning: {file}:3:32: kernel 'a' is left out: a texture argument is not supported yet"))
        .says(&format!("warning: {file}:7:"))
        .says("kernel 'c' is left out: ")
        .says("read");
    metalworks(["compile", &file, "--emit", "air", "b"]).exits(0);
    let named = metalworks(["compile", &file, "--emit", "air", "a"]).exits(1);
    named.says(&format!("error: {file}:3:32: kernel 'a': a texture argument is not supported yet"));

    let archive = format!("{}/out.mwarchive", scratch.path());
    let run = metalworks(["compile", &file, "-o", &archive, "--target", "cpu"]).exits(0);
    assert!(run.stdout.contains(": 1 kernel for cpu, "), "{}", run.stdout);
    run.says(&format!("kernel 'a' is left out: a texture argument at {file}:3:32 is not supported"));
    let named = metalworks(["compile", &file, "-o", &archive, "--target", "cpu", "--kernel", "a"]).exits(1);
    named.says(&format!("a texture argument at {file}:3:32 is not supported"));

    let dispatch = ["--grid", "1", "--threadgroup", "1"];
    let b = [&["exec", &file, "b", "--arg", "0=zeros:i32:1", "--print", "x"][..], &dispatch].concat();
    let run = metalworks(b).exits(0);
    assert!(run.stdout.contains(" 7"), "{}", run.stdout);
    let refused = metalworks([&["exec", &file, "a"][..], &dispatch].concat()).exits(1);
    refused.says(&format!("a texture argument at {file}:3:32 is not supported"));

    let none = scratch.file("none.metal", text.replace("kernel void b", "void b"));
    let unwritten = format!("{}/none.metallib", scratch.path());
    let run = metalworks(["compile", &none, "-o", &unwritten]).exits(1);
    run.says("error: ").says("kernel 'a': ").says("kernel 'c': ");
    assert!(std::fs::metadata(&unwritten).is_err(), "a library was written");
    metalworks(["compile", &none, "-o", &archive, "--target", "cpu"]).exits(1).says("no kernel can be compiled");
}

#[test]
fn graphics_functions_are_left_out() {
    let scratch = Scratch::new();
    let (path, archive) = (format!("{}/out.metallib", scratch.path()), format!("{}/out.mwarchive", scratch.path()));
    let vertex = "#include <metal_stdlib>\nusing namespace metal;\n\
        vertex float4 v(uint i [[vertex_id]]) { return float4(i); }\n";
    let mixed = format!("{vertex}kernel void k(device int *x [[buffer(0)]]) {{ x[0] = 7; }}\n");
    let mixed = scratch.file("mixed.metal", mixed);
    let run = metalworks(["compile", &mixed, "-o", &path]).exits(0);
    assert!(run.stdout.contains(": 1 kernel, "), "{}", run.stdout);
    run.says(&format!("warning: {mixed}:3:"))
        .says("vertex function 'v' is left out: graphics is not supported yet");
    metalworks(["compile", &mixed, "--emit", "air", "v"]).exits(1).says("vertex function 'v': graphics is not");

    std::fs::remove_file(&path).expect("it was written");
    let alone = scratch.file("alone.metal", vertex);
    let run = metalworks(["compile", &alone, "-o", &path]).exits(1);
    run.says(&format!("error: {alone}:3:")).says("vertex function 'v': graphics is not supported yet");
    assert!(std::fs::metadata(&path).is_err(), "a library was written");
    let run = metalworks(["compile", &alone, "-o", &archive, "--target", "cpu"]).exits(1);
    run.says(&format!("error: {alone}: no kernels"));

    // Of a build, whose other files have the kernels.
    let run = metalworks(["xcrun", "metal", "-c", &alone, "-o", &format!("{}/alone.air", scratch.path())]).exits(0);
    run.says(&format!("warning: {alone}:3:")).says("vertex function 'v' is left out");
}

#[test]
fn rejects_a_kernel_in_two_files() {
    let scratch = Scratch::new();
    let one = scratch.file("one.metal", "kernel void k(device int *x [[buffer(0)]]) { x[0] = 1; }");
    let two = scratch.file("two.metal", "kernel void k(device int *x [[buffer(0)]]) { x[0] = 2; }");
    let path = format!("{}/out.metallib", scratch.path());
    let run = metalworks(["compile", &one, &two, "-o", &path]).exits(1);
    run.says(&format!("kernel 'k' is in both '{one}' and '{two}'"));
    assert!(std::fs::metadata(&path).is_err(), "a library was written");
}

/// A library's file after a change of its header.
fn with_header(
    scratch: &Scratch,
    name: &str,
    file: &str,
    change: impl FnOnce(&mut air::metallib::Header),
) -> String {
    let bytes = std::fs::read(file).expect("it was written");
    let mut library = air::metallib::Library::parse(&bytes).expect("it is a library");
    change(&mut library.header);
    scratch.file(name, library.write().expect("it can be written"))
}

#[test]
fn merges_libraries_and_shaders() {
    let scratch = Scratch::new();
    let path = |name: &str| format!("{}/{name}", scratch.path());
    let (one, all) = (path("one.metallib"), path("all.metallib"));
    metalworks(["compile", GEMV, "-o", &one]).exits(0);
    // An older library has no reflection list; the merged one describes its functions as others.
    let bytes = std::fs::read(&one).expect("it was written");
    let mut older = air::metallib::Library::parse(&bytes).expect("it is a library");
    let mut function = older.functions()[0].clone();
    (function.reflection, function.air_version, function.language_version) = (None, (2, 5), (3, 0));
    older = air::metallib::Library::new(older.header);
    (older.header.version, older.header.platform_major) = ([1, 2, 6], 15);
    older.add(function).expect("it is the first");
    let older = scratch.file("older.metallib", older.write().expect("it can be written"));
    assert_eq!(metalworks(["compile", &older, ADD_ARRAYS, "-o", &all]).exits(0).stderr, "");
    let merged = std::fs::read(&all).expect("it was written");
    let merged = air::metallib::Library::parse(&merged).expect("it is a library");
    assert_eq!((merged.header.version, merged.header.platform_major), ([1, 2, 7], 15));
    let before = air::metallib::Library::parse(&bytes).expect("it is a library");
    let (was, is) = (before.function("gemv").expect("a kernel"), merged.function("gemv").expect("a kernel"));
    assert_eq!((is.air_version, is.language_version), ((2, 5), (3, 0)));
    assert_eq!((is.hash(), &is.constants, &is.reflection), (was.hash(), &was.constants, &was.reflection));
    assert!(is.reflection.is_some() && !is.constants.is_empty());
    let of = |file: &str, kernel: &str| metalworks(["reflect", file, kernel]).exits(0).stdout;
    assert_eq!(of(&all, "gemv"), of(GEMV, "gemv"));
    assert_eq!(of(&all, "add_arrays"), of(ADD_ARRAYS, "add_arrays"));
    // Alone it stays what it is.
    metalworks(["compile", &older, "-o", &all]).exits(0);
    assert_eq!(std::fs::read(&all).expect("it was written"), std::fs::read(&older).expect("it was written"));
}

#[test]
fn merging_reports_a_lost_reflection_list() {
    let scratch = Scratch::new();
    let all = format!("{}/all.metallib", scratch.path());
    let odd = "kernel void odd(device uint *x, uint n [[dispatch_simdgroups_per_threadgroup]]) { x[0] = n; }";
    let odd = scratch.file("odd.metal", odd);
    let run = metalworks(["compile", GEMV, &odd, "-o", &all]).exits(0);
    run.says("all.metallib: no reflection list, since 'odd' cannot be described in one");
    let bytes = std::fs::read(&all).expect("it was written");
    assert_eq!(air::metallib::Library::parse(&bytes).expect("it is a library").header.version, [1, 2, 6]);
}

#[test]
fn rejects_libraries_that_do_not_fit_together() {
    let scratch = Scratch::new();
    let (one, all) = (format!("{}/one.metallib", scratch.path()), format!("{}/all.metallib", scratch.path()));
    metalworks(["compile", GEMV, "-o", &one]).exits(0);
    let ios =
        with_header(&scratch, "ios.metallib", &one, |header| (header.platform, header.is_macos) = (0x82, false));
    let run = metalworks(["compile", ADD_ARRAYS, &ios, "-o", &all]).exits(1);
    run.says(&format!("'{ADD_ARRAYS}' is for macOS, and '{ios}' for iOS"));
    let dynamic = with_header(&scratch, "dynamic.metallib", &one, |header| header.file_type = 2);
    let run = metalworks(["compile", &dynamic, "-o", &all]).exits(1);
    run.says(&format!("{dynamic}: a library of type 'dynamic library' cannot be merged, only an executable one"));
    let run = metalworks(["compile", &one, GEMV, "-o", &all]).exits(1);
    run.says(&format!("kernel 'gemv' is in both '{one}' and '{GEMV}'"));
    assert!(std::fs::metadata(&all).is_err(), "a library was written");
}

#[test]
fn damaged_libraries_are_refused() {
    let scratch = Scratch::new();
    let path = format!("{}/out.metallib", scratch.path());
    metalworks(["compile", GEMV, "-o", &path]).exits(0);
    let bytes = std::fs::read(&path).expect("it was written");
    let cut = scratch.file("cut.metallib", &bytes[..bytes.len() / 2]);
    let empty = scratch.file("empty.metallib", "");
    let text = scratch.file("text.metallib", "kernel void k() {}");
    let library = air::metallib::Library::parse(&bytes).expect("it is a library");
    let (size, offset) = library.functions()[0].extent(&bytes);
    let mut flipped = bytes.clone();
    flipped[offset.expect("it is in the file") + size - 1] ^= 1;
    let flipped = scratch.file("flipped.metallib", flipped);
    for damaged in [&cut, &empty, &text, &flipped] {
        metalworks(["reflect", damaged]).exits(1).says(damaged);
        metalworks(["compile", damaged, "--emit", "air", "gemv"]).exits(1).says(damaged);
        metalworks(["compile", damaged, "-o", &path]).exits(1).says(damaged);
    }
}
