//! `coherent` in AIR: each access of device memory is a call of Apple's functions.
#![cfg(llvm)]

use inkwell::context::Context;
use metalworks_air::{Error, MathMode, lower};

fn lowered(parameters: &str, body: &str) -> Result<String, Error> {
    // The scope is declared as MLX's fences do.
    let source = format!(
        "#include <metal_stdlib>
using namespace metal;
constexpr constant thread_scope thread_scope_system = static_cast<thread_scope>(3);
struct Flags {{ uint low : 4; uint high : 4; }};
struct Pair {{ int a; short b; }};
struct Large {{ int a[2000]; }};
struct Node {{ device Node *next; coherent(device) device float *values; }};
float first(device const float *p) {{ return *p; }}
kernel void k({parameters}) {{ {body} }}"
    );
    let options = msl::Options { std: msl::LanguageVersion::new(3, 2), ..msl::Options::default() };
    let compilation = msl::compile_source("test.metal", &source, &options);
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let entry = compilation.program.kernels().next().expect("the kernel");
    let context = Context::create();
    let module = lower(&context, &compilation, entry, MathMode::Fast)?;
    module.verify().expect("valid");
    Ok(module.print_to_string().to_string())
}

/// The functions that are called, and how often.
#[track_caller]
fn check(parameters: &str, body: &str, expected: &[(&str, usize)]) {
    let text = lowered(parameters, body).expect("AIR");
    for (name, count) in expected {
        let calls = text.lines().filter(|line| line.contains("call ") && line.contains(&format!("@{name}(")));
        assert_eq!(calls.count(), *count, "{name}: {body}\n{text}");
    }
    let all = text.lines().filter(|line| line.contains("call ") && line.contains("_coherent")).count();
    assert_eq!(all, expected.iter().map(|(_, count)| count).sum::<usize>(), "{body}\n{text}");
}

/// As in the libraries of MLX's wheels for macOS 15 and 26.
#[test]
fn a_fence_is_as_apples() {
    let text = lowered(
        "volatile coherent(system) device uint *timestamp [[buffer(0)]], constant uint &value [[buffer(1)]]",
        "timestamp[0] = value;
         metal::atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_system);
         while (timestamp[0] < value) {}",
    )
    .expect("AIR");
    for expected in [
        "declare i32 @air.load.system_coherent.volatile.i32.p1i32(ptr addrspace(1))",
        "declare void @air.store.system_coherent.volatile.i32.p1i32(i32, ptr addrspace(1))",
        "(ptr addrspace(1) noundef nonnull align 4 %",
        "= { mustprogress nofree nounwind willreturn }",
        "call void @air.atomic.fence(i32 1, i32 5, i32 3)",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    assert!(!text.contains("load volatile"), "{text}");
}

#[test]
fn numbers_vectors_and_pointers() {
    check(
        "coherent device float *p, device float *q",
        "p[1] = p[0]; q[0] = q[1];",
        &[("air.load.device_coherent.f32.p1f32", 1), ("air.store.device_coherent.f32.p1f32", 1)],
    );
    check(
        "coherent(device) device half4 *p",
        "p[0].x = 1; p[1] = half4(2);",
        &[("air.store.device_coherent.f16.p1f16", 1), ("air.store.device_coherent.v4f16.p1v4f16", 1)],
    );
    check("coherent(device) device bool *p", "*p = true;", &[("air.store.device_coherent.i8.p1i8", 1)]);
    check("coherent(device) device bfloat *p", "*p = 1;", &[("air.store.device_coherent.bf16.p1bf16", 1)]);
    check(
        "coherent(system) device Node *n",
        "n->next = n->next->next;",
        &[("air.load.system_coherent.i64.p1i64", 1), ("air.store.system_coherent.i64.p1i64", 1)],
    );
    check("device Node *n", "n->values[0] = 1;", &[("air.store.device_coherent.f32.p1f32", 1)]);
}

#[test]
fn bits_and_whole_objects() {
    let word = "air.load.device_coherent.i8.p1i8";
    check("coherent device Flags *f", "f->high = 3;", &[(word, 1), ("air.store.device_coherent.i8.p1i8", 1)]);
    check(
        "coherent device Pair *p",
        "Pair x = *p; x.a += 1; p[1] = x;",
        &[("air.load.device_coherent.i32.p1i32", 2), ("air.store.device_coherent.i32.p1i32", 2)],
    );
    check(
        "coherent device packed_float3 *p, device float3 *q",
        "q[0] = p[0];",
        &[("air.load.device_coherent.v3f32.p1v3f32", 1)],
    );
}

/// References and members are coherent, and lose it where a parameter does not say so.
#[test]
fn the_type_of_the_place_counts() {
    let load = "air.load.device_coherent.f32.p1f32";
    check("coherent device float *p, device float *q", "device float &r = *p; q[0] = r;", &[]);
    check("device float *p, device float *q", "coherent device float &r = *p; q[0] = r;", &[(load, 1)]);
    check("coherent device float *p, device float *q", "q[0] = first(p);", &[]);
    check("coherent device float *p, device float *q", "auto r = p + 1; q[0] = *r;", &[(load, 1)]);
    check("coherent device float *p, device float *q", "q[0] = *(p != nullptr ? p : q);", &[(load, 1)]);
}

/// Only one thread sees the memory of a variable.
#[test]
fn other_memory_has_no_coherence() {
    check("device float *q", "coherent(device) float x = q[0]; q[1] = x;", &[]);
}

#[test]
fn copies_of_large_objects_are_refused() {
    let error = lowered("coherent device Large *p", "Large x = *p; p[1] = x;").expect_err("too large");
    assert!(matches!(&error, Error::Unsupported { what, .. } if what.contains("8000 bytes")), "{error}");
}
