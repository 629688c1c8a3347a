//! Pragmas on loops become metadata of the branch that closes the loop, in the words of Apple's compiler.
#![cfg(llvm)]

use inkwell::context::Context;
use metalworks_air::{MathMode, lower};

/// The hints about unrolling of a loop with these lines before it.
fn hints(lines: &str) -> Vec<String> {
    let source = format!(
        "template <int N> void fill(device int *p) {{
{lines}
            for (int i = 0; i < 100; ++i) p[i] = N;
        }}
        kernel void k(device int *p) {{ fill<4>(p); }}"
    );
    let compilation = msl::compile_source("test.metal", &source, &msl::Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let entry = compilation.program.kernels().next().expect("the kernel");
    let context = Context::create();
    let text = lower(&context, &compilation, entry, MathMode::Fast).expect("AIR").print_to_string().to_string();
    let hint = |line: &str| line.split_once("!\"llvm.loop.unroll.").map(|(_, hint)| hint.replace(['"', '}'], ""));
    text.lines().filter_map(hint).collect()
}

#[test]
fn unrolling() {
    for (lines, expected) in [
        ("", None),
        ("#pragma unroll", Some("enable")),
        ("_Pragma(\"unroll\")", Some("enable")),
        ("#pragma clang loop unroll(enable)", Some("enable")),
        ("#pragma clang loop unroll(full)", Some("full")),
        ("#pragma clang loop unroll(disable)", Some("disable")),
        ("#pragma nounroll", Some("disable")),
        ("#pragma unroll(8)", Some("count, i32 8")),
        ("#pragma unroll 8", Some("count, i32 8")),
        ("#pragma clang loop unroll_count(8)", Some("count, i32 8")),
        ("#define EIGHT 8\n#pragma clang loop vectorize(enable) unroll_count(EIGHT)", Some("count, i32 8")),
        ("#pragma unroll(N)", Some("enable")),
        ("#pragma clang loop vectorize(enable)", None),
    ] {
        assert_eq!(hints(lines), expected.into_iter().collect::<Vec<_>>(), "{lines}");
    }
}
