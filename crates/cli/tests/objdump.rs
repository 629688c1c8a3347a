//! `metalworks objdump`, which is there with LLVM.
#![cfg(llvm)]

mod support;

use support::{Scratch, metalworks};

const GEMV: &str = "examples/gemv.metal";
const ADD_ARRAYS: &str = "examples/add_arrays.metal";

/// A library of the two examples.
fn library(scratch: &Scratch) -> String {
    let path = format!("{}/out.metallib", scratch.path());
    metalworks(["compile", GEMV, ADD_ARRAYS, "-o", &path]).exits(0);
    path
}

/// The lines without repeated blanks.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn lists_functions() {
    let scratch = Scratch::new();
    let path = library(&scratch);
    let bytes = std::fs::read(&path).expect("it was written");
    let run = metalworks(["objdump", &path]).exits(0);
    let size = bytes.len();
    let header = format!("{path}: metallib 1.2.7 for macOS 14.0, executable, {size} bytes, 2 functions\nUUID ");
    assert!(run.stdout.starts_with(&header), "{}", run.stdout);
    let lines = lines(&run.stdout);
    assert_eq!(lines[3], "function kind AIR Metal offset size hash reflection constants");
    let library = air::metallib::Library::parse(&bytes).expect("it is a library");
    let gemv = library.function("gemv").expect("a kernel");
    let (size, offset) = gemv.extent(&bytes);
    let reflection = gemv.reflection.as_ref().map_or(0, |buffer| buffer.len());
    let offset = offset.expect("it is in the file");
    assert_eq!(lines[4], format!("gemv kernel 2.6 3.1 {offset:#x} {size} ok {reflection} K(0) USE_BIAS(1)"));
    assert!(lines[5].starts_with("add_arrays kernel 2.6 3.1 0x"), "{}", lines[5]);
    assert!(!run.stdout.contains("define void"), "{}", run.stdout);
}

#[test]
fn prints_chosen_functions_in_full() {
    let scratch = Scratch::new();
    let path = library(&scratch);
    let run = metalworks(["objdump", &path, "gemv"]).exits(0);
    let text = lines(&run.stdout).join("\n");
    for part in [
        "kernel gemv\nSHA-256 ",
        "function constant index type used\nK 0 uint yes\nUSE_BIAS 1 bool yes\n",
        "reflection 0.4.0, function 0\nnode kind name type size align notes\n0 kernel gemv arguments 1 2 3 4 5 6 7\n",
        "4 buffer(3) bias float 4 4 device, read, conditional\n",
        "6 thread_index_in_simdgroup lane uint\n",
        "function_constant(1) USE_BIAS bool\nfunction constants: 8 9\n",
        "AIR, with",
        "define void @gemv(",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert!(!text.contains("add_arrays"), "{text}");
    let all = metalworks(["objdump", &path, "--all"]).exits(0).stdout;
    assert!(all.contains("\nkernel gemv\n") && all.contains("\nkernel add_arrays\n"), "{all}");
    metalworks(["objdump", &path, "gemw"]).exits(1).says("no kernel named 'gemw'; did you mean 'gemv'?");
}

#[test]
fn structs_and_threadgroup_variables_are_decoded() {
    let scratch = Scratch::new();
    let source = "struct Pair { float a[2]; int n; };\n\
                  kernel void k(device Pair *pairs, uint i [[thread_position_in_grid]]) {\n\
                    threadgroup float sums[32];\n\
                    sums[i] = pairs[i].a[0];\n\
                    pairs[i].a[1] = sums[i];\n\
                  }\n";
    let path = format!("{}/out.metallib", scratch.path());
    metalworks(["compile", &scratch.file("k.metal", source), "-o", &path]).exits(0);
    let text = lines(&metalworks(["objdump", &path, "k"]).exits(0).stdout).join("\n");
    for part in [
        "1 buffer(0) pairs Pair 12 4 device, read write, struct 2\n2 struct\n",
        "field a float [2] 4 offset 0\nfield n int 4 offset 8\n",
        "threadgroup variable: 128 bytes, aligned to 4\n",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

#[test]
fn json_is_for_programs() {
    let scratch = Scratch::new();
    let path = library(&scratch);
    let json = metalworks(["objdump", &path, "--json"]).exits(0).json();
    assert_eq!((&json["version"], &json["platform"]), (&"1.2.7".into(), &"macOS".into()));
    assert_eq!(json["uuid"].as_str().map(str::len), Some(36));
    let functions = json["functions"].as_array().expect("a list");
    assert_eq!(functions.len(), 2);
    assert_eq!((&functions[0]["name"], &functions[0]["hash_is_valid"]), (&"gemv".into(), &true.into()));
    assert_eq!(functions[0]["function_constants"][1]["name"], "USE_BIAS");
    assert!(functions[0].get("air").is_none());
    let json = metalworks(["objdump", &path, "gemv", "--json"]).exits(0).json();
    let gemv = &json["functions"][0];
    assert_eq!(gemv["reflection"]["nodes"][4]["is_conditional"], true);
    assert_eq!(gemv["reflection"]["nodes"][6]["attribute"], "thread_index_in_simdgroup");
    assert!(gemv["air"].as_str().is_some_and(|air| air.contains("define void @gemv(")));
}

#[test]
fn other_tags_and_sections_are_shown() {
    let scratch = Scratch::new();
    let bytes = std::fs::read(library(&scratch)).expect("it was written");
    let mut library = air::metallib::Library::parse(&bytes).expect("it is a library");
    let mut function = library.function("add_arrays").expect("a kernel").clone();
    function.private_tags = vec![(*b"DEBI", b"\x07\0\0\0a.metal\0"[..].into())];
    function.reflection = Some(b"none"[..].into());
    library = air::metallib::Library::new(library.header);
    library.sections = vec![(*b"HSRC", b"source"[..].into())];
    library.add(function).expect("it is the first");
    let path = scratch.file("tags.metallib", library.write().expect("it can be written"));
    let text = lines(&metalworks(["objdump", &path]).exits(0).stdout).join("\n");
    assert!(text.contains("section HSRC 6 bytes\n") && text.contains(" ok 4 a.metal:7"), "{text}");
    let run = metalworks(["objdump", &path, "add_arrays"]).exits(1);
    assert!(run.stdout.contains("private tag DEBI \\x07\\x00\\x00\\x00a.metal\\x00\n"), "{}", run.stdout);
    run.says(
        "tags.metallib: function 'add_arrays': reflection buffer at 0x4: it does not have the identifier 'AIRR'",
    );
}

#[test]
fn damaged_libraries_are_reported() {
    let scratch = Scratch::new();
    let path = library(&scratch);
    let bytes = std::fs::read(&path).expect("it was written");
    metalworks(["objdump", "missing.metallib"]).exits(2).says("cannot read 'missing.metallib'");
    metalworks(["objdump", GEMV])
        .exits(1)
        .says("header at 0x0: the file is not a .metallib, which begins with 'MTLB'");
    let cut = scratch.file("cut.metallib", &bytes[..bytes.len() / 2]);
    metalworks(["objdump", &cut]).exits(1).says("the header says that the file has");
    let library = air::metallib::Library::parse(&bytes).expect("it is a library");
    let (size, offset) = library.function("gemv").expect("a kernel").extent(&bytes);
    let mut flipped = bytes.clone();
    flipped[offset.expect("it is in the file") + size / 2] ^= 1;
    let flipped = scratch.file("flipped.metallib", flipped);
    for arguments in [&["objdump", &flipped][..], &["objdump", &flipped, "gemv"], &["objdump", &flipped, "--json"]]
    {
        let run = metalworks(arguments).exits(1);
        assert!(run.stdout.contains("gemv") && !run.stdout.contains("define void"), "{}", run.stdout);
        run.says("flipped.metallib: bitcode of 'gemv': its SHA-256 is not the one in the function list");
    }
}
