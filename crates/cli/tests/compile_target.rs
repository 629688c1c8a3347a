//! `metalworks compile --target`: machine code in one portable file, and `metalworks exec --archive`.
#![cfg(llvm)]

mod support;

use support::{Run, Scratch, metalworks, metalworks_with_cache};

const GEMV: &str = "examples/gemv.metal";
const SPECIALIZED: &str = "gemv[K=u32:128,USE_BIAS=bool:false]";

/// Compiles with these flags; the archive, and what was said.
fn compile(scratch: &Scratch, arguments: &[&str]) -> (String, Run) {
    let path = format!("{}/kernels.mwarchive", scratch.path());
    let run = metalworks(["compile"].iter().chain(arguments).copied().chain(["-o", &path]));
    (path, run)
}

/// Runs the matrix product, with an archive.
fn gemv(archive: &str, variables: &[(&str, &str)]) -> serde_json::Value {
    let arguments = format!(
        "exec {GEMV} gemv --const K=u32:128 --const USE_BIAS=bool:false --arg weights=ones:f32:8x128 --arg \
         x=ones:f32:128 --arg y=zeros:f32:8 --grid 8 --threadgroup 32 --print y --json --archive {archive}"
    );
    let json = metalworks_with_cache(arguments.split_whitespace(), "off", variables).exits(0).json();
    assert_eq!(json["outputs"][0]["values"][7], 128.0);
    json["pipeline"]["origin"].clone()
}

#[test]
fn an_archive_serves_exec() {
    let scratch = Scratch::new();
    let (archive, run) = compile(&scratch, &[GEMV, "--target", "cpu", "--kernel", SPECIALIZED]);
    assert!(run.exits(0).stdout.contains("kernels.mwarchive: 1 kernel for cpu, "));
    assert_eq!(gemv(&archive, &[]), "archive");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn an_archive_serves_cpus_with_the_required_features() {
    let scratch = Scratch::new();
    let with = |target: &str| compile(&scratch, &[GEMV, "--target", target, "--kernel", SPECIALIZED]).0;
    let older = with("cpu:x86-64-v3");
    assert_eq!(gemv(&older, &[]), "archive");
    assert_eq!(gemv(&older, &[("METALWORKS_CPU", "haswell")]), "archive");
    // AVX-512 does not run on a CPU that is treated as one without it, and Apple's is another architecture.
    assert_eq!(gemv(&with("cpu:x86-64-v4"), &[("METALWORKS_CPU", "x86-64-v3")]), "compiled");
    assert_eq!(gemv(&with("cpu:apple-m1"), &[]), "compiled");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn an_archive_is_for_several_targets() {
    let scratch = Scratch::new();
    let targets = ["--target", "cpu:x86-64-v3", "--target", "cpu:apple-m1", "--target", "cpu"];
    let arguments = [&[GEMV, "--kernel", SPECIALIZED], &targets[..]].concat();
    let (archive, run) = compile(&scratch, &arguments);
    assert!(run.exits(0).stdout.contains(": 1 kernel for cpu:x86-64-v3, cpu:apple-m1, cpu, "));
    assert_eq!(gemv(&archive, &[]), "archive");
    assert_eq!(gemv(&archive, &[("METALWORKS_CPU", "x86-64-v3")]), "archive");
}

#[test]
fn a_file_lists_kernels() {
    let scratch = Scratch::new();
    let list = scratch
        .file("kernels.txt", format!("# for the tests\n{SPECIALIZED}\n\nadd_arrays # needs none\n{SPECIALIZED}\n"));
    let files = [GEMV, "examples/add_arrays.metal", "--target", "cpu", "--kernels", &list];
    let (archive, run) = compile(&scratch, &files);
    assert!(run.exits(0).stdout.contains(": 2 kernels for cpu, "));
    assert_eq!(gemv(&archive, &[]), "archive");
    let wrong = scratch.file("wrong.txt", "add_arrays\ngemv[K\n");
    compile(&scratch, &[GEMV, "--target", "cpu", "--kernels", &wrong]).1.exits(2).says("wrong.txt:2: 'gemv[K'");
    let empty = scratch.file("empty.txt", "# nothing\n");
    compile(&scratch, &[GEMV, "--target", "cpu", "--kernels", &empty])
        .1
        .exits(1)
        .says("empty.txt: the list is empty");
}

#[test]
fn without_a_list_all_possible_kernels_are_compiled() {
    let scratch = Scratch::new();
    let (_, run) = compile(&scratch, &[GEMV, "examples/add_arrays.metal", "--target", "cpu"]);
    assert!(run.stdout.contains(": 1 kernel for cpu, "), "{}", run.stdout);
    run.exits(0).says("warning: examples/gemv.metal: kernel 'gemv' is left out: ").says("K");
    compile(&scratch, &[GEMV, "--target", "cpu"]).1.exits(1).says("list kernels with --kernel");
}

#[test]
fn libraries_are_compiled_too() {
    let scratch = Scratch::new();
    let library = format!("{}/gemv.metallib", scratch.path());
    metalworks(["compile", GEMV, "-o", &library]).exits(0);
    let (archive, run) = compile(&scratch, &[&library, "--target", "cpu", "--kernel", SPECIALIZED]);
    run.exits(0);
    // The code of a library's function is that function's, wherever it is.
    let arguments = format!(
        "exec {library} gemv --const K=u32:128 --const USE_BIAS=bool:false --arg 0=ones:f32:8x128 --arg 1=ones:f32:128 \
         --arg y=zeros:f32:8 --grid 8 --threadgroup 32 --json --archive {archive}"
    );
    let json = metalworks(arguments.split_whitespace()).exits(0).json();
    assert_eq!(json["pipeline"]["origin"], "archive");
}

/// For a GPU that need not be in this machine.
#[cfg(target_os = "linux")]
#[test]
fn gpus_get_ptx() {
    let scratch = Scratch::new();
    let targets = ["--target", "sm_80", "--target", "sm_90a", "--target", "cpu"];
    let (archive, run) = compile(&scratch, &[&[GEMV, "--kernel", SPECIALIZED][..], &targets].concat());
    assert!(run.exits(0).stdout.contains(": 1 kernel for sm_80, sm_90a, cpu, "));
    let bytes = std::fs::read(&archive).expect("it was written");
    let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has(".target sm_80") && has(".target sm_90a"), "both texts are in it");
    assert_eq!(gemv(&archive, &[]), "archive", "the CPU finds its own code");
}

#[test]
fn models_are_compiled() {
    let scratch = Scratch::new();
    let model = ["--synthetic", "llama-tiny:q4_0"];
    let (archive, run) = compile(&scratch, &[&model[..], &["--target", "cpu"]].concat());
    assert!(run.exits(0).stdout.contains(" kernels for cpu, "));
    let bench = ["bench", "-p", "8", "-n", "2", "-r", "1", "--device", "cpu", "--archive", &archive];
    metalworks_with_cache(bench.iter().chain(&model), "off", &[]).exits(0);
    let files = [GEMV, "--target", "cpu", "--synthetic", "llama-tiny:q4_0"];
    compile(&scratch, &files).1.exits(2).says("cannot be used with");
    compile(&scratch, &["--synthetic", "llama-tiny:q4_0"]).1.exits(2).says("--target");
    compile(&scratch, &["--synthetic", "no-such-model", "--target", "cpu"]).1.exits(2).says("--synthetic: ");
    compile(&scratch, &["--model", "/no/such/file.gguf", "--target", "cpu"]).1.exits(2).says("file.gguf");
}

#[test]
fn reports_what_cannot_be_compiled() {
    let scratch = Scratch::new();
    let problem = |arguments: &[&str], status: i32, text: &str| {
        let (path, run) = compile(&scratch, arguments);
        run.exits(status).says(text);
        assert!(!std::path::Path::new(&path).exists(), "nothing is written");
    };
    let no_gpu =
        if cfg!(target_os = "linux") { "cannot compile for GPU 'sm_13'" } else { "unknown target 'sm_13'" };
    problem(&[GEMV, "--target", "sm_13"], 2, no_gpu);
    problem(&[GEMV, "--target", "cpu:pentium"], 2, "known CPUs: x86-64-v3");
    problem(&[GEMV, "--target", "gpu"], 2, "unknown target 'gpu'");
    problem(&[GEMV, "--target", "cpu", "--kernel", "gemm"], 1, "gemm");
    problem(&[GEMV, "--target", "cpu", "--kernel", "gemv"], 1, "function constants of kernel 'gemv'");
    problem(&[GEMV, "--target", "cpu", "--kernel", "gemv[K=f64:1]"], 2, "no type 'f64'");
    problem(&[GEMV, GEMV, "--target", "cpu", "--kernel", SPECIALIZED], 1, "is in both");
    problem(&["examples/none.metal", "--target", "cpu"], 2, "no such file");
    problem(&[GEMV, "--kernel", "gemv"], 2, "--target");
    problem(&[GEMV, "--target", "cpu", "--const", "0=u32:1"], 2, "--const");
    let wrong = scratch.file("wrong.metal", "kernel void k( {");
    problem(&[&wrong, "--target", "cpu"], 1, "wrong.metal:1:");
    let no_folder = format!("{}/no/such/folder.mwarchive", scratch.path());
    let arguments = ["compile", GEMV, "--target", "cpu", "--kernel", SPECIALIZED, "-o", &no_folder];
    metalworks(arguments).exits(2).says("cannot write");
}

#[test]
fn rejects_a_file_that_is_not_an_archive() {
    let scratch = Scratch::new();
    let wrong = scratch.file("wrong.mwarchive", "no archive");
    let arguments = format!("exec {GEMV} gemv --threads 1 --archive {wrong}");
    metalworks(arguments.split_whitespace()).exits(1).says("it is not an archive of compiled kernels");
    let arguments = format!("exec {GEMV} gemv --threads 1 --archive {wrong}.not");
    metalworks(arguments.split_whitespace()).exits(2).says("cannot read");
}
