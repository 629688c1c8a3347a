//! `metalworks reflect`: the tables, the JSON, and the ways to ask for a kernel that is not there.

mod support;

use support::{Scratch, metalworks, metalworks_with_stdin};

const ADD_ARRAYS: &str = "examples/add_arrays.metal";
const GEMV: &str = "examples/gemv.metal";

/// The cells of each line; cells are parted by two blanks or more.
fn cells(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()));
    lines.map(Iterator::collect).collect()
}

/// The line whose first cell is this.
#[track_caller]
fn line<'a>(lines: &'a [Vec<&'a str>], first: &str) -> &'a [&'a str] {
    lines.iter().find(|line| line.first() == Some(&first)).unwrap_or_else(|| panic!("no '{first}' in {lines:#?}"))
}

#[test]
fn arguments_and_builtins_are_in_tables() {
    let run = metalworks(["reflect", ADD_ARRAYS]).exits(0);
    assert_eq!(run.stderr, "");
    let lines = cells(&run.stdout);
    assert_eq!(lines[0][0], "kernel add_arrays");
    assert!(lines[0][1].starts_with("(examples/add_arrays.metal:"), "{:?}", lines[0]);
    assert_eq!(lines[1], ["argument", "binding", "space", "type", "access", "element", "size", "align"]);
    for (name, binding, access) in [("a", "buffer(0)", "read"), ("b", "buffer(1)", "read")] {
        let line = line(&lines, name);
        assert_eq!((line[1], line[2], line[4]), (binding, "device", access));
        assert_eq!(line[5..], ["float", "4", "4"]);
    }
    assert_eq!(line(&lines, "result")[1], "buffer(2)");
    assert_eq!(line(&lines, "index"), ["index", "thread_position_in_grid", "uint"]);
}

#[test]
fn function_constants_and_their_dependents_are_shown() {
    let run = metalworks(["reflect", GEMV]).exits(0);
    let lines = cells(&run.stdout);
    assert_eq!(line(&lines, "argument").last(), Some(&"only if"));
    assert_eq!(line(&lines, "bias").last(), Some(&"USE_BIAS"));
    assert_ne!(line(&lines, "weights").last(), Some(&"USE_BIAS"));
    assert_eq!(line(&lines, "K")[..3], ["K", "0", "uint"]);
    assert_eq!(line(&lines, "USE_BIAS")[..3], ["USE_BIAS", "1", "bool"]);
}

#[test]
fn threadgroup_memory_and_limits_are_shown() {
    let shader = "\
#include <metal_stdlib>
using namespace metal;
[[max_total_threads_per_threadgroup(256)]]
kernel void reverse(device float* a [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
  threadgroup float scratch[32];
  scratch[i % 32] = a[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  a[i] = scratch[31 - i % 32];
}
";
    let run = metalworks_with_stdin(["reflect", "-"], shader.as_bytes()).exits(0);
    let lines = cells(&run.stdout);
    let scratch = line(&lines, "scratch");
    assert_eq!(scratch[scratch.len() - 2..], ["128", "4"]);
    assert_eq!(line(&lines, "max_total_threads_per_threadgroup")[1], "256");
    assert_eq!(line(&lines, "static threadgroup memory, bytes")[1], "128");
}

#[test]
fn a_kernel_is_picked_by_name() {
    let two = b"kernel void one(device float* a [[buffer(0)]]) { a[0] = 1; }\n\
                kernel void two(device float* b [[buffer(0)]]) { b[0] = 2; }\n";
    let run = metalworks_with_stdin(["reflect", "-", "two"], two).exits(0);
    assert!(run.stdout.starts_with("kernel two  "), "{}", run.stdout);
    assert!(!run.stdout.contains("kernel one"), "{}", run.stdout);
    let all = metalworks_with_stdin(["reflect", "-"], two).exits(0);
    assert!(all.stdout.contains("kernel one") && all.stdout.contains("\n\nkernel two"), "{}", all.stdout);
}

#[test]
fn an_unknown_kernel_is_answered_with_near_ones() {
    let run = metalworks(["reflect", GEMV, "gemw"]).exits(1);
    assert_eq!(run.stdout, "");
    run.says("examples/gemv.metal: no kernel named 'gemw'; did you mean 'gemv'?");
    metalworks(["reflect", GEMV, "softmax"]).exits(1).says("no kernel named 'softmax'; there are 'gemv'");
}

#[test]
fn json_is_for_programs() {
    let run = metalworks(["reflect", GEMV, "gemv", "--json"]).exits(0);
    let reflection = run.json();
    let kernel = &reflection["kernels"][0];
    assert_eq!(kernel["name"], "gemv");
    let arguments = kernel["arguments"].as_array().expect("a list");
    let names: Vec<_> = arguments.iter().map(|argument| argument["name"].as_str()).collect();
    assert_eq!(names, [Some("weights"), Some("x"), Some("y"), Some("bias")]);
    let indices: Vec<_> = arguments.iter().map(|argument| argument["index"].as_u64()).collect();
    assert_eq!(indices, [Some(0), Some(1), Some(2), Some(3)]);
    let bias = &arguments[3];
    assert_eq!((&bias["kind"], &bias["address_space"]), (&"buffer".into(), &"device".into()));
    assert_eq!((&bias["access"], &bias["function_constant"]), (&"read".into(), &"USE_BIAS".into()));
    assert_eq!((&bias["element_size"], &bias["element_align"]), (&4.into(), &4.into()));
    assert_eq!(kernel["builtins"][0]["attribute"], "threadgroup_position_in_grid");
    assert_eq!(kernel["function_constants"], serde_json::json!([0, 1]));
    let constants = &reflection["function_constants"];
    assert_eq!((&constants[0]["name"], &constants[0]["type"]), (&"K".into(), &"uint".into()));
    assert_eq!((&constants[1]["name"], &constants[1]["type"]), (&"USE_BIAS".into(), &"bool".into()));
}

#[test]
fn reports_a_file_without_kernels() {
    let run = metalworks_with_stdin(["reflect", "-"], b"int twice(int x) { return 2 * x; }\n").exits(0);
    assert_eq!(run.stdout, "no kernels\n");
}

#[test]
fn other_stages_are_named() {
    let shader =
        b"#include <metal_stdlib>\nusing namespace metal;\nfragment float4 shade() { return float4(1.0f); }\n";
    let run = metalworks_with_stdin(["reflect", "-"], shader).exits(0);
    assert_eq!(run.stdout, "no kernels\n\nfragment shade\n");
}

#[test]
fn language_flags_are_the_same_as_for_check() {
    let scratch = Scratch::new();
    let file = scratch.file(
        "shaders/k.metal",
        "#include \"type.h\"\n\
         #if __METAL_VERSION__ < 320\n#error too old\n#endif\n\
         kernel void k(device float* out [[buffer(0)]]) { out[0] = WIDTH; }\n",
    );
    scratch.file("include/type.h", "");
    let include = format!("{}/include", scratch.path());
    metalworks(["reflect", &file, "-I", &include, "-D", "WIDTH=4", "--std", "metal3.2"]).exits(0);
    metalworks(["reflect", &file, "-D", "WIDTH=4", "--std", "metal3.2"]).exits(1).says("type.h");
    metalworks(["reflect", &file, "-I", &include, "--std", "metal3.2"]).exits(1).says("'WIDTH'");
    metalworks(["reflect", &file, "-I", &include, "-D", "WIDTH=4", "--std", "metal3.1"]).exits(1).says("too old");
}

#[test]
fn errors_are_diagnostics_and_nothing_is_printed() {
    let run =
        metalworks_with_stdin(["reflect", "-"], b"kernel void k(device flaot* a [[buffer(0)]]) {}\n").exits(1);
    assert_eq!(run.stdout, "");
    run.says("<stdin>:1:").says("'flaot'").says("1 error generated.");
    metalworks(["reflect", "missing.metal"]).exits(2).says("missing.metal");
}
