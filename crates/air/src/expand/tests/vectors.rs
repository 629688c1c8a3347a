//! The functions on 32 lanes: vectors, and no calls.

use crate::lower::MathMode;
use crate::specialize::specialize;
use crate::wave::{Target, asm_text};
use abi::{Constants, Lanes};

/// Calls of functions in assembly.
fn calls(text: &str) -> Vec<&str> {
    let is_call = |line: &&str| {
        let word = line.split_whitespace().next().unwrap_or_default();
        matches!(word, "call" | "callq" | "bl" | "blr")
    };
    text.lines().filter(is_call).collect()
}

/// A kernel that applies an expression to the number of each thread.
fn assembly(ty: &str, expression: &str, math: MathMode, cpu: &str) -> String {
    let source = format!(
        "#include <metal_stdlib>\nusing namespace metal;\n\
         kernel void k(device {ty} *a [[buffer(0)]], device {ty} *b [[buffer(1)]], uint i [[thread_position_in_grid]])\n\
         {{ {ty} x = a[i], y = b[i]; a[i] = {ty}({expression}); }}"
    );
    let compilation = msl::compile_source("test.metal", &source, &msl::Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let entry = compilation.program.kernels().next().expect("the kernel");
    let function = crate::compile::compile_kernel(&compilation.program, entry, math).expect("AIR");
    let kernel = specialize(function.bitcode().expect("bitcode"), "k", &Constants::new()).expect("specialized");
    asm_text(&kernel, &Target::named(cpu).expect("a target"), Lanes::Row).expect("machine code")
}

const UNARY: &[&str] = &[
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "cospi", "exp", "exp10", "exp2",
    "fabs", "floor", "fract", "log", "log10", "log2", "rint", "round", "rsqrt", "saturate", "sign", "sin", "sinh",
    "sinpi", "sqrt", "tan", "tanh", "tanpi", "trunc",
];

const BINARY: &[&str] = &["atan2", "fdim", "fmax", "fmin", "fmod", "pow", "powr", "step", "nextafter", "copysign"];

#[test]
fn no_function_calls_another() {
    let unary = UNARY.iter().map(|name| format!("{name}(x)"));
    let binary = BINARY.iter().map(|name| format!("{name}(x, y)"));
    let others =
        ["fma(x, y, x)", "clamp(x, y, x)", "mix(x, y, x)", "ldexp(x, int(y))", "isnan(x) ? y : x", "ilogb(x)"];
    let expressions: Vec<String> = unary.chain(binary).chain(others.map(String::from)).collect();
    // All in one kernel: what it costs to compile is mostly what a kernel costs.
    for (ty, cpu) in [("float", "haswell"), ("half", "haswell"), ("float", "znver4"), ("half", "apple-m1")] {
        for math in [MathMode::Fast, MathMode::Safe] {
            let text = assembly(ty, &expressions.join(" + "), math, cpu);
            assert!(calls(&text).is_empty(), "{ty} on {cpu}, {math:?}: {:?}", calls(&text));
        }
    }
}

#[test]
fn conversions_and_bfloat_call_nothing() {
    let integers = ["char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "bool"];
    let conversions: Vec<String> = integers.iter().map(|ty| format!("{{}}({ty}(x))")).collect();
    for ty in ["float", "half", "bfloat"] {
        let expression = conversions.join(" + ").replace("{}", ty);
        for cpu in ["haswell", "znver4", "apple-m1"] {
            let text = assembly(ty, &format!("{expression} + x * y / x - y"), MathMode::Fast, cpu);
            assert!(calls(&text).is_empty(), "{ty} on {cpu}: {:?}", calls(&text));
        }
    }
}
