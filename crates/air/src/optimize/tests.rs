use crate::MathMode;
use crate::metallib::Function;

/// The module of the only kernel of a source, as text.
fn text_with(source: &str, math: MathMode) -> String {
    let compilation = msl::compile_source("test.metal", source, &msl::Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let entry = compilation.program.kernels().next().expect("a kernel");
    let function: Function = crate::compile_kernel(&compilation.program, entry, math).expect("it compiles");
    crate::bitcode_text(function.bitcode().expect("we wrote it"), &entry.name).expect("it is a module")
}

fn text(source: &str) -> String {
    text_with(&format!("#include <metal_stdlib>\nusing namespace metal;\n{source}"), MathMode::Safe)
}

/// The lines of a text with all of these words.
fn lines<'t>(text: &'t str, words: &[&str]) -> Vec<&'t str> {
    text.lines().filter(|line| words.iter().all(|word| line.contains(word))).collect()
}

/// The attributes of the function whose definition or declaration is in the line with these words.
fn attributes_of(text: &str, words: &[&str]) -> String {
    let line = lines(text, words)[0];
    let group = line.split(['{', ' ']).rev().find(|word| word.starts_with('#')).expect("a group of attributes");
    lines(text, &[&format!("attributes {group} =")])[0].to_owned()
}

#[test]
fn calls_are_inlined_and_variables_are_in_registers() {
    let text = text(
        "struct Pair { float a, b; float sum() const thread { return a + b; } };
         float twice(float x) { return x + x; }
         kernel void k(device float *x, uint i [[thread_position_in_grid]]) {
             Pair p = {x[i], twice(x[i])};
             x[i] = p.sum();
         }",
    );
    assert!(!text.contains("alloca") && !text.contains("call") && !text.contains("alwaysinline"), "{text}");
    assert_eq!(lines(&text, &["define "]).len(), 1, "{text}");
}

#[test]
fn loops_stay_loops_with_their_hints() {
    let text = text(
        "kernel void k(device float *x) {
             _Pragma(\"clang loop unroll(full)\")
             for (int i = 0; i < 4; ++i) x[i] += 1;
         }",
    );
    assert_eq!(lines(&text, &["fadd"]).len(), 1, "{text}");
    assert_eq!(lines(&text, &["!\"llvm.loop.unroll.full\""]).len(), 1, "{text}");
}

#[test]
fn functions_across_threads_stay_where_they_are() {
    // Both branches end in a barrier, which LLVM would make one barrier behind them.
    let text = text(
        "kernel void k(device float *x, threadgroup float *t, uint i [[thread_index_in_threadgroup]]) {
             if (x[i] > 0) { t[i] = 1; threadgroup_barrier(mem_flags::mem_threadgroup); }
             else { t[i] = 2; threadgroup_barrier(mem_flags::mem_threadgroup); }
             x[i] = simd_sum(t[31 - i]);
         }",
    );
    assert_eq!(lines(&text, &["call void @air.wg.barrier"]).len(), 2, "{text}");
    assert!(attributes_of(&text, &["define void @k("]).contains("{ convergent mustprogress nounwind "), "{text}");
    let plain = "{ convergent mustprogress nounwind willreturn }";
    assert!(attributes_of(&text, &["declare void @air.wg.barrier"]).contains(plain), "{text}");
    assert!(attributes_of(&text, &["call void @air.wg.barrier"]).contains("{ convergent nounwind willreturn }"));
}

#[test]
fn kernels_without_functions_across_threads_are_not_convergent() {
    let text =
        text("kernel void k(device float *x, uint3 i [[thread_position_in_grid]]) { x[i.x] = exp(x[i.y]); }");
    assert_eq!(
        attributes_of(&text, &["define void @k("]).split_once('=').expect("a group").1,
        " { mustprogress nounwind \"frame-pointer\"=\"all\" \"min-legal-vector-width\"=\"96\" \"no-builtins\" \
         \"no-trapping-math\"=\"true\" \"stack-protector-buffer-size\"=\"8\" }"
    );
    let pure = "{ mustprogress nofree nosync nounwind willreturn memory(none) }";
    assert!(attributes_of(&text, &["declare float @air.exp.f32"]).contains(pure), "{text}");
    assert!(attributes_of(&text, &["call float @air.exp.f32"]).contains("{ nounwind willreturn memory(none) }"));
}

#[test]
fn instances_of_templates_are_weak_and_say_their_threads() {
    let text = text(
        "template <typename T> [[kernel, max_total_threads_per_threadgroup(128)]] void k(device T *x) { x[0] = 1; }
         template [[host_name(\"k_int\")]] kernel decltype(k<int>) k<int>;",
    );
    assert_eq!(lines(&text, &["define weak_odr void @k_int(", "local_unnamed_addr"]).len(), 1, "{text}");
    assert!(attributes_of(&text, &["@k_int(", "define"]).contains("\"max-work-group-size\"=\"128\""), "{text}");
}

#[test]
fn parameters() {
    let text = text(
        "struct S { float4 v; int n; };
         kernel void k(device float *x, constant S &s, threadgroup float *t, device atomic_int &a,
                       uint i [[thread_position_in_grid]]) {
             t[i] = x[i] + s.n; x[i] = t[0] + s.v.x; atomic_store_explicit(&a, 1, memory_order_relaxed);
         }",
    );
    let definition = lines(&text, &["define void @k("])[0];
    for parameter in [
        "ptr addrspace(1) noundef \"air-buffer-no-alias\" %0",
        "ptr addrspace(2) noundef align 16 dereferenceable(32) \"air-buffer-no-alias\" %1",
        "ptr addrspace(3) noundef \"air-buffer-no-alias\" %2",
        "ptr addrspace(1) noundef align 4 dereferenceable(4) \"air-buffer-no-alias\" %3",
        "i32 noundef %4",
    ] {
        assert!(definition.contains(parameter), "{parameter}: {definition}");
    }
}

#[test]
fn buffers_do_not_overlap() {
    let text = text(
        "kernel void k(device const float *x, device float *y, constant int &n, uint i [[thread_position_in_grid]]) {
             threadgroup float t[32];
             t[i] = x[i];
             threadgroup_barrier(mem_flags::mem_threadgroup);
             y[i] = t[31 - i] * n;
         }",
    );
    assert_eq!(lines(&text, &["= distinct ", "\"air-alias-scopes(k)\""]).len(), 1, "{text}");
    let load = lines(&text, &["load float, ptr addrspace(1)"])[0];
    let node = |kind: &str| {
        let name = load.split_once(kind).expect(kind).1.split([',', ' ']).next().expect("a node");
        lines(&text, &[&format!("{name} = !{{")])[0].matches(", !").count() + 1
    };
    assert_eq!((node("!alias.scope "), node("!noalias ")), (1, 2), "{text}");
    assert!(!lines(&text, &["load float, ptr addrspace(3)"])[0].contains("alias"), "{text}");
}

#[test]
fn types_in_memory() {
    // One access of each kind, and the name of its type.
    for (access, name) in [
        ("device float *x", "float"),
        ("device half *x", "half"),
        ("device bfloat *x", "bfloat"),
        ("device uint *x", "int"),
        ("device short *x", "short"),
        ("device size_t *x", "long"),
        ("device bool *x", "bool"),
        ("device uchar *x", "omnipotent char"),
        ("device float4 *x", "omnipotent char"),
        ("device packed_float3 *x", "omnipotent char"),
    ] {
        let text = text(&format!("kernel void k({access}) {{ x[0] = x[1]; }}"));
        for line in lines(&text, &["ptr addrspace(1)", ", align"]) {
            let tag = line.split_once("!tbaa ").unwrap_or_else(|| panic!("{access}: {line}")).1;
            let tag = tag.split(',').next().expect("a node");
            let ty = lines(&text, &[&format!("{tag} = !{{")])[0].split(['{', ',']).nth(1).expect("a node");
            assert!(lines(&text, &[&format!("{ty} = !{{!\"{name}\"")]).len() == 1, "{access}: {text}");
        }
    }
    let text = text("kernel void k(device bool *x) { x[0] = !x[1]; }");
    assert_eq!(lines(&text, &["load i8", "!range "]).len(), 1, "{text}");
}

#[test]
fn members_of_structs_are_told_apart() {
    let text = text(
        "namespace n { struct Inner { float x; int y[2]; }; }
         struct Outer { int first; float second; n::Inner inner; n::Inner array[2]; uint bits : 3; uchar c; };
         kernel void k(device Outer *o, device float *x, device int *i) {
           x[0] = o->second; x[1] = o->inner.x; x[2] = o->array[1].x; i[0] = o->first; i[1] = o->inner.y[1];
           i[2] = *(device int *)&o[1].second;
         }",
    );
    let inner = lines(&text, &[" = !{!\"_ZTSN1n5InnerE\", ", ", i64 0, ", ", i64 4}"]);
    let outer = lines(&text, &[" = !{!\"_ZTS5Outer\", ", ", i64 20, ", ", i64 44, "]);
    assert_eq!((inner.len(), outer.len()), (1, 1), "{text}");
    let node = |line: &str| line.split(" = ").next().expect("a node").to_owned();
    let (inner, outer) = (node(inner[0]), node(outer[0]));
    let tag = |base: &str, offset: u32| {
        let tag = lines(&text, &[&format!(" = !{{{base}, "), &format!(", i64 {offset}}}")]);
        tag.iter().map(|line| node(line)).find(|tag| !lines(&text, &["load ", &format!("!tbaa {tag}")]).is_empty())
    };
    assert!(tag(&outer, 0).is_some() && tag(&outer, 4).is_some() && tag(&outer, 8).is_some(), "{text}");
    assert!(tag(&inner, 0).is_some(), "{text}");
    // An element of an array, and a member read as another type, are plain integers.
    assert_eq!(lines(&text, &["load i32", "!tbaa"]).len(), 3, "{text}");
    assert!(tag(&outer, 12).is_none() && tag(&outer, 16).is_none(), "{text}");
}

/// They may begin at the same offset as a member.
#[test]
fn members_beside_units_of_bit_fields_and_empty_bases() {
    let text = text(
        "struct __attribute__((packed)) S { ushort a; ulong b : 12; int c : 10; short d; };
         struct B { int x; };
         struct E {};
         struct T : B, E { float y; };
         kernel void k(device S *s, device T *t) { s->a = s->d; s->b = 1; t->x = 3; t->y = 4; }",
    );
    assert_eq!(lines(&text, &["store i16", "!tbaa"]).len(), 1, "{text}");
    assert_eq!(lines(&text, &[" = !{!\"_ZTS1S\", ", ", i64 0, ", ", i64 2, ", ", i64 3, "]).len(), 1, "{text}");
}

#[test]
fn members_of_unions_may_be_of_any_type() {
    let text = text(
        "union Bits { float f; uint u; ushort s[2]; };
         struct S { int n; Bits bits; };
         kernel void k(device S *s, device uint *out) {
             s->bits.f = 1.0f; out[0] = s->bits.u; s->bits.s[1] = 3; out[1] = s->bits.u;
         }",
    );
    assert!(!text.contains("!{!\"float\"") && !text.contains("!{!\"short\""), "{text}");
    assert_eq!(lines(&text, &["load i32, ptr addrspace(1)"]).len(), 1, "the second load sees the new bits: {text}");
}

#[test]
fn arguments_that_no_code_uses() {
    let text = text("kernel void k(device float *x, device float *y) { float unused = y[0]; x[0] = 1; }");
    assert_eq!(lines(&text, &["!\"air.arg_unused\""]), lines(&text, &["!\"air.arg_name\", !\"y\""]), "{text}");
}

#[test]
fn unused_threadgroup_memory_is_gone() {
    let text = text(
        "kernel void k(device float *x) {
             threadgroup float used[32], unused[32], written_in_dead_code[64];
             if (false) written_in_dead_code[0] = 1;
             used[0] = x[0]; threadgroup_barrier(mem_flags::mem_threadgroup); x[1] = used[1];
         }",
    );
    assert_eq!(lines(&text, &["internal unnamed_addr addrspace(3) global"]).len(), 1, "{text}");
    assert!(
        text.contains("@used = internal unnamed_addr addrspace(3) global [32 x float] undef, align 4"),
        "{text}"
    );
}

#[test]
fn function_constants_are_copied() {
    let text = text(
        "namespace ns { constant int n [[function_constant(3)]]; }
         kernel void k(device int *x) { x[0] = ns::n; }",
    );
    assert!(text.contains("@_ZN2nsL1nE = internal unnamed_addr addrspace(2) global i32 undef, align 4"), "{text}");
    assert_eq!(lines(&text, &["load i32, ptr addrspace(2) @_ZN2ns1nE.MTL_FC_INIT_3_i"]).len(), 1, "{text}");
    assert_eq!(lines(&text, &["store i32", "ptr addrspace(2) @_ZN2nsL1nE"]).len(), 1, "{text}");
    assert_eq!(lines(&text, &["load i32, ptr addrspace(2) @_ZN2nsL1nE"]).len(), 1, "{text}");
}

#[test]
fn constants_computed_from_function_constants_are_set_at_start() {
    let text = text(
        "constant int n [[function_constant(0)]];
         constant int twice = n * 2;
         constant bool is_large = is_function_constant_defined(n) && twice > 64;
         constant float scale = 1.0f / n;
         kernel void k(device float *x) { if (is_large) x[0] = scale; }",
    );
    let start = text.split("@_GLOBAL__sub_I_metalworks()").nth(1).expect("a static initializer");
    let start = start.split("\n}").next().expect("its body");
    assert!(
        start.contains("call i1 @air.is_function_constant_defined(ptr addrspace(2) @_Z1n.MTL_FC_INIT_0_i)"),
        "{start}"
    );
    assert!(start.contains("ptr addrspace(2) @_ZL8is_large"), "{start}");
    assert!(start.contains("icmp sgt i32"), "'twice' is set before: {start}");
    assert!(start.contains("fdiv") && start.contains("ptr addrspace(2) @_ZL5scale"), "{start}");
    let kernel = text.split("define void @k(").nth(1).expect("the kernel");
    let kernel = kernel.split("\n}").next().expect("its body");
    assert!(kernel.contains("load i8, ptr addrspace(2) @_ZL8is_large") && !kernel.contains("fdiv"), "{kernel}");
}

#[test]
fn conversions_between_floats() {
    for (to, from, expected) in [
        ("float", "half", "fpext half"),
        ("bfloat", "float", "fptrunc float"),
        ("float4", "half4", "@air.convert.f.v4f32.f.v4f16(<4 x half>"),
        ("bfloat2", "float2", "@air.convert.f.v2bf16.f.v2f32(<2 x float>"),
    ] {
        let text = text(&format!("kernel void k(device {to} *x, device {from} *y) {{ x[0] = {to}(y[0]); }}"));
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn fast_mathematics() {
    let source = "kernel void k(device float *x) { x[0] = x[1] * x[2] - INFINITY * x[3]; }";
    let source = format!("#include <metal_stdlib>\n{source}");
    let text = text_with(&source, MathMode::Fast);
    assert!(lines(&text, &["fmul fast float"]).len() == 2, "{text}");
    let attributes = attributes_of(&text, &["define void @k("]);
    for name in ["approx-func", "no-infs", "no-nans", "no-signed-zeros"] {
        assert!(attributes.contains(&format!("\"{name}-fp-math\"=\"true\"")), "{attributes}");
    }
    assert!(attributes.contains("\"unsafe-fp-math\"=\"true\""), "{attributes}");
}

#[test]
fn nothing_is_newer_than_llvm_14() {
    let text = text(
        "kernel void k(device int *x, device uint *y, constant uint *n, uint i [[thread_position_in_grid]]) {
             x[i] = y[i] < n[0] ? -1 : y[i] > n[0] ? 1 : 0;
             y[i] = (y[i] & 0xff00) | (n[1] & 0xff);
             y[i + 1] = uint(ushort(n[2] >> 20)) + uint(max(x[i + 3], 0));
         }",
    );
    for word in ["ucmp", "nneg", "disjoint", "samesign", "trunc nuw", "trunc nsw", "inbounds nuw", "gep nuw"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
}

/// LLVM makes tests of the class of a number from comparisons with infinity.
#[test]
fn classes_of_numbers_are_ranges_of_bits() {
    let text = text(
        "kernel void k(device float *x, device half *h, uint i [[thread_position_in_grid]]) {
             bool is_small = x[i] > 0 && x[i] < INFINITY;
             x[i] = is_small || !isfinite(h[i]) ? 1 : 2;
             x[i + 1] = isnormal(x[i + 1]) || x[i + 2] == -INFINITY;
         }",
    );
    assert!(!text.contains("is.fpclass"), "{text}");
}

#[test]
fn a_module_is_the_same_each_time() {
    let source = "kernel void k(device float *x, constant int &n) {
        for (int i = 0; i < n; ++i) { float a[4] = {x[i], 1, 2, 3}; x[i] = a[i % 4] + sin(x[i]); }
    }";
    assert_eq!(text(source), text(source));
}

#[test]
fn no_vector_is_longer_than_metals() {
    let text = text(
        "kernel void k(device ushort *x, uint3 i [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) {
             x[0] = ushort(i.y) * ushort(n.z) + ushort(i.z >> 16);
         }",
    );
    assert!(!text.contains("<6 x i16>"), "{text}");
    assert_eq!(lines(&text, &["extractelement <3 x i32>"]).len(), 3, "{text}");
}

#[test]
fn uniform_values_are_promised() {
    let promises = |source: &str| {
        let text = text(source);
        let count = |name: &str| lines(&text, &["call", name]).len();
        let all = count("@air.is_uniform.");
        assert_eq!(count("@llvm.assume(i1"), all, "{text}");
        (all, count("@air.is_uniform.i1("))
    };
    let kernel = |body: &str| promises(&format!("kernel void k(constant int &n, device int *x) {{ {body} }}"));
    // The value and the product.
    assert_eq!(kernel("x[0] = make_uniform(n) * 3;"), (2, 0));
    assert_eq!(kernel("x[0] = make_uniform(n) * x[1];"), (1, 0));
    assert_eq!(kernel("uniform<int> a = make_uniform(n); x[0] = 1;"), (0, 0));
    // The result of a comparison with a constant, not with another number.
    assert_eq!(kernel("if (make_uniform(n) > 0) x[0] = 1;"), (2, 1));
    assert_eq!(kernel("if (make_uniform(n) > x[1]) x[0] = 1;"), (1, 0));
}

#[test]
fn half_and_bfloat_are_converted_by_functions() {
    let text = text(
        "kernel void k(device half *x, device bfloat *y, device half4 *z, device bfloat4 *w, device float *v) {
             x[0] = half(y[0]); y[1] = bfloat(x[1]); z[0] = half4(w[0]); x[2] = half(v[0]);
         }",
    );
    for name in ["air.convert.f.f16.f.bf16", "air.convert.f.bf16.f.f16", "air.convert.f.v4f16.f.v4bf16"] {
        assert_eq!(lines(&text, &["call", &format!("@{name}(")]).len(), 1, "{name} in {text}");
    }
    assert_eq!(lines(&text, &["fptrunc", "float"]).len(), 1, "{text}");
}

#[test]
fn the_version_of_air_follows_the_language() {
    for ((major, minor), air, triple) in [
        ((2, 4), 6, "air64_v26-apple-macosx14.0.0"),
        ((3, 1), 6, "air64_v26-apple-macosx14.0.0"),
        ((3, 2), 7, "air64_v27-apple-macosx15.0.0"),
        ((4, 0), 8, "air64_v28-apple-macosx26.0.0"),
    ] {
        let options = msl::Options { std: msl::LanguageVersion::new(major, minor), ..msl::Options::default() };
        let compilation = msl::compile_source("test.metal", "kernel void k(device float *x) { *x = 1; }", &options);
        let compiled = crate::compile(&compilation, MathMode::Fast).expect("a library").library;
        let library = crate::metallib::Library::parse(&compiled).expect("we wrote it");
        let function = &library.functions()[0];
        let text = crate::bitcode_text(function.bitcode().expect("we wrote it"), "k").expect("a module");
        assert!(text.contains(&format!("target triple = \"{triple}\"")), "{text}");
        assert!(text.contains(&format!("!{{i32 2, i32 {air}, i32 0}}")), "{text}");
        assert!(text.contains(&format!("!{{!\"Metal\", i32 {major}, i32 {minor}, i32 0}}")), "{text}");
        assert_eq!((function.air_version, function.language_version), ((2, air), (major as u16, minor as u16)));
        assert!(triple.ends_with(&format!("macosx{}.0.0", library.header.platform_major)));
    }
}
