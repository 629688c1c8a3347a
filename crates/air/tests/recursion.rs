//! Recursion in libraries, and the code that a CPU runs for it.
#![cfg(llvm)]

use abi::{Constants, Lanes};
use metalworks_air::wave::Target;
use metalworks_air::{MathMode, compile_kernel, specialize};

const SOURCE: &str = "
    int tail(int a, int b) { return b == 0 ? a : tail(b, a % b); }
    int tree(int n) { return n < 2 ? n : tree(n - 1) ^ tree(n - 2); }
    int helper(int n) { return n * 3; }
    kernel void tails(device int *out) { out[0] = helper(tail(out[1], out[2])); }
    kernel void trees(device int *out) { out[0] = helper(tree(out[1])); }";

/// The bitcode of a kernel in a library.
fn library(name: &str) -> Vec<u8> {
    let compilation = msl::compile_source("test.metal", SOURCE, &msl::Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let entry = compilation.program.kernels().find(|entry| entry.name == name).expect("the kernel");
    let function = compile_kernel(&compilation, entry, MathMode::Fast).expect("AIR");
    function.bitcode().expect("bitcode").to_vec()
}

/// The calls of a function in a library.
fn calls(name: &str, callee: &str) -> usize {
    let text = metalworks_air::bitcode_text(&library(name), name).expect("text");
    text.lines().filter(|line| line.contains("call") && line.contains(&format!("@{callee}."))).count()
}

#[test]
fn libraries_have_loops_for_tail_calls_and_calls_for_others() {
    // The call in the kernel, and those of the function itself: one of two, as `^` may be done in a loop.
    assert_eq!(calls("tails", "tail"), 1);
    assert_eq!(calls("trees", "tree"), 2);
}

#[test]
fn libraries_leave_recursive_functions_out_of_line() {
    let text = metalworks_air::bitcode_text(&library("trees"), "trees").expect("text");
    let is_defined =
        |function: &str| text.lines().any(|line| line.starts_with("define") && line.contains(function));
    assert!(is_defined("@tree."), "{text}");
    assert!(!is_defined("@helper."), "{text}");
}

#[test]
fn code_for_cpus_has_no_recursion() {
    for name in ["tails", "trees"] {
        let specialized = specialize::specialize(&library(name), name, &Constants::new()).expect("specialized");
        let target = Target::host().expect("a host");
        for lanes in Lanes::ALL {
            let text = metalworks_air::wave::llvm_text(&specialized, &target, lanes).expect("wide code");
            assert_eq!(text.lines().filter(|line| line.starts_with("define")).count(), 1, "{text}");
        }
        let kernels = metalworks_air::wave::compile(&specialized, &target, &Lanes::ALL).expect("machine code");
        let failures = usize::from(name == "trees");
        assert!(kernels.iter().all(|kernel| kernel.failures.len() == failures), "{name}");
    }
}
