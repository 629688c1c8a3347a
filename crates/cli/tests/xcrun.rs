//! `metalworks xcrun`, as build scripts call it.
#![cfg(llvm)]

mod support;

use support::{Run, Scratch, metalworks};

const KERNELS: &str = "#include <metal_stdlib>\n#include \"scale.h\"\nusing namespace metal;\n\
                       constant int K [[function_constant(2)]];\n\
                       kernel void k(device float *x, uint i [[thread_position_in_grid]]) { x[i] = SCALE * x[i] + K; }\n";

fn xcrun(line: &str) -> Run {
    metalworks(std::iter::once("xcrun").chain(line.split_whitespace()))
}

/// A folder with two sources and a header.
fn sources() -> (Scratch, String) {
    let scratch = Scratch::new();
    scratch.file("include/scale.h", "#ifndef SCALE\n#define SCALE 2.0f\n#endif\n");
    scratch.file("k.metal", KERNELS);
    scratch.file("l.metal", "kernel void l(device int *x) { int unused = 1; *x = 1; }\n");
    let path = scratch.path();
    (scratch, path)
}

#[test]
fn compiles_to_objects_and_links_them() {
    let (_scratch, at) = sources();
    let flags =
        "-O3 -frecord-sources -mmacosx-version-min=14.0 -Wall -Wextra -Wno-unused-variable -gline-tables-only";
    let one = xcrun(&format!("-sdk macosx metal {flags} -I {at}/include -c {at}/k.metal -o {at}/k.air")).exits(0);
    assert_eq!((one.stdout.as_str(), one.stderr.as_str()), ("", ""));
    xcrun(&format!("-sdk macosx metal {flags} -c {at}/l.metal -o {at}/l.air")).exits(0);
    xcrun(&format!("-sdk macosx metallib {at}/k.air {at}/l.air -o {at}/all.metallib")).exits(0);

    // The same library as from the sources at once, and one that runs.
    metalworks([
        "compile",
        &format!("{at}/k.metal"),
        &format!("{at}/l.metal"),
        "-g",
        "-I",
        &format!("{at}/include"),
        "-o",
        &format!("{at}/once.metallib"),
    ])
    .exits(0);
    let read = |name: &str| std::fs::read(format!("{at}/{name}")).expect("it was written");
    assert_eq!(read("all.metallib"), read("once.metallib"));
    let library = format!("{at}/all.metallib");
    let exec = ["exec", &library, "k", "--arg", "0=iota:f32:4", "--threads", "4", "--print", "0", "--no-cache"];
    let out = metalworks(exec.into_iter().chain(["--const", "K=i32:1"])).exits(0).stdout;
    assert!(out.contains("1, 3, 5, 7") || out.contains("1 3 5 7"), "{out}");
    assert!(read("k.air").starts_with(b"BC\xc0\xde"), "an object is bitcode");
}

#[test]
fn links_sources_and_archives() {
    let (_scratch, at) = sources();
    xcrun(&format!("metal -I{at}/include -DSCALE=3.0f -c {at}/k.metal -o {at}/k.air")).exits(0);
    xcrun(&format!("metal-ar rcs {at}/k.metalar {at}/k.air")).exits(0);
    assert_eq!(xcrun(&format!("metal-ar t {at}/k.metalar")).exits(0).stdout, "k.air\n");
    xcrun(&format!("metal {at}/l.metal {at}/k.metalar -o {at}/all.metallib")).exits(0);
    let dump = metalworks(["objdump", &format!("{at}/all.metallib")]).exits(0).stdout;
    assert!(dump.contains(" k") && dump.contains(" l"), "{dump}");
    xcrun(&format!("metal {at}/l.metal {at}/l.metal -o {at}/two.metallib")).exits(1).says("kernel 'l' is in both");
    xcrun(&format!("metallib {at}/l.metal -o {at}/no.metallib")).exits(1).says("it is a source");
    xcrun(&format!("metallib {at}/include/scale.h -o {at}/no.metallib")).exits(1).says("neither a source");
    let damaged = format!("{at}/damaged.air");
    std::fs::write(&damaged, b"BC\xc0\xde\x35\x14\x00\x00\xff\xff\x00\x00").expect("a file");
    xcrun(&format!("metallib {damaged} -o {at}/no.metallib")).exits(1).says("does not fit");
}

#[test]
fn preprocesses_and_lists_dependencies() {
    let (_scratch, at) = sources();
    let text = xcrun(&format!("metal -E -P -I {at}/include {at}/k.metal")).exits(0).stdout;
    assert!(text.contains("#include <metal_stdlib>") && text.contains("2e0f * x[i] + K"), "{text}");
    xcrun(&format!("metal -c -MD -MP -I {at}/include {at}/k.metal -o {at}/k.air")).exits(0);
    let rule = std::fs::read_to_string(format!("{at}/k.d")).expect("it was written");
    let header = format!("{at}/include/scale.h");
    assert_eq!(rule, format!("{at}/k.air: {at}/k.metal \\\n  {header}\n\n{header}:\n"));
    let printed = xcrun(&format!("metal -M -MT out -I {at}/include {at}/k.metal")).exits(0).stdout;
    assert_eq!(printed, format!("out: {at}/k.metal \\\n  {header}\n"));
    xcrun(&format!("metal -E {at}/k.metal")).exits(1).says("scale.h");
}

#[test]
fn flags_have_an_effect_a_warning_or_an_error() {
    let (_scratch, at) = sources();
    let syntax = |flags: &str| xcrun(&format!("metal -fsyntax-only {flags} {at}/l.metal"));
    syntax("").exits(0).does_not_say("unused");
    syntax("-Wall").exits(0).says("unused variable 'unused'");
    syntax("-Wall -w").exits(0).does_not_say("unused");
    syntax("-Wall -Wno-unused-variable").exits(0).does_not_say("unused");
    syntax("-Wall -Werror").exits(1).says("error: unused variable 'unused'");
    syntax("-Wall -Werror=unused-variable").exits(1).says("error: unused");
    syntax("-ffp-contract=off").exits(0).says("argument unused during compilation: '-ffp-contract=off'");
    syntax("-fcuda").exits(1).says("unknown argument: '-fcuda'");
    syntax("-std=metal9").exits(1).says("metal3.1");
    syntax("-mtargetos=ios17.0").exits(1).says("unsupported target 'ios17.0'");
    xcrun("metal -c").exits(1).says("no input files");
    xcrun(&format!("metal -c {at}/k.metal {at}/l.metal -o x.air")).exits(1).says("cannot specify -o");
    xcrun(&format!("metal -c {at}/absent.metal -o {at}/x.air")).exits(2).says("absent.metal");
    // Macros of the mode and the version.
    let mode = format!("{at}/mode.metal");
    let text = "#ifdef __FAST_MATH__\n#error fast\n#endif\n#if __METAL_VERSION__ != 240\n#error version\n#endif\n";
    std::fs::write(&mode, text).expect("a file");
    xcrun(&format!("metal -fsyntax-only -fno-fast-math -std=macos-metal2.4 {mode}")).exits(0);
    xcrun(&format!("metal -fsyntax-only -mmacosx-version-min=12.0 {mode}")).exits(1).says("fast");
}

#[test]
fn answers_about_the_sdk_and_tools() {
    assert_eq!(xcrun("-sdk macosx --show-sdk-version").exits(0).stdout, "26.0\n");
    assert!(!xcrun("--sdk macosx --show-sdk-path").exits(0).stdout.is_empty());
    assert!(xcrun("--find metal").exits(0).stdout.contains("metal"));
    assert!(xcrun("-f sh").exits(0).stdout.ends_with("/sh\n"));
    xcrun("-sdk iphoneos metal -c k.metal").exits(1).says("cannot be located");
    xcrun("no-such-tool").exits(2).says("unable to find utility \"no-such-tool\"");
    xcrun("-sdk macosx").exits(1).says("specify a utility");
    assert_eq!(xcrun("echo one two").exits(0).stdout, "one two\n");
    assert!(xcrun("metal --version").exits(0).stdout.contains("metal version"));
}

/// ggml's CMake file has this pipe.
#[test]
fn objects_go_through_a_pipe() {
    let (_scratch, at) = sources();
    let program = env!("CARGO_BIN_EXE_metalworks");
    let line = format!(
        "{program} xcrun -sdk macosx metal -O3 -I {at}/include -c {at}/k.metal -o - | \
         {program} xcrun --sdk=macosx metallib - -o {at}/piped.metallib && {program} xcrun metal-nm {at}/piped.metallib"
    );
    let output = std::process::Command::new("sh").args(["-c", &line]).output().expect("a shell");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "---------------- T k\n");
}

/// MLX's CMake file asks for the version of the language so, and its script for the headers of a kernel.
#[test]
fn build_scripts_ask_questions() {
    let (scratch, at) = sources();
    let program = env!("CARGO_BIN_EXE_metalworks");
    let line = format!(
        "echo __METAL_VERSION__ | {program} xcrun -sdk macosx metal -E -x metal -P - | tail -1 | tr -d '\\n'"
    );
    let output = std::process::Command::new("sh").args(["-c", &line]).output().expect("a shell");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "310");

    let headers = xcrun(&format!("-sdk macosx metal -I{at}/include -E -P -CC -C -H {at}/k.metal -w")).exits(0);
    assert_eq!(headers.stderr, format!(". {at}/include/scale.h\n"));
    assert_eq!(xcrun("metal -dumpmachine").exits(0).stdout, "air64-apple-macosx\n");
    assert!(xcrun("metal -print-search-dirs").exits(0).stdout.starts_with("programs: =/"));
    assert!(xcrun("metallib --help").exits(0).stdout.starts_with("usage: metallib"));

    scratch.file("flags.txt", "-c -DSCALE=3\n-Wall");
    let line = format!("metal @{at}/flags.txt -Xclang -x {at}/l.metal -o {at}/l.air");
    assert!(xcrun(&line).exits(0).stderr.contains("argument unused during compilation: '-Xclang -x'"));
    xcrun(&format!("metal-libtool -static {at}/l.air -o {at}/l.a")).exits(0);
    assert_eq!(xcrun(&format!("metal-ar t {at}/l.a")).exits(0).stdout, "l.air\n");
    xcrun(&format!("metal @{at}/missing.txt")).exits(2);
}
