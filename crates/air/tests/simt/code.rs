//! Properties of generated code, seen in the PTX.

use super::kernel;
use Threadgroups::{Any, Whole};
use abi::{SimtKernel, SimtParameter, Threadgroups};
use metalworks_air::MathMode;

fn compile_with(source: &str, threadgroups: Threadgroups, math: MathMode) -> SimtKernel {
    let source =
        format!("#include <metal_stdlib>\n#include <metal_simdgroup_matrix>\nusing namespace metal;\n{source}");
    let compilation = msl::compile_source("test.metal", &source, &msl::Options { math, ..msl::Options::default() });
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    kernel(&compilation, "k", threadgroups, math).unwrap_or_else(|error| panic!("{error}"))
}

pub(super) fn ptx(source: &str) -> String {
    compile_with(source, Whole, MathMode::Fast).ptx
}

/// The part of the PTX that is the entry which takes addresses.
pub(super) fn entry(ptx: &str) -> &str {
    let start = ptx.find(".entry metalworks_kernel(").expect("the entry");
    let end = ptx[start..].find("\n}").map_or(ptx.len(), |end| start + end);
    &ptx[start..end]
}

pub(super) fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn loads_of_four_numbers_are_one() {
    let text = ptx("kernel void k(device const float4 *x, device float4 *y, uint i [[thread_position_in_grid]]) {
        y[i] = x[i] + 1.0f;
    }");
    assert_eq!((count(&text, "ld.global.v4.b32"), count(&text, "st.global.v4.b32")), (1, 1), "{text}");
    assert!(!text.contains("debug") && !text.contains(".local"), "{text}");
}

/// The sizes of loads, by their names in PTX, without those of `ulong`.
fn loads(source: &str) -> Vec<String> {
    let text = ptx(source);
    let names = entry(&text).lines().filter_map(|line| line.split_whitespace().next());
    let loads = names.filter_map(|name| name.strip_prefix("ld.global.")).map(|name| name.replace("nc.", ""));
    loads.filter(|name| name != "b64").collect()
}

#[test]
fn words_of_blocks_of_22_bytes_are_loaded_in_halves() {
    let kernel = |body: &str| {
        loads(&format!(
            "struct Block {{ half scale; uchar high[4]; uchar low[16]; }};
             kernel void k(device const Block *x, device uint *y, constant ulong &n, uint i [[thread_position_in_grid]]) {{
                 {body}
             }}"
        ))
    };
    assert_eq!(kernel("y[i] = *(device const uint *)x[i].high;"), ["b16", "b16"]);
    assert_eq!(kernel("y[i] = *(device const uint *)((device const uchar *)x + 22 * i + 2);"), ["b16", "b16"]);
    assert_eq!(kernel("y[i] = *(device const uint *)(x[0].high + 2);"), ["b32"]);
    assert_eq!(kernel("y[i] = *(device const uint *)(x[2 * i].high + 2);"), ["b32"]);
    assert_eq!(
        kernel("uint sum = 0; for (uint j = i; j < n; j += 32) sum += *(device const uint *)x[j].low; y[i] = sum;"),
        ["b16", "b16"]
    );
    // Single numbers are trusted to be aligned, whatever their distances.
    assert_eq!(kernel("y[i] = *(device const uint *)((device const uchar *)x + n * i);"), ["b32"]);
}

#[test]
fn vectors_at_distances_that_are_known_later_are_accessed_by_element() {
    let kernel = |at: &str, name: &str| {
        let load = format!("y[i] = *(device const float4 *)(x + {at});");
        let store = format!("*(device float4 *)(x + {at}) = y[i];");
        [(load, "ld.global."), (store, "st.global.")].map(|(body, prefix)| {
            let text = ptx(&format!(
                "kernel void k(device float *x, device float4 *y, constant ulong &n,
                               uint i [[thread_position_in_grid]]) {{ {body} }}"
            ));
            count(entry(&text), &format!("{prefix}{name}"))
        })
    };
    for at in ["4 * i", "12 * i", "4 * (n * i) + 8", "(n & ~3ul) * i", "min(n, 8ul) * 4 + 4 * i"] {
        assert_eq!(kernel(at, "v4.b32"), [1, 1], "{at}");
    }
    for at in ["n * i", "n * i + 4", "ulong(i) * n + 8 * i", "3 * i"] {
        assert_eq!((kernel(at, "b32"), kernel(at, "v4.b32")), ([4, 4], [0, 0]), "{at}");
    }
    assert_eq!(kernel("6 * i", "v2.b32"), [2, 2]);
}

#[test]
fn all_lanes_come_to_a_barrier_that_some_skip() {
    let kernel = |body: &str| {
        let text = ptx(&format!(
            "kernel void k(device float *x, device float *y, constant uint &n, uint i [[thread_index_in_threadgroup]],
                           uint lane [[thread_index_in_simdgroup]]) {{
                 threadgroup float t[64];
                 float sum = x[i];
                 {body}
             }}"
        ));
        let code = entry(&text).to_owned();
        (code.contains("bar.sync") || code.contains("barrier.sync.aligned"), code.contains("barrier.sync \t"))
    };
    let exchange = "t[i] = sum; threadgroup_barrier(mem_flags::mem_threadgroup); sum += t[i ^ 8];";
    let (together, apart) = ((true, false), (false, true));
    assert_eq!(kernel(&format!("{exchange} y[i] = sum;")), together);
    assert_eq!(kernel(&format!("if (n > 3) {{ {exchange} }} y[i] = sum;")), together);
    assert_eq!(kernel(&format!("if (lane % 8 == 0) {{ {exchange} y[i] = sum; }}")), together);
    assert_eq!(
        kernel(&format!("if (lane % 8 == 0) {{ {exchange} y[i] = sum; }} else {{ y[i] = 2 * sum; }}")),
        together
    );
    assert_eq!(kernel(&format!("if (lane > 3) {{ if (sum > 1.0f) {{ {exchange} }} y[i] = sum; }}")), together);
    // There is no single branch around it.
    let looped = |body: &str| kernel(&format!("for (uint j = 0; j < lane; j++) {{ {body} }} y[i] = sum;"));
    assert_eq!(looped(exchange), apart);
    assert_eq!(looped("threadgroup_barrier(mem_flags::mem_none); sum += x[i + j];"), (false, false));
}

#[test]
fn sums_of_simdgroups_are_butterflies() {
    let text = ptx("kernel void k(device const float *x, device float *y, uint i [[thread_position_in_grid]]) {
        y[i] = simd_sum(x[i]);
    }");
    assert_eq!(count(&text, "shfl.sync.bfly.b32"), 5, "{text}");
    assert_eq!(count(&text, ", -1;"), 5, "all lanes take part: {text}");
    assert!(!text.contains("activemask"), "{text}");
}

#[test]
fn sums_in_a_branch_are_of_the_active_lanes() {
    let source = "kernel void k(device const float *x, device float *y, uint i [[thread_position_in_grid]]) {
        if (x[i] > 0.0f) y[i] = simd_sum(x[i]);
    }";
    let text = ptx(source);
    assert!(text.contains("activemask.b32") && text.contains("shfl.sync.idx.b32"), "{text}");
    // The butterfly is for the case that all are.
    assert_eq!(count(&text, "shfl.sync.bfly"), 5, "{text}");
    // A branch that all lanes take together is none.
    let uniform = ptx("kernel void k(device const float *x, device float *y, constant uint &n,
                                     uint i [[thread_position_in_grid]]) {
        if (n > 3) y[i] = simd_sum(x[i]);
    }");
    assert!(!uniform.contains("activemask") && uniform.contains("shfl.sync.bfly"), "{uniform}");
}

#[test]
fn simdgroups_may_lack_lanes_in_other_threadgroups() {
    let source = "kernel void k(device const float *x, device float *y, uint i [[thread_position_in_grid]]) {
        y[i] = simd_sum(x[i]);
    }";
    let kernel = compile_with(source, Any, MathMode::Fast);
    assert!(kernel.ptx.contains("activemask.b32"), "{}", kernel.ptx);
    assert_eq!(kernel.parameters.last(), Some(&SimtParameter::Grid));
    assert!(!compile_with(source, Whole, MathMode::Fast).parameters.contains(&SimtParameter::Grid));
}

#[test]
fn constant_references_come_by_value() {
    let kernel = compile_with(
        "struct P { uint n; float4 scale; };
         kernel void k(device float4 *y, constant P &p, constant float4 *table, uint i [[thread_position_in_grid]]) {
             if (i < p.n) y[i] = p.scale + table[i];
         }",
        Whole,
        MathMode::Fast,
    );
    let buffers = [0, 1, 2].map(|index| SimtParameter::Buffer { index });
    assert_eq!(kernel.parameters, buffers);
    let bytes = SimtParameter::Bytes { index: 1, size: 32, align: 16 };
    assert_eq!(kernel.bytes_parameters, [buffers[0], bytes, buffers[2]]);
    let name = kernel.bytes_entry.expect("there is one");
    let at = kernel.ptx.find(&format!(".entry {name}(")).expect("it is in the module");
    let text = &kernel.ptx[at..];
    assert!(text.contains("ld.param.v4.b32") && !text.contains(".local"), "{text}");
    assert_eq!(count(text, "ld.global"), 1, "the table alone: {text}");
}

#[test]
fn barriers_and_threadgroup_memory() {
    let kernel = compile_with(
        "kernel void k(device float *x, threadgroup float *shared [[threadgroup(0)]],
                       uint i [[thread_index_in_threadgroup]]) {
            threadgroup float own[64];
            shared[i] = x[i];
            own[i % 64] = x[i + 1];
            threadgroup_barrier(mem_flags::mem_threadgroup);
            x[i] = shared[i ^ 1] + own[(i ^ 1) % 64];
        }",
        Whole,
        MathMode::Fast,
    );
    let text = &kernel.ptx;
    assert!(text.contains("bar.sync \t0;") || text.contains("barrier.sync.aligned"), "{text}");
    assert!(text.contains(".extern .shared") && count(text, "ld.shared.b32") == 2, "{text}");
    assert_eq!(kernel.static_threadgroup_memory, 256);
    assert_eq!(kernel.parameters[1], SimtParameter::Threadgroup { index: 0 });
}

#[test]
fn atomics_are_those_of_the_gpu() {
    let text =
        ptx("kernel void k(device atomic_uint *a, device atomic_float *f, device uint *old, device float *x,
                                  uint i [[thread_position_in_grid]]) {
        threadgroup atomic_int shared;
        atomic_fetch_add_explicit(f, x[i], memory_order_relaxed);
        old[i] = atomic_fetch_max_explicit(a, i, memory_order_relaxed);
        atomic_fetch_or_explicit(&shared, int(i), memory_order_relaxed);
        uint expected = 1;
        atomic_compare_exchange_weak_explicit(a + 1, &expected, i, memory_order_relaxed, memory_order_relaxed);
        old[i + 1] = expected;
    }");
    for part in
        ["atom.global.add.f32", "atom.global.max.u32", "atom.shared.or.b32", "atom.relaxed.gpu.global.cas.b32"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

const GEMM: &str = "kernel void k(device const T *a, device const T *b, device float *c) {
    simdgroup_matrix<float, 8, 8> sums[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    for (int step = 0; step < 64; step += 16) {
        for (int k = step; k < step + 16; k += 8) {
            simdgroup_matrix<T, 8, 8> left[2], right[2];
            for (int i = 0; i < 2; i++) simdgroup_load(left[i], a + i * 8 * 64 + k, 64);
            for (int j = 0; j < 2; j++) simdgroup_load(right[j], b + k * 16 + j * 8, 16);
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) simdgroup_multiply_accumulate(sums[i][j], left[i], right[j], sums[i][j]);
        }
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) simdgroup_store(sums[i][j], c + i * 8 * 16 + j * 8, 16);
}";

#[test]
fn products_of_matrices_are_put_together() {
    // 16 × 64 by 64 × 16: eight products of 16 × 16 by 16 × 8, if all loops are unrolled.
    for (ty, instruction) in [("half", "f32.f16.f16.f32"), ("bfloat", "f32.bf16.bf16.f32")] {
        let text = ptx(&GEMM.replace('T', ty));
        let text = entry(&text);
        let products = count(text, &format!("mma.sync.aligned.m16n8k16.row.col.{instruction}"));
        assert!(matches!(products, 2 | 8), "{products} products: {text}");
        assert_eq!(count(text, "mma.sync"), products, "{text}");
        assert_eq!(count(text, "movmatrix"), 2 * products, "{text}");
        assert!(!text.contains("shfl") && !text.contains(".local"), "{text}");
    }
    // Float is of products of 16 × 8 by 8 × 8, in three parts.
    let text = ptx(&GEMM.replace('T', "float"));
    let text = entry(&text);
    let products = count(text, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32");
    assert!(matches!(products, 12 | 48) && count(text, "mma.sync") == products, "{products} products: {text}");
    assert!(!text.contains("shfl"), "{text}");
    let safe = compile_with(&GEMM.replace('T', "float"), Whole, MathMode::Safe).ptx;
    assert!(!safe.contains("mma.sync") && safe.contains("fma.rn"), "{safe}");
}

#[test]
fn loops_with_products_stay_loops_if_the_source_says_so() {
    let (start, pragma) = ("for (int step", "_Pragma(\"clang loop unroll(disable)\") for (int step");
    let products = |source: &str| count(entry(&ptx(&source.replace('T', "half"))), "mma.sync");
    assert_eq!((products(GEMM), products(&GEMM.replace(start, pragma))), (8, 2));
}

#[test]
fn right_operands_are_loaded_by_columns() {
    let load = "simdgroup_load(right[j], b + k * 16 + j * 8, 16);";
    let transposed = "simdgroup_load(right[j], b + j * 8 * 64 + k, 64, ulong2(0, 0), true);";
    assert!(GEMM.contains(load));
    for ty in ["half", "bfloat", "float"] {
        let text = ptx(&GEMM.replace(load, transposed).replace('T', ty));
        assert!(text.contains("mma.sync") && !text.contains("movmatrix"), "{text}");
    }
}

#[test]
fn elements_of_matrices_are_in_the_order_of_metal() {
    let text = ptx("kernel void k(device float *a) {
        simdgroup_matrix<float, 8, 8> m;
        simdgroup_load(m, a, 8);
        m.thread_elements()[0] *= 2.0f;
        simdgroup_store(m, a, 8);
    }");
    // Two elements there, and two back.
    assert_eq!(count(&text, "shfl.sync.idx.b32"), 4, "{text}");
}

#[test]
fn elements_of_matrices_are_seen_as_integers_of_their_size() {
    // As in candle's products of bfloat: elements of several matrices are set from bits and rounded by their bits.
    let text = ptx("kernel void k(device const bfloat *a, device bfloat *c, constant int &n, uint i [[thread_index_in_simdgroup]]) {
        simdgroup_matrix<float, 8, 8> x[2], y[2];
        for (int j = 0; j < 2; j++) y[j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        for (int k = 0; k < n; k++) {
            for (int j = 0; j < 2; j++) {
                x[j].thread_elements()[0] = static_cast<float>(a[64 * k + 2 * i + j]);
                x[j].thread_elements()[1] = static_cast<float>(a[64 * k + 2 * i + j + 1]);
            }
            for (int j = 0; j < 2; j++) simdgroup_multiply_accumulate(y[j], x[j], x[1 - j], y[j]);
        }
        for (int j = 0; j < 2; j++) {
            thread const auto &sums = y[j].thread_elements();
            c[64 * j + 2 * i] = static_cast<bfloat>(sums[0]);
            c[64 * j + 2 * i + 1] = static_cast<bfloat>(sums[1]);
        }
    }");
    assert!(text.contains("mma.sync") && !text.contains(".local"), "{text}");
}

#[test]
fn only_what_air_fuses_is_fused() {
    let source = "kernel void k(device float *x, uint i [[thread_position_in_grid]]) {
        float product = x[i] * x[i + 1];
        x[i] = product + x[i + 2];
    }";
    let safe = compile_with(source, Whole, MathMode::Safe).ptx;
    let relaxed = ptx(source);
    assert!(relaxed.contains("fma.rn.ftz.f32"), "{relaxed}");
    // With the rounding in their names, ptxas does not fuse them either.
    assert!(safe.contains("mul.rn.ftz.f32") && safe.contains("add.rn.ftz.f32"), "{safe}");
}

#[test]
fn failures_are_written_and_end_the_thread() {
    let kernel = compile_with(
        "static int depth(device int *x, int n) { return n <= 0 ? 0 : x[n] + depth(x, n - 1) * 3; }
         kernel void k(device int *x, uint i [[thread_position_in_grid]]) { x[i] = depth(x, x[i]); }",
        Whole,
        MathMode::Fast,
    );
    assert!(!kernel.failures.is_empty());
    assert_eq!(kernel.parameters.last(), Some(&SimtParameter::Failure));
    assert!(!kernel.ptx.contains("trap"), "{}", kernel.ptx);
}

#[test]
fn prefix_sums_in_a_branch_are_of_the_active_lanes() {
    let text = ptx("kernel void k(device const int *x, device int *y, uint i [[thread_position_in_grid]]) {
        if (x[i] > 0) y[i] = simd_prefix_exclusive_sum(x[i]) + quad_sum(x[i]);
    }");
    assert!(text.contains("activemask.b32") && text.contains("shfl.sync.idx.b32"), "{text}");
}

#[test]
fn half_keeps_denormal_numbers() {
    let text = ptx("kernel void k(device half2 *x, device half *y, uint i [[thread_position_in_grid]]) {
        x[i] = x[i] * x[i + 1] - x[i + 2];
        y[i] = y[i] > y[i + 1] ? -y[i] : y[i + 2];
    }");
    assert!(!text.contains("ftz.f16") && text.contains("fma.rn.f16x2"), "{text}");
    assert!(!text.contains("setp.gt.f16") && text.contains("ftz.f32 \t%p1"), "{text}");
}

#[test]
fn numbers_are_not_stored_by_their_lowest_byte() {
    let text = ptx("#pragma pack(push, 1)
    struct Packed { char tag; float4 values; };
    #pragma pack(pop)
    kernel void k(device Packed *x, uint i [[thread_position_in_grid]]) { x[i].values = x[i].values + 1.0f; }");
    assert_eq!(count(&text, "st.global.b8"), 16, "{text}");
    assert_eq!(count(&text, "prmt.b32"), 4, "{text}");
}

#[test]
fn short_vectors_are_added_by_element() {
    let text = ptx("kernel void k(device short2 *x, uint i [[thread_position_in_grid]]) {
        x[i] = x[i] + short2(1, 0);
    }");
    assert!(!text.contains("s16x2"), "{text}");
}

#[test]
fn entries_wait_for_the_kernels_before() {
    let kernel = compile_with(
        "kernel void k(device const float *x, device float *y, constant float &s, uint i [[thread_position_in_grid]]) {
            y[i] = x[i] * s;
        }",
        Any,
        MathMode::Fast,
    );
    assert!(kernel.waits);
    assert_eq!(count(&kernel.ptx, "griddepcontrol.wait;"), 2, "{}", kernel.ptx);
    for entry in kernel.ptx.split(".entry ").skip(1) {
        let wait = entry.find("griddepcontrol.wait;").expect("a wait");
        let others = ["ld.global", "st.global", "bra", "ret;"].iter().filter_map(|name| entry.find(name));
        assert!(others.min().is_some_and(|first| wait < first), "{entry}");
    }
}

#[test]
fn weights_are_loaded_before_the_wait() {
    let kernel = compile_with(
        "kernel void k(device const uchar *w [[buffer(2)]], device const float *x [[buffer(0)]],
                       device float *y [[buffer(1)]], constant uint &n [[buffer(3)]],
                       uint i [[thread_position_in_grid]]) {
            y[i] = float(((device const uint *)w)[i + n]) * x[i];
        }",
        Whole,
        MathMode::Fast,
    );
    assert_eq!(kernel.early, [2]);
    let entries: Vec<&str> = kernel.ptx.split(".entry ").skip(1).collect();
    assert_eq!(entries.len(), 2, "{}", kernel.ptx);
    let loads = |text: &str| (count(text, "ld.global.b"), count(text, "ld.global.nc"), count(text, "ld.global"));
    for entry in entries {
        let (before, after) = entry.split_once("griddepcontrol.wait;").expect("a wait");
        assert!(before.contains("griddepcontrol.launch_dependents;"), "{entry}");
        // The number of weights is known before the wait only if it is passed by value.
        let is_bytes = entry.starts_with("metalworks_kernel_bytes");
        let early = usize::from(is_bytes);
        assert_eq!(loads(before), (early, 0, early), "{entry}");
        assert_eq!(loads(after).2, 3 - 2 * early, "{entry}");
        assert_eq!(count(before, "st.global"), 0, "{entry}");
    }
    let written = compile_with(
        "kernel void k(device uchar *w, device const char *x, uint i [[thread_position_in_grid]]) { w[i] += x[i]; }",
        Whole,
        MathMode::Fast,
    );
    assert!(written.early.is_empty(), "it writes one, and the other has numbers");
}

#[test]
fn every_architecture_has_code() {
    let source =
        format!("#include <metal_stdlib>\n#include <metal_simdgroup_matrix>\nusing namespace metal;\n{GEMM}");
    let compilation = msl::compile_source("test.metal", &source.replace('T', "half"), &msl::Options::default());
    let entry = compilation.program.kernels().next().expect("the kernel");
    let specialized =
        metalworks_air::specialize_kernel(&compilation, entry, MathMode::Fast, &abi::Constants::new());
    let specialized = specialized.expect("it has no constants");
    for name in ["sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100a", "sm_103", "sm_120", "sm_121a"] {
        let architecture = metalworks_air::simt::Architecture::named(name).expect(name);
        let text = metalworks_air::simt::ptx_text(&specialized, &architecture, Whole)
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(text.contains(&format!(".target {name}\n")), "{text}");
        let number: u32 = name[3..].trim_end_matches('a').parse().expect("a number");
        assert_eq!(text.contains("mma.sync"), number >= 80, "{name}: {text}");
        assert_eq!(text.contains("griddepcontrol"), number >= 90, "{name}: {text}");
    }
}
