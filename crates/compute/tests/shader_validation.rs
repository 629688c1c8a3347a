//! Shader validation: mistakes are found at their line and thread, nothing outside of an object is touched, and correct
//! kernels give no finding.
#![cfg(llvm)]

use metalworks_compute::{
    BinaryArchive, Buffer, CompileOptions, ComputePipelineDescriptor, ComputePipelineState, CpuOptions, Device,
    DispatchType, Error, Finding, FindingKind, FunctionConstantValues, LinkedFunctions, MemorySpace,
    PipelineOrigin, ShaderChecks, ShaderValidation, Size,
};

const ELEMENTS: usize = 64;

/// A kernel on a device of its own. Its text has the parameters `y` and `x`, of 64 floats each, and `n`, which is 64.
struct Kernel {
    device: Device,
    pipeline: ComputePipelineState,
    source: String,
    x: Buffer,
    y: Buffer,
}

/// The first line of the body.
const BODY_LINE: usize = 12;

fn validation(races: bool) -> ShaderValidation {
    let checks = ShaderChecks { races, ..ShaderChecks::default() };
    ShaderValidation { checks, step_budget: 100_000, ..ShaderValidation::default() }
}

impl Kernel {
    fn new(before: &str, body: &str, validation: impl Into<Option<ShaderValidation>>) -> Kernel {
        let device = Device::cpu_with_options(&CpuOptions { threads: Some(1) }).expect("a CPU");
        device.set_shader_validation(validation.into()).expect("the CPU validates");
        let source = format!(
            "#include <metal_stdlib>
using namespace metal;
{before}
kernel void k(device float* y [[buffer(0)]],
              device const float* x [[buffer(1)]],
              constant uint& n [[buffer(2)]],
              uint gid [[thread_position_in_grid]],
              uint tid [[thread_index_in_threadgroup]],
              uint group [[threadgroup_position_in_grid]],
              uint lane [[thread_index_in_simdgroup]],
              uint simdgroup [[simdgroup_index_in_threadgroup]]) {{
{body}
}}"
        );
        let options = CompileOptions { name: "k.metal".into(), ..CompileOptions::default() };
        let library =
            device.new_library_with_source(&source, &options).unwrap_or_else(|error| panic!("{error}\n{source}"));
        let function = library.new_function("k", &FunctionConstantValues::new()).expect("it is there");
        let pipeline = device.new_compute_pipeline_state(&function).unwrap_or_else(|error| panic!("{error}"));
        let buffer = || device.new_buffer(4 * ELEMENTS).expect("memory");
        let (x, y) = (buffer(), buffer());
        let numbers: Vec<u8> = (0..ELEMENTS).flat_map(|i| (i as f32).to_le_bytes()).collect();
        x.write(0, &numbers).expect("it fits");
        Kernel { device, pipeline, source, x, y }
    }

    /// Runs a grid of threadgroups.
    fn run(&self, threadgroups: usize, threads: usize) -> (Result<(), Error>, Vec<Finding>) {
        let commands = self.device.new_command_queue().new_command_buffer();
        let mut encoder = commands.compute_command_encoder().expect("an encoder");
        encoder.set_compute_pipeline_state(&self.pipeline).expect("a pipeline state");
        encoder.set_buffer(0, &self.y, 0).expect("a buffer");
        encoder.set_buffer(1, &self.x, 0).expect("a buffer");
        encoder.set_bytes(2, &(ELEMENTS as u32).to_le_bytes()).expect("bytes");
        encoder.dispatch_threadgroups(Size::linear(threadgroups), Size::linear(threads)).expect("a grid");
        encoder.end_encoding().expect("an end");
        commands.commit().expect("it is complete");
        let result = commands.wait_until_completed();
        (result, self.device.take_findings())
    }

    fn results(&self) -> Vec<f32> {
        self.y.read()
    }

    /// The lines of the source that end with `// id`, with the ids.
    fn expected(&self) -> Vec<(u32, String)> {
        let lines = self.source.lines().zip(1..);
        lines.filter_map(|(line, number)| Some((number, line.rsplit_once("// ")?.1.trim().to_owned()))).collect()
    }
}

fn places(findings: &[Finding]) -> Vec<(u32, String)> {
    let place = |finding: &Finding| {
        (finding.place.locations.first().map_or(0, |location| location.line), finding.kind.id().to_owned())
    };
    let mut places: Vec<_> = findings.iter().map(place).collect();
    places.sort();
    places.dedup();
    places
}

/// Runs a kernel with two threadgroups of 64 threads, and compares the findings with the comments in its text. Kernels
/// without comments have none.
#[track_caller]
fn check_all(before: &str, body: &str, races: bool) -> Vec<Finding> {
    let kernel = Kernel::new(before, body, validation(races));
    let (_, findings) = kernel.run(2, 64);
    let listed: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(places(&findings), kernel.expected(), "{}\n{}", kernel.source, listed.join("\n"));
    findings
}

#[track_caller]
fn check(body: &str) -> Vec<Finding> {
    check_all("", body, false)
}

/// As `check`, with accesses that are compared in place, and by the runtime.
#[track_caller]
fn check_both(body: &str) -> Vec<Finding> {
    check_all("", body, true);
    check_all("", body, false)
}

#[track_caller]
fn check_races(body: &str) -> Vec<Finding> {
    check_all("", body, true)
}

#[test]
fn buffers_are_bounded() {
    let findings = check_both("y[gid] = 1.0f; // out-of-bounds-write");
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    let object = finding.object.as_ref().expect("an object");
    assert_eq!((object.name.as_str(), object.index, object.size, object.offset), ("y", Some(0), 256, 256));
    assert_eq!((object.space, object.bytes), (MemorySpace::Device, 4));
    assert_eq!((finding.thread.threadgroup, finding.thread.thread), ([1, 0, 0], [0, 0, 0]));
    assert_eq!(finding.count, 64);
    assert!(finding.suggestion.as_ref().is_some_and(|text| text.contains("128 threads")), "{finding:?}");
    let location = &finding.place.locations[0];
    assert_eq!(
        (location.file.as_str(), location.line, location.function.as_str()),
        ("k.metal", BODY_LINE as u32, "k")
    );

    check("if (gid < n) y[gid] = x[gid];");
    check_both("if (gid < n) y[gid] = x[gid + 1]; // out-of-bounds-read");
    check("if (gid < n) y[gid] = x[int(gid) - 1]; // out-of-bounds-read");
    check_both("if (gid < n) y[gid] = x[(gid * 7) % 65]; // out-of-bounds-read");
    check("if (gid < 16) ((device float4*)y)[gid] = 1.0f;");
    check("if (gid < 17) ((device float4*)y)[gid] = 1.0f; // out-of-bounds-write");
    check_both("if (gid == 0) y[0] = x[n]; // out-of-bounds-read");
}

#[test]
fn accesses_outside_are_not_made() {
    let kernel = Kernel::new("", "y[gid - 2] = x[gid + 1] + 1.0f;", validation(false));
    let (result, findings) = kernel.run(1, 64);
    result.expect("it goes on");
    assert_eq!(findings.len(), 2, "{findings:?}");
    let expected: Vec<f32> = (0..64)
        .map(|i| {
            if i < 61 {
                (i + 3) as f32 + 1.0
            } else if i == 61 {
                1.0
            } else {
                0.0
            }
        })
        .collect();
    assert_eq!(kernel.results(), expected);
}

#[test]
fn pointers_keep_their_object() {
    check("device float* p = y + 60; if (gid < n) { p[tid & 3] = 1.0f; }");
    check("device float* p = y + 62; if (gid < n) {\n p[tid & 3] = 1.0f; // out-of-bounds-write\n}");
    check(
        "device const float* p = x;
         float sum = 0;
         for (uint i = 0; i <= n; i++) {
             sum += *p; // out-of-bounds-read
             p++;
         }
         if (gid < n) y[gid] = sum;",
    );
    // One of several.
    let chosen =
        |condition: &str| format!("device const float* p = {condition} ? x : y; if (gid < 8) y[32 + gid] = p[gid]");
    check(&format!("{};", chosen("lane < 4")));
    check(&format!("{}; // out-of-bounds-read", chosen("lane < 4").replace("p[gid]", "p[gid + 57]")));
    // Behind an array of pointers, which is private memory.
    let tiles = |barrier: &str| {
        format!(
            "threadgroup float a[64], b[64]; threadgroup float* tiles[2] = {{a, b}};
             for (uint i = 0; i < 3; i++) {{
                 tiles[i & 1][tid] = i; {barrier}
                 y[tid] = tiles[i & 1][63 - tid];
                 threadgroup_barrier(mem_flags::mem_threadgroup);
             }}"
        )
    };
    let run = |body: &str| {
        let findings = Kernel::new("", body, validation(true)).run(1, 64).1;
        findings.iter().map(|finding| finding.kind).collect::<Vec<FindingKind>>()
    };
    assert_eq!(run(&tiles("threadgroup_barrier(mem_flags::mem_threadgroup);")), []);
    assert_eq!(run(&tiles("")), [FindingKind::Race]);
    let buffers = "device float* all[2] = {(device float*)x, y}; if (gid < n) all[1 - (gid & 1)][gid + 1] = 0;";
    assert_eq!(run(buffers), [FindingKind::OutOfBoundsWrite]);
}

#[test]
fn threadgroup_memory_is_bounded() {
    let findings = check(
        "threadgroup float tile[64];
         tile[tid + 1] = 1.0f; // out-of-bounds-write
         threadgroup_barrier(mem_flags::mem_threadgroup);
         if (gid < n) y[gid] = tile[63];",
    );
    let object = findings[0].object.as_ref().expect("an object");
    assert_eq!((object.space, object.name.as_str(), object.size), (MemorySpace::Threadgroup, "tile", 256));
    check(
        "threadgroup float tile[64];
         tile[tid] = 1.0f;
         threadgroup_barrier(mem_flags::mem_threadgroup);
         if (gid < n) y[gid] = tile[63 - tid];",
    );
}

#[test]
fn private_arrays_and_vectors_are_bounded() {
    let findings = check(
        "float a[4] = {1, 2, 3, 4};
         if (gid < n) y[gid] = a[gid % 5]; // out-of-bounds-read",
    );
    assert_eq!(
        findings[0].object.as_ref().map(|object| (object.space, object.size)),
        Some((MemorySpace::Thread, 16))
    );
    check("float a[4] = {1, 2, 3, 4}; if (gid < n) y[gid] = a[gid % 4];");
    check("float a[8]; for (uint i = 0; i < 8; i++) a[i] = i; if (gid < n) y[gid] = a[gid & 7];");
    check("float4 a = float4(x[0]); if (gid < n) y[gid] = a[gid % 5]; // out-of-bounds-read");
    check("float3 a = float3(x[0]); if (gid < n) y[gid] = a[gid % 4]; // out-of-bounds-read");
    check("float3 a = float3(x[0]); if (gid < n) y[gid] = a[gid % 3];");
}

#[test]
fn constants_of_the_program_are_bounded() {
    let table = "constant float table[4] = {1, 2, 3, 4};";
    check_all(table, "if (gid < n) y[gid] = table[gid % 5]; // out-of-bounds-read", false);
    check_all(table, "if (gid < n) y[gid] = table[gid % 5]; // out-of-bounds-read", true);
    check_all(table, "if (gid < n) y[gid] = table[gid % 4];", true);
}

#[test]
fn inlined_functions_name_their_callers() {
    let before = "float get(device const float* p, uint i) { return p[i]; } // out-of-bounds-read";
    let findings = check_all(before, "if (gid < n)\n y[gid] = get(x, gid + 1);", false);
    let lines: Vec<(u32, &str)> =
        findings[0].place.locations.iter().map(|place| (place.line, place.function.as_str())).collect();
    assert_eq!(lines, [(3, "get"), (13, "k")]);
}

#[test]
fn misaligned_accesses_are_found() {
    check(
        "if (gid < 4) { device uchar* p = (device uchar*)y;\n *(device float*)(p + gid) = 1.0f; // misaligned-write\n}",
    );
    // A packed vector needs the alignment of its elements alone.
    check("if (gid < 4) *(device float4*)(y + gid) = 1.0f; // misaligned-write");
    check("if (gid < 4) *(device packed_float4*)(y + gid) = packed_float4(1.0f);");
}

#[test]
fn misaligned_accesses_are_made() {
    let bodies = [
        // Lanes of consecutive addresses, of one address, and of others; the last one writes.
        "if (gid < 60) y[gid] = *(device const float*)((device const char*)x + 4 * gid + 2);",
        "if (gid < 60) y[gid] = *(device const float*)((device const char*)x + 2);",
        "if (gid < 60) { float4 v = *(device const float4*)(x + gid * 7 % 60); y[gid] = v.x - v.w; }",
        "if (gid < 60) *(device float*)((device char*)y + 4 * (59 - gid) + 1) = x[gid];",
    ];
    for body in bodies {
        let expected = Kernel::new("", body, None);
        expected.run(1, 64).0.expect("it runs");
        for races in [false, true] {
            let kernel = Kernel::new("", body, validation(races));
            let (result, findings) = kernel.run(1, 64);
            result.expect("it runs");
            let kinds: Vec<&str> = findings.iter().map(|finding| finding.kind.id()).collect();
            assert!(matches!(kinds[..], ["misaligned-read" | "misaligned-write"]), "{body}: {kinds:?}");
            let bits = |kernel: &Kernel| kernel.results().into_iter().map(f32::to_bits).collect::<Vec<_>>();
            assert_eq!(bits(&kernel), bits(&expected), "{body}");
        }
    }
}

#[test]
fn results_are_those_of_the_plain_run() {
    // Products and sums that are fused, though a check is between them.
    let fused = [
        "float p = 0.1f * x[gid]; y[gid] = p + x[63 - gid];",
        "float p = 0.1f * x[gid]; y[gid] = p - x[63 - gid];",
        "float p = 0.1f * x[gid]; y[gid] = x[63 - gid] - p;",
    ];
    // So much that it is compiled quickly.
    let long: String = (0..420).map(|i| format!("v = v * 0.9f + x[{}];\n", i % 64)).collect();
    let long = format!("float v = 0;\n{long}y[gid] = v;");
    for body in fused.into_iter().chain([&*long]) {
        let expected = Kernel::new("", body, None);
        expected.run(1, 64).0.expect("it runs");
        for races in if body == long { &[true][..] } else { &[false, true] } {
            let kernel = Kernel::new("", body, validation(*races));
            let (result, findings) = kernel.run(1, 64);
            result.expect("it runs");
            assert_eq!(findings, [], "{body}");
            let bits = |kernel: &Kernel| kernel.results().into_iter().map(f32::to_bits).collect::<Vec<_>>();
            assert_eq!(bits(&kernel), bits(&expected), "{body}");
        }
    }
    let (_, findings) = Kernel::new("", &long, validation(false)).run(2, 64);
    assert_eq!(places(&findings), [((BODY_LINE + 421) as u32, "out-of-bounds-write".to_owned())]);
}

#[test]
fn atomics_and_copies_are_bounded() {
    check_both(
        "atomic_fetch_add_explicit((device atomic_uint*)y + gid, 1u, memory_order_relaxed); // out-of-bounds-write",
    );
    check("if (gid < n) atomic_fetch_add_explicit((device atomic_uint*)y + gid, 1u, memory_order_relaxed);");
    let pair = "struct Block { float a[12]; };";
    let copy = "if (gid < 6) { Block block = ((device const Block*)x)[gid]; // out-of-bounds-read
        y[gid] = block.a[gid] + block.a[gid + 1]; }";
    check_all(pair, copy, false);
    check_all(pair, &copy.replace("gid < 6", "gid < 5").replace("// out-of-bounds-read", ""), true);
}

#[test]
fn matrices_are_bounded() {
    let body = |row: &str| {
        format!(
            "simdgroup_float8x8 m;
             if (simdgroup == 0 && group == 0) {{
                 simdgroup_load(m, x{row}, 8); // out-of-bounds-read
                 simdgroup_store(m, y, 8);
             }}"
        )
    };
    check_all("#include <metal_simdgroup_matrix>", &body(" + 8"), false);
    check_all("#include <metal_simdgroup_matrix>", &body(" + 8"), true);
    check_all("#include <metal_simdgroup_matrix>", &body("").replace("// out-of-bounds-read", ""), true);
}

#[test]
fn barriers_are_reached_by_all() {
    check_both("if (tid < 40) {\n threadgroup_barrier(mem_flags::mem_threadgroup); // divergent-barrier\n}");
    check("if (tid >= 32) return;\n threadgroup_barrier(mem_flags::mem_threadgroup); // divergent-barrier");
    check("for (uint i = 0; i < 3; i++) threadgroup_barrier(mem_flags::mem_threadgroup); if (tid >= 32) return;");
    check("if (lane < 16) {\n simdgroup_barrier(mem_flags::mem_threadgroup); // divergent-barrier\n}");
}

#[test]
fn functions_between_lanes_need_their_lanes() {
    check(
        "if (gid < n) { float v = x[gid];\n if (lane < 16) {\n v = simd_shuffle(v, 20); // inactive-lane\n}\n y[gid] = v; }",
    );
    check("if (lane < 16 && gid < n) {\n y[gid] = simd_shuffle_xor(x[gid], 16); // inactive-lane\n}");
    check("if (lane < 16 && gid < n) {\n y[gid] = simd_shuffle_xor(x[gid], 8) + simd_sum(x[gid]);\n}");
    check("if (gid < n) y[gid] = simd_shuffle_down(x[gid], 1) + simd_broadcast(x[gid], 3);");
    check("if (lane % 4 != 3 && gid < n) {\n y[gid] = quad_shuffle_xor(x[gid], 1); // inactive-lane\n}");
    check("if (lane % 4 != 0 && gid < n) {\n y[gid] = quad_broadcast(x[gid], 0); // inactive-lane\n}");
    check("if (lane >= 28 && gid < n) {\n y[gid] = quad_shuffle_down(x[gid], 1) + quad_broadcast(x[gid], 2);\n}");
}

#[test]
fn arithmetic_without_a_result_is_found() {
    check("if (gid < n) y[gid] = n / (gid & 3); // division-by-zero");
    check("if (gid < n) y[gid] = int(n) % int(gid & 3); // division-by-zero");
    check("if (gid < n) y[gid] = (int(gid) - 5 - 0x7ffffffb) / -(int)(n / 64); // division-overflow");
    check("if (gid < n) y[gid] = n / (gid + 1);");
    check("if (gid < n) y[gid] = 1u << gid; // shift-out-of-range");
    check("if (gid < n) y[gid] = 1u << (gid & 31);");
    // A shift that a condition keeps from being made.
    check("if (gid < n) { int by = 16 - int(gid); y[gid] = by >= 0 ? n << by : n >> min(-by, 31); }");
    check("if (gid < n) y[gid] = int(x[gid] * 1e9f); // conversion-out-of-range");
    check("if (gid < n) y[gid] = uchar(x[gid] - 0.5f) + int(x[gid]) + uint(x[gid] * 6e7f);");
    check("if (gid < n) y[gid] = exp(x[gid]) + sin(x[gid]) + pow(x[gid], 0.3f) + float(half(x[gid]));");
}

#[test]
fn variables_must_be_written_first() {
    check("float v; if (gid < 10) v = 1; if (gid < n) y[gid] = v; // uninitialized-read");
    check("float v; if (gid < 10) v = 1; if (gid < 10) y[gid] = v;");
    check(
        "float a[8]; for (uint i = 0; i < gid % 8; i++) a[i] = i; if (gid < n)\n y[gid] = a[3]; // uninitialized-read",
    );
    check("float a[8]; for (uint i = 0; i < 8; i++) a[i] = i; if (gid < n) y[gid] = a[3] + a[gid & 7];");
    check("float4 v; v.x = 1; v.y = 2; if (gid < n) y[gid] = v.x + v.y;");
    // The address goes to functions.
    let state = |constructor: &str| {
        format!(
            "struct State {{ float most; float sum; State() : {constructor} {{}}
             void add(float v) {{ most = max(most, v); sum += v; }} // uninitialized-read
             }};"
        )
    };
    let body = "if (gid < n) { State s; for (uint i = 0; i < 4; i++) s.add(x[i]); y[gid] = s.sum + s.most; }";
    check_all(&state("most(0)"), body, true);
    check_all(&state("most(0), sum(0)").replace("// uninitialized-read", ""), body, true);
    let fill = "void fill(thread float* p, uint count) { for (uint i = 0; i < count; i++) p[i] = i; }";
    check_all(fill, "float a[8]; fill(a, 6); if (gid < n)\n y[gid] = a[gid & 7]; // uninitialized-read", true);
    check_all(fill, "float a[8]; fill(a, 8); if (gid < n)\n y[gid] = a[gid & 7];", true);
    // The second call does not set it.
    let scale = "float scale(bool first) { float v; if (first) v = 2;\n return v; } // uninitialized-read";
    check_all(
        scale,
        "float s = 0; for (uint i = 0; i < 2; i++) s += scale(i == 0); if (gid < n) y[gid] = s;",
        true,
    );
}

#[test]
fn the_first_nan_is_found() {
    let find = |body: &str| {
        let mut validation = validation(false);
        validation.checks.nan = true;
        let kernel = Kernel::new("", body, validation);
        let (_, findings) = kernel.run(2, 64);
        assert_eq!(places(&findings), kernel.expected(), "{body}: {findings:?}");
    };
    find("if (gid < n) y[gid] = sqrt(x[gid] - 1.0f) + 1.0f; // nan");
    find("if (gid < n) {\n float v = 1.0f / x[gid]; // infinity\n y[gid] = v - v; // nan\n}");
    find("if (gid < n) y[gid] = max(-INFINITY, x[gid]) + exp(-INFINITY) + sqrt(x[gid]);");
}

#[test]
fn endless_loops_end() {
    let kernel = Kernel::new("", "while (x[0] == 0.0f) {\n y[0] += 1.0f;\n}", validation(false));
    let (result, findings) = kernel.run(1, 32);
    assert!(matches!(result, Err(Error::Validation(_))), "{result:?}");
    assert!(findings.iter().any(|finding| finding.kind == FindingKind::EndlessLoop), "{findings:?}");
    check("float v = 0; for (uint i = 0; i < 900; i++) v += x[i % n]; if (gid < n) y[gid] = v;");
}

#[test]
fn the_first_finding_can_end_the_command_buffer() {
    let validation = ShaderValidation { stops_at_first: true, ..validation(false) };
    let kernel = Kernel::new("", "y[gid] = x[gid];", validation);
    let (result, findings) = kernel.run(4, 64);
    let Err(Error::Validation(finding)) = &result else { panic!("{result:?}") };
    assert_eq!(finding.thread.threadgroup, [1, 0, 0]);
    assert!(!findings.is_empty());
    assert!(result.unwrap_err().to_string().starts_with("k.metal:12:"));
}

#[test]
fn races_in_a_threadgroup_are_found() {
    let findings = check_races(
        "threadgroup float tile[64];
         tile[tid] = x[tid];
         float v = tile[63 - tid]; // race
         if (gid < n) y[gid] = v;",
    );
    let (other, thread) = findings[0].other.as_ref().expect("the other access");
    assert_eq!(other.locations[0].line, BODY_LINE as u32 + 1);
    assert_ne!(*thread, findings[0].thread);
    check_races(
        "threadgroup float tile[64];
         tile[tid] = x[tid];
         threadgroup_barrier(mem_flags::mem_threadgroup);
         float v = tile[63 - tid];
         if (gid < n) y[gid] = v;",
    );
    check_races(
        "threadgroup float tile[64];
         for (uint i = 0; i < 2; i++) {
             tile[tid] = x[tid] + i; // race
             threadgroup_barrier(mem_flags::mem_threadgroup);
             if (gid < n) y[gid] = tile[63 - tid];
         }",
    );
    check_races(
        "threadgroup float sum[1];\n sum[0] = x[tid]; // race\n threadgroup_barrier(mem_flags::mem_threadgroup); if (gid < n) y[gid] = sum[0];",
    );
    check_races(
        "threadgroup float sum[1];\n sum[0] = x[3]; threadgroup_barrier(mem_flags::mem_threadgroup); if (gid < n) y[gid] = sum[0];",
    );
}

#[test]
fn simdgroup_barriers_order_lanes() {
    let body = |barrier: &str, race: &str| {
        format!(
            "threadgroup float tile[64];
             tile[tid] = x[tid];
             {barrier}
             float v = tile[simdgroup * 32 + 31 - lane]; {race}
             if (gid < n) y[gid] = v;"
        )
    };
    check_races(&body("", "// race"));
    check_races(&body("simdgroup_barrier(mem_flags::mem_threadgroup);", ""));
    check_races(&body("simdgroup_barrier(mem_flags::mem_none);", "// race"));
}

#[test]
fn races_between_threadgroups_are_found() {
    check_races("if (tid == 0) y[0] = x[group]; // race-between-threadgroups");
    check_races("if (tid == 0) y[group] = x[group];");
    check_races("if (tid == 0) atomic_fetch_add_explicit((device atomic_uint*)y, 1u, memory_order_relaxed);");
}

#[test]
fn threadgroup_memory_must_be_written_first() {
    check_races(
        "threadgroup float tile[64];
         if (tid < 60) tile[tid] = x[tid];
         threadgroup_barrier(mem_flags::mem_threadgroup);
         float v = tile[63 - tid]; // uninitialized-read
         if (gid < n) y[gid] = v;",
    );
}

#[test]
fn checked_code_has_keys_of_its_own() {
    let archive = BinaryArchive::new();
    let device = Device::cpu_with_options(&CpuOptions { threads: Some(1) }).expect("a CPU");
    let source = "kernel void k(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) { y[i] = 1; }";
    let origin = |validation: Option<ShaderValidation>| {
        device.set_shader_validation(validation).expect("the CPU validates");
        let library = device.new_library_with_source(source, &CompileOptions::default()).expect("it is right");
        let function = library.new_function("k", &FunctionConstantValues::new()).expect("it is there");
        let descriptor = ComputePipelineDescriptor { binary_archives: vec![archive.clone()], ..Default::default() };
        device.new_compute_pipeline_state_with_descriptor(&function, &descriptor).expect("it compiles").origin()
    };
    let origins: Vec<PipelineOrigin> = [None, Some(validation(false)), Some(validation(true))]
        .into_iter()
        .flat_map(|validation| [origin(validation.clone()), origin(validation)])
        .collect();
    let (compiled, archived) = (PipelineOrigin::Compiled, PipelineOrigin::Archive);
    assert_eq!(origins, [compiled, archived, compiled, archived, compiled, archived]);
}

#[test]
fn reads_of_uninitialized_buffers_are_found_by_element() {
    let kernel = Kernel::new(
        "",
        "if (group == 0) { y[2 * tid] = 1.0f; }
         else if (x[0] > 1.0f) { y[tid] += 1.0f; }",
        validation(true),
    );
    let Kernel { device, x, y, .. } = &kernel;
    // Writes the even elements of the first half.
    device.declare_uninitialized(y).expect("validation is on");
    let (result, findings) = kernel.run(1, 16);
    assert_eq!((result.is_ok(), places(&findings)), (true, vec![]));
    // The first dispatch has written half of the elements that the second threadgroup reads now.
    x.write(0, &2.0f32.to_le_bytes()).expect("it fits");
    let (_, findings) = kernel.run(2, 16);
    let found: Vec<&Finding> =
        findings.iter().filter(|finding| finding.kind == FindingKind::UninitializedRead).collect();
    let [finding] = found[..] else { panic!("{findings:?}") };
    assert_eq!((finding.count, finding.thread.thread, finding.thread.threadgroup), (8, [1, 0, 0], [1, 0, 0]));
    assert!(
        finding.detail.ends_with("4 bytes at offset 4 of 'y' (buffer(0), 256 bytes), which nothing has written")
    );
    // Fills and copies write, too.
    let commands = device.new_command_queue().new_command_buffer();
    device.declare_uninitialized(y).expect("validation is on");
    commands.fill_buffer(y, 0..128, 0).expect("a fill");
    commands.copy_buffer(x, 0..128, y, 128).expect("a copy");
    commands.commit().expect("it is complete");
    commands.wait_until_completed().expect("it is done");
    let (_, findings) = kernel.run(2, 16);
    assert!(findings.iter().all(|finding| finding.kind != FindingKind::UninitializedRead), "{findings:?}");
    device.set_shader_validation(None).expect("it is turned off");
    assert!(device.declare_uninitialized(y).is_err());
}

#[test]
fn a_write_to_a_const_argument_is_dropped() {
    for races in [false, true] {
        let kernel = Kernel::new("", "((device float*)x)[gid % n] = 7.0f;", validation(races));
        let (result, findings) = kernel.run(1, 64);
        let [finding] = &findings[..] else { panic!("{findings:?}") };
        assert_eq!((result.is_ok(), finding.kind, finding.count), (true, FindingKind::ReadOnlyWrite, 64));
        assert_eq!(finding.object.as_ref().map(|object| object.name.as_str()), Some("x"));
        assert_eq!(kernel.x.read::<f32>()[5], 5.0);
    }
}

#[test]
fn dispatches_of_a_concurrent_encoder_need_barriers() {
    let device = Device::cpu_with_options(&CpuOptions { threads: Some(1) }).expect("a CPU");
    device.set_shader_validation(Some(validation(true))).expect("the CPU validates");
    let source = "#include <metal_stdlib>
kernel void produce(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    y[i] = float(i);
}
kernel void consume(device float* y [[buffer(0)]], device float* z [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    z[i] = y[63 - i];
}";
    let options = CompileOptions { name: "k.metal".into(), ..CompileOptions::default() };
    let library = device.new_library_with_source(source, &options).expect("it is right");
    let pipeline = |name: &str| {
        let function = library.new_function(name, &FunctionConstantValues::new()).expect("it is there");
        device.new_compute_pipeline_state(&function).expect("it compiles")
    };
    let (produce, consume) = (pipeline("produce"), pipeline("consume"));
    let [y, z] = [0; 2].map(|_| device.new_buffer(4 * ELEMENTS).expect("memory"));
    let run = |needs_barriers: bool, has_barrier: bool, second: &ComputePipelineState| {
        let commands = device.new_command_queue().new_command_buffer();
        let mut encoder =
            commands.compute_command_encoder_with_dispatch_type(DispatchType::Concurrent).expect("an encoder");
        if needs_barriers {
            encoder.require_barriers();
        }
        encoder.set_buffer(0, &y, 0).expect("a buffer");
        encoder.set_compute_pipeline_state(&produce).expect("a pipeline state");
        encoder.dispatch_threadgroups(Size::linear(1), Size::linear(64)).expect("a grid");
        if has_barrier {
            encoder.memory_barrier().expect("a barrier");
        }
        encoder.set_compute_pipeline_state(second).expect("a pipeline state");
        if std::ptr::eq(second, &consume) {
            encoder.set_buffer(1, &z, 0).expect("a buffer");
        }
        encoder.dispatch_threadgroups(Size::linear(1), Size::linear(64)).expect("a grid");
        encoder.end_encoding().expect("an end");
        commands.commit().expect("it is complete");
        commands.wait_until_completed().expect("it is done");
        device.take_findings()
    };
    let findings = run(true, false, &consume);
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    let (place, thread) = finding.other.as_ref().expect("the other access");
    assert_eq!((finding.kind, finding.kernel.as_str()), (FindingKind::RaceBetweenDispatches, "consume"));
    assert_eq!(finding.other_kernel.as_deref(), Some("produce"));
    assert_eq!((finding.place.locations[0].line, place.locations[0].line), (6, 3));
    assert_eq!((finding.thread.thread, thread.thread), ([0, 0, 0], [63, 0, 0]));
    assert_eq!(z.read::<f32>()[0], 63.0, "they are executed in order");
    assert_eq!(run(true, true, &consume), []);
    assert_eq!(run(false, false, &consume), [], "hazards are tracked");
    // The same kernel writes the same values: their order does not matter.
    assert_eq!(run(true, false, &produce), []);
}

#[test]
fn functions_of_tables_have_lines() {
    let device = Device::cpu_with_options(&CpuOptions { threads: Some(1) }).expect("a CPU");
    device.set_shader_validation(Some(validation(true))).expect("the CPU validates");
    let source = "#include <metal_stdlib>
using namespace metal;
[[visible]] float near(device const float* x, uint i) { return x[i]; }
[[visible]] float far(device const float* x, uint i) {
    return x[i + 8];
}
kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
              visible_function_table<float(device const float*, uint)> t [[buffer(2)]],
              uint i [[thread_position_in_grid]]) {
    y[i] = t[i & 1](x, i);
}";
    let options = CompileOptions { name: "t.metal".into(), ..CompileOptions::default() };
    let library = device.new_library_with_source(source, &options).expect("it has no mistakes");
    let none = FunctionConstantValues::new();
    let names = ["near", "far"];
    let functions = names.map(|name| library.new_visible_function(name, &none).expect("it is there")).to_vec();
    let descriptor = ComputePipelineDescriptor {
        linked_functions: LinkedFunctions { functions },
        ..ComputePipelineDescriptor::default()
    };
    let kernel = library.new_function("k", &none).expect("it is there");
    let pipeline = device.new_compute_pipeline_state_with_descriptor(&kernel, &descriptor).expect("a pipeline");
    let table = pipeline.new_visible_function_table(2).expect("a table");
    for (index, name) in names.iter().enumerate() {
        let handle = pipeline.function_handle(name).expect("it is linked");
        table.set_function(index, Some(&handle)).expect("it fits");
    }
    for (elements, expected) in [(32, &[(5, "out-of-bounds-read".to_owned())][..]), (40, &[])] {
        let buffer = |elements: usize| device.new_buffer(4 * elements).expect("memory");
        let commands = device.new_command_queue().new_command_buffer();
        let mut encoder = commands.compute_command_encoder().expect("an encoder");
        encoder.set_compute_pipeline_state(&pipeline).expect("a pipeline state");
        encoder.set_buffer(0, &buffer(elements), 0).expect("a buffer");
        encoder.set_buffer(1, &buffer(32), 0).expect("a buffer");
        encoder.set_visible_function_table(2, &table).expect("a table");
        encoder.dispatch_threads(Size::linear(32), Size::linear(32)).expect("a grid");
        encoder.end_encoding().expect("an end");
        commands.commit().expect("it is complete");
        commands.wait_until_completed().expect("it runs");
        let findings = device.take_findings();
        assert_eq!(places(&findings), expected);
        for finding in findings {
            assert!(finding.to_string().contains("of 'x' (buffer(0), 128 bytes)"), "{finding}");
        }
    }
}

#[test]
fn variables_over_the_limit_of_gpus_are_found() {
    let body = |elements: u32| {
        format!(
            "float a[{elements}];
             for (uint i = 0; i < n; ++i) {{ a[(i * 7919u) % {elements}u] = x[i]; }}
             if (gid < n) {{ y[gid] = a[(gid * 7919u) % {elements}u]; }}"
        )
    };
    let findings = |elements| Kernel::new("", &body(elements), validation(false)).run(1, 64).1;
    assert_eq!(findings(100_000), []);
    let findings = findings(200_000);
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!((finding.kind, finding.kernel.as_str()), (FindingKind::PrivateMemoryLimit, "k"));
    let text = finding.to_string();
    // The compiler adds a few of its own.
    assert!(text.starts_with("error: private memory over the limit: 8000"), "{text}");
    assert!(text.ends_with(
        " bytes of variables in each thread, of which GPUs have 524288 (kernel 'k') [private-memory-limit]"
    ));
}
