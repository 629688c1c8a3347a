//! `volatile` in AIR: each access in the source is one access that LLVM keeps.
#![cfg(llvm)]

use inkwell::context::Context;
use metalworks_air::{MathMode, lower};

/// The AIR of the only kernel, whose parameters and body are given.
fn kernel(parameters: &str, body: &str) -> String {
    let source = format!(
        "#include <metal_stdlib>
using namespace metal;
struct Record {{ int plain; volatile int status; int get() volatile device {{ return plain; }} }};
struct Flags {{ uint low : 4; uint high : 4; }};
struct Pair {{ int a, b; }};
int twice(volatile int x) {{ return x + x; }}
kernel void k({parameters}) {{ {body} }}"
    );
    let compilation = msl::compile_source("test.metal", &source, &msl::Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let entry = compilation.program.kernels().next().expect("the kernel");
    let context = Context::create();
    let module = lower(&context, &compilation, entry, MathMode::Fast).expect("AIR");
    module.verify().expect("valid");
    module.print_to_string().to_string()
}

/// The number of volatile loads and of volatile stores.
#[track_caller]
fn check(parameters: &str, body: &str, loads: usize, stores: usize) {
    let text = kernel(parameters, body);
    let count = |what: &str| text.matches(what).count();
    assert_eq!((count("load volatile"), count("store volatile")), (loads, stores), "{body}\n{text}");
}

#[test]
fn accesses_through_pointers_and_references() {
    check("device int *p", "*p = 1; p[1] = p[0];", 0, 0);
    check("volatile device int *p", "*p = 1; p[1] = p[0];", 1, 2);
    check("device int *p", "volatile device int &r = *p; r = 1; r += r;", 2, 2);
    check("device int *p", "*(volatile device int *)p = 1;", 0, 1);
    check("device int *p", "*static_cast<volatile device int *>(p) = *p;", 0, 1);
    check("volatile device int *p, device int *q", "*q = p[0]++ + --p[1];", 3, 2);
    check("volatile device int *p, device int *q", "*q = *p = 3;", 1, 1);
    check("device int *p", "device int *volatile q = p; *q = 1;", 1, 1);
    check("volatile device bool *p", "*p = !*p;", 1, 1);
}

#[test]
fn discarded_values_are_read() {
    check("volatile device int *p", "*p; (void)p[1]; *p, p[2];", 4, 0);
    check("volatile device int *p", "*p = 1; *p += 1; ++*p;", 2, 3);
    check("device int *p", "*p; (void)p[1];", 0, 0);
}

#[test]
fn fields_vectors_and_bits() {
    check("volatile device Record *r", "r->plain = r->status;", 1, 1);
    check("device Record *r", "r->plain = r->status;", 1, 0);
    check("device Record *r", "r->status = r->plain;", 0, 1);
    check("volatile device Record *r, device int *q", "*q = r->get();", 1, 0);
    check("volatile device Flags *f", "f->high = 2;", 1, 1);
    check("volatile device float4 *v", "v->x = 1; (*v)[1] = 2;", 0, 2);
    check("volatile device float4 *v", "v->xy = v->zw;", 2, 1);
}

#[test]
fn locals_and_parameters() {
    check("device int *q", "volatile int x = 1; x = 2; *q = x;", 1, 2);
    check("device int *q", "volatile int x[2] = {}; x[1] = 2; *q = x[0];", 1, 1);
    check("device int *q", "*q = twice(3);", 2, 1);
    check("device int *q", "threadgroup volatile int x; x = 2; *q = x;", 1, 1);
    check("device int *q", "Record r; r.status = 1; *q = r.plain;", 0, 1);
    check("device int *q", "Record r = {1, 2}; *q = r.plain;", 0, 1);
}

/// Copies of whole objects are volatile, if the object or one of its fields is.
#[test]
fn copies() {
    const COPY: &str = "@llvm.memcpy.p0.p1.i64(ptr align 4";
    let is_volatile = |text: &str, count: usize| text.contains(COPY) && text.matches("i1 true)").count() == count;
    let text = kernel("device Pair *p", "Pair x = *p; p[1] = x;");
    assert!(is_volatile(&text, 0), "{text}");
    let text = kernel("device Record *r", "Record x = *r;");
    assert!(is_volatile(&text, 1), "{text}");
    let text = kernel("device int *q", "volatile Pair x = {1, 2}; *q = x.a;");
    assert_eq!(text.matches("i1 true)").count(), 1, "{text}");
    let text = kernel("volatile device float4x4 *m, device float4x4 *q", "*q = *m; *m = *q;");
    assert_eq!(text.matches("i1 true)").count(), 2, "{text}");
}

/// A constant that is volatile is read from memory.
#[test]
fn constants() {
    check("device int *q, volatile constant int *c", "*q = *c;", 1, 0);
    let source = "constant volatile int N = 3;\nkernel void k(device int *q) { *q = N + N; }";
    let compilation = msl::compile_source("test.metal", source, &msl::Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let context = Context::create();
    let entry = compilation.program.kernels().next().expect("the kernel");
    let text = lower(&context, &compilation, entry, MathMode::Fast).expect("AIR").print_to_string().to_string();
    assert_eq!(text.matches("load volatile").count(), 2, "{text}");
}
