//! Alignments in AIR: that of a type, less in packed structs, more by `alignas`.
#![cfg(llvm)]

use inkwell::context::Context;
use metalworks_air::{MathMode, lower};

/// The AIR of the only kernel.
fn kernel(declarations: &str, parameters: &str, body: &str) -> String {
    let source = format!(
        "#include <metal_stdlib>\nusing namespace metal;\n{declarations}\nkernel void k({parameters}) {{ {body} }}"
    );
    let compilation = msl::compile_source("test.metal", &source, &msl::Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let entry = compilation.program.kernels().next().expect("the kernel");
    let context = Context::create();
    let module = lower(&context, &compilation, entry, MathMode::Fast).expect("AIR");
    module.verify().expect("valid");
    module.print_to_string().to_string()
}

/// The kernel has an access that ends like this.
#[track_caller]
fn check(declarations: &str, parameters: &str, body: &str, expected: &[(&str, &str)]) {
    let text = kernel(declarations, parameters, body);
    for (start, end) in expected {
        let matches = |line: &str| line.contains(start) && line.contains(end);
        assert!(text.lines().any(matches), "{start}…{end}: {body}\n{text}");
    }
}

#[test]
fn members_of_packed_structs_are_aligned_less() {
    let packed = "struct __attribute__((packed)) S { uchar a; float4 v; float4 w[2]; float2x2 m; uint b : 9; uint c : 31; };";
    check(
        packed,
        "device S *s",
        "s->v = s[1].v;",
        &[("load <4 x float>", "align 1"), ("store <4 x float>", "align 1")],
    );
    check(
        packed,
        "device S *s, uint i [[thread_position_in_grid]]",
        "s->w[i] = 1;",
        &[("store <4 x float>", "align 1")],
    );
    check(packed, "device S *s", "s->w[1].x = 1;", &[("store float", "align 1")]);
    check(packed, "device S *s", "s->m[1] = 1;", &[("store <2 x float>", "align 1")]);
    check(packed, "device S *s", "S t = *s; s[1] = t;", &[("llvm.memcpy", "align 1")]);
    check(
        "struct S { uchar a; float4 v __attribute__((packed)); };",
        "device S *s",
        "s->v = 1;",
        &[("store <4 x float>", "align 1")],
    );
    check(
        "#pragma pack(4)\nstruct S { uchar a; float4 v; ulong l; };",
        "device S *s",
        "s->v = s->l;",
        &[("store <4 x float>", "align 4"), ("load i64", "align 4")],
    );
    check("struct S { float4 v; };", "device S *s", "s->v = 1;", &[("store <4 x float>", "align 16")]);
}

#[test]
fn variables_are_aligned_as_asked() {
    check(
        "",
        "device float *p",
        "threadgroup alignas(64) float x[8]; x[0] = p[0]; p[1] = x[0];",
        &[("@x = internal addrspace(3) global", "align 64")],
    );
    check("", "device float *p", "alignas(32) float x = p[0]; p[1] = x;", &[("alloca float", "align 32")]);
    check(
        "",
        "device float *p",
        "float x __attribute__((aligned(8))) = p[0]; p[1] = x;",
        &[("alloca float", "align 8")],
    );
    check(
        "constant float table[3] __attribute__((aligned(128))) = {1, 2, 3};",
        "device float *p, constant int &i",
        "p[0] = table[i];",
        &[("@table", "align 128")],
    );
}
