//! Properties of generated code, seen in the IR. The tests of the crate `compute` run the code.

use super::{Error, Target, asm_text, compile, llvm_text};
use crate::lower::MathMode;
use crate::specialize::{Specialized, specialize, specialize_kernel};
use abi::{ConstantValue, Constants, Lanes};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;

fn compilation(source: &str) -> msl::Compilation {
    let compilation = msl::compile_source("test.metal", source, &msl::Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    compilation
}

fn kernel(source: &str, name: &str, constants: &Constants) -> Specialized {
    let compilation = compilation(source);
    let entry = compilation.program.kernels().find(|entry| entry.name == name).expect("the kernel");
    specialize_kernel(&compilation.program, entry, MathMode::Fast, constants).expect("specialized")
}

fn kernel_by_bitcode(source: &str, name: &str, constants: &Constants) -> Specialized {
    let compilation = compilation(source);
    let entry = compilation.program.kernels().find(|entry| entry.name == name).expect("the kernel");
    let context = Context::create();
    let module = crate::lower(&context, &compilation.program, entry, MathMode::Fast).expect("AIR");
    specialize(module.write_bitcode_to_memory().as_slice(), name, constants).expect("specialized")
}

fn ir(source: &str, name: &str, constants: &Constants, lanes: Lanes) -> String {
    llvm_text(&kernel(source, name, constants), &Target::host().expect("a host"), lanes).expect("wide code")
}

const GEMV: &str = include_str!("../../../../examples/gemv.metal");
const ADD: &str = include_str!("../../../../examples/add_arrays.metal");

fn gemv_constants(k: u32, bias: bool) -> Constants {
    let mut constants = Constants::new();
    constants.set(0, ConstantValue::Uint(k)).set(1, ConstantValue::Bool(bias));
    constants
}

/// The loads of buffer `index`'s address: nothing else reads that place of the dispatch.
fn reads_buffer(text: &str, index: usize) -> bool {
    text.contains(&format!("ptr %0, i64 {}\n", index * 8))
}

#[test]
fn without_a_bias_nothing_loads_it() {
    let with = ir(GEMV, "gemv", &gemv_constants(128, true), Lanes::Row);
    let without = ir(GEMV, "gemv", &gemv_constants(128, false), Lanes::Row);
    assert!(reads_buffer(&with, 2) && reads_buffer(&without, 2), "{with}{without}");
    assert!(reads_buffer(&with, 3), "{with}");
    assert!(!reads_buffer(&without, 3), "{without}");
}

#[test]
fn neighbouring_lanes_need_no_gather_and_no_mask() {
    for (source, name, constants) in
        [(ADD, "add_arrays", Constants::new()), (GEMV, "gemv", gemv_constants(4096, false))]
    {
        let text = ir(source, name, &constants, Lanes::Row);
        assert!(!text.contains("masked"), "{text}");
        assert!(text.contains("load <32 x float>"), "{text}");
    }
}

const BOTH: [Lanes; 2] = [Lanes::Row, Lanes::Any];

#[test]
fn code_for_other_machines_can_be_made_here() {
    let kernel = kernel(GEMV, "gemv", &gemv_constants(128, true));
    for cpu in ["haswell", "znver4", "apple-m1"] {
        let compiled = compile(&kernel, &Target::named(cpu).expect("a target"), &BOTH).expect(cpu);
        assert_eq!(compiled.len(), 2);
        assert!(compiled.iter().all(|kernel| kernel.object.starts_with(b"\x7fELF")));
    }
}

/// Barriers, threadgroup memory, branches that lanes take apart, a private array, a constant table.
const MIXED: &str = "
    #include <metal_stdlib>
    using namespace metal;
    constant float TABLE[4] = {1, 2, 4, 8};
    kernel void mixed(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant uint &n [[buffer(2)]],
                      uint2 at [[thread_position_in_grid]], uint i [[thread_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]]) {
        threadgroup float tile[256];
        float stack[16];
        uint top = 0;
        tile[i] = at.x < n ? x[at.y * n + at.x] : 0;
        for (uint j = i; j < n; j += 1 + j % 3) {
            if (x[j] > 0 && top < 16) stack[top++] = x[j];
            else if (top > 0) tile[i] += exp(stack[--top]) * TABLE[j % 4];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        y[i] = simd_sum(tile[255 - i]) + simd_shuffle(tile[i], lane ^ 1);
    }";

/// A kernel of each sort, with its constants.
fn examples() -> [(&'static str, &'static str, Constants); 4] {
    [
        (ADD, "add_arrays", Constants::new()),
        (GEMV, "gemv", gemv_constants(4096, true)),
        (ARRAYS, "merge", Constants::new()),
        (MIXED, "mixed", Constants::new()),
    ]
}

#[test]
fn a_kernel_has_the_same_code_from_its_source_and_from_its_bitcode() {
    let target = Target::host().expect("a host");
    for (source, name, constants) in examples() {
        let [direct, by_bitcode] = [kernel, kernel_by_bitcode].map(|make| make(source, name, &constants));
        assert_eq!(direct.reflection, by_bitcode.reflection);
        let [direct, by_bitcode] =
            [direct, by_bitcode].map(|kernel| compile(&kernel, &target, &BOTH).expect("code"));
        assert!(direct == by_bitcode, "{name}");
    }
}

/// Widening for one kind of simdgroups leaves the code of a thread as it was for the next.
#[test]
fn code_does_not_depend_on_what_was_compiled_with_it() {
    let target = Target::host().expect("a host");
    for (source, name, constants) in examples() {
        let kernel = kernel(source, name, &constants);
        let [row, any] = BOTH.map(|lanes| compile(&kernel, &target, &[lanes]).expect("code").remove(0));
        assert_eq!((row.lanes, any.lanes), (Lanes::Row, Lanes::Any));
        let together = |lanes: &[Lanes]| compile(&kernel, &target, lanes).expect("code");
        assert!(together(&BOTH) == [row.clone(), any.clone()], "{name}");
        assert!(together(&[Lanes::Any, Lanes::Row, Lanes::Any]) == [any.clone(), row, any], "{name}");
    }
}

/// A loop that LLVM finds too long to unroll for memory, but that runs over arrays of the thread.
const ARRAYS: &str = "
    #include <metal_stdlib>
    using namespace metal;
    kernel void merge(device const float *a, device const float *b, device float *c, uint i [[thread_position_in_grid]]) {
        float values[8];
        uint never_read[8];
        threadgroup const uint *nothing = nullptr;
        short from_a = 0, from_b = 0;
        for (int j = 0; j < 8; ++j) {
            float x = a[8 * i + from_a], y = b[8 * i + from_b];
            bool first = from_b >= 8 || (from_a < 8 && x <= y);
            values[j] = first ? exp(x) : sin(y) + cos(y);
            never_read[j] = first ? nothing[from_a] : nothing[from_b];
            from_a += short(first);
            from_b += short(!first);
        }
        for (int j = 0; j < 8; ++j) c[8 * i + j] = values[7 - j];
    }";

#[test]
fn arrays_that_loops_run_over_are_registers() {
    let text = ir(ARRAYS, "merge", &Constants::new(), Lanes::Row);
    assert!(!text.contains("alloca"), "{text}");
    assert!(!text.contains("ptr null"), "what is never read is never loaded: {text}");
}

/// macOS reserves it.
#[test]
fn the_register_of_the_platform_is_left_alone() {
    let kernel = kernel(ARRAYS, "merge", &Constants::new());
    let target = Target::named("apple-m1").expect("a target");
    let text = asm_text(&kernel, &target, Lanes::Any).expect("machine code");
    let registers = |number: u32| {
        let is_one = |word: &str| word == format!("x{number}") || word == format!("w{number}");
        text.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| is_one(word)).count()
    };
    assert!(registers(17) > 0 && registers(19) > 0, "it has work for all others: {text}");
    assert_eq!(registers(18), 0, "{text}");
}

/// Compiles a kernel that calls `@pick`, a function in the text of LLVM's IR.
fn compile_with(definitions: &str) -> Result<(), Error> {
    let source = "#include <metal_stdlib>
using namespace metal;
        kernel void k(device uint *o [[buffer(0)]], uint i [[thread_position_in_grid]]) { o[i] = popcount(o[i]); }";
    let compilation = compilation(source);
    let entry = compilation.program.kernels().next().expect("the kernel");
    let function = crate::compile::compile_kernel(&compilation.program, entry, MathMode::Fast).expect("AIR");
    let text = crate::compile::bitcode_text(function.bitcode().expect("bitcode"), "k").expect("text");
    let text = text.replace("@air.popcount.i32(i32 %", "@pick(i32 %") + definitions;
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "k");
    let module = context.create_module_from_ir(buffer).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let bitcode = module.write_bitcode_to_memory();
    let specialized = specialize(bitcode.as_slice(), "k", &Constants::new()).expect("specialized");
    compile(&specialized, &Target::host().expect("a host"), &[Lanes::Any]).map(|_| ())
}

#[test]
fn only_intrinsics_on_elements_are_widened() {
    let pick = |call: &str, declaration: &str| {
        format!(
            "define i32 @pick(i32 %v) {{\n  %r = call i32 {call}\n  ret i32 %r\n}}\ndeclare i32 {declaration}\n"
        )
    };
    let swapped = pick("@llvm.bswap.i32(i32 %v)", "@llvm.bswap.i32(i32)");
    assert_eq!(compile_with(&swapped), Ok(()));
    let rounding = pick("@llvm.get.rounding()", "@llvm.get.rounding()");
    assert_eq!(compile_with(&rounding), Err(Error::Unsupported("the function 'llvm.get.rounding'".into())));
}

#[test]
fn constants_that_hold_addresses_are_refused() {
    const TABLE: &str = "
@one = internal addrspace(2) constant i32 1
@two = internal addrspace(2) constant i32 2
@table = internal addrspace(2) constant [2 x ptr addrspace(2)] [ptr addrspace(2) @one, ptr addrspace(2) @two]
define i32 @pick(i32 %v) {
  %i = and i32 %v, 1
  %p = getelementptr [2 x ptr addrspace(2)], ptr addrspace(2) @table, i32 0, i32 %i
  %q = load ptr addrspace(2), ptr addrspace(2) %p
  %r = load i32, ptr addrspace(2) %q
  ret i32 %r
}
";
    let refused = Error::Unsupported("the constant 'table', which holds an address,".into());
    assert_eq!(compile_with(TABLE), Err(refused));
}

/// Accesses to volatile memory, where all lanes share an address, lie side by side, lie apart, or are private.
const VOLATILE: &str = "
    kernel void loads(device uint *out, volatile device uint *p, uint i [[thread_position_in_grid]]) {
        out[i] = *p + *p + *p;
    }
    kernel void loop(volatile device uint *p) {
        for (uint n = 0; n < 1000; ++n) *p = 7;
    }
    kernel void lanes(volatile device uint *p, uint i [[thread_position_in_grid]]) {
        p[i] = 1;
        if (i % 3 == 0) p[i] = p[i * i];
    }
    kernel void wait(volatile device uint *p, device uint *out) {
        while (*p == 0) {}
        *out = 1;
    }
    kernel void forever(device uint *out) {
        volatile uint x = 0;
        while (x == 0) {}
        *out = 1;
    }
    kernel void copies(device uint *out, volatile device metal::float4x4 *m, device metal::float4x4 *q,
                       uint i [[thread_position_in_grid]]) {
        q[i] = m[i];
        q[i] = m[i];
    }";

#[test]
fn volatile_accesses_are_kept() {
    let source = format!("#include <metal_stdlib>\n{VOLATILE}");
    for lanes in BOTH {
        let text = |name: &str| ir(&source, name, &Constants::new(), lanes);
        let loads = text("loads");
        assert_eq!(loads.matches("load volatile i32").count(), 3, "{loads}");
        let repeated = text("loop");
        assert!(repeated.contains("store volatile i32 7") && repeated.contains("br i1"), "{repeated}");
        let lanes = text("lanes");
        assert!(!lanes.contains("masked"), "{lanes}");
        // One load and two stores per lane; a branch may have a second version, for when all lanes take it.
        let count = |what: &str| lanes.matches(what).count() / 32;
        let (loads, stores) = (count("load volatile <1 x i32>"), count("store volatile <1 x i32>"));
        assert!(loads >= 1 && stores > loads, "{loads} loads, {stores} stores: {lanes}");
        for name in ["wait", "forever"] {
            let spin = text(name);
            assert!(spin.contains("load volatile") && spin.contains("br i1"), "{spin}");
        }
        let copies = text("copies");
        assert!(copies.contains("load volatile"), "{copies}");
    }
}

/// Loops over weights: in tiles and in large blocks, which are streams; in rows, of which each lane has one; in
/// threadgroup memory; with one addition for each.
const WEIGHTS: &str = "
    #include <metal_stdlib>
    using namespace metal;
    float product(uint word, constant float *x) {
        float sum = 0;
        for (uint k = 0; k < 8; k++) sum += float(word >> (4 * k) & 15) * x[k];
        return sum;
    }
    kernel void tiles(device const uint *w, constant float *x, device float *y, constant uint &blocks,
                      uint lane [[thread_index_in_simdgroup]], uint i [[thread_position_in_grid]]) {
        float sum = 0;
        for (uint block = 0; block < blocks; block++) {
            device const uint *words = w + block * 160;
            for (uint j = 0; j < 4; j++) sum += product(words[32 + j * 32 + lane], x + 8 * j) * float(words[lane]);
        }
        y[i] = sum;
    }
    kernel void blocks(device const uint *w, constant float *x, device float *y, constant uint &blocks,
                       uint lane [[thread_index_in_simdgroup]], uint i [[thread_position_in_grid]]) {
        float sum = 0;
        for (uint block = 0; block < blocks; block++) sum += product(w[block * 1680 + lane], x);
        y[i] = sum;
    }
    kernel void rows(device const uint *w, constant float *x, device float *y, constant uint &words,
                     uint i [[thread_position_in_grid]]) {
        float sum = 0;
        for (uint j = 0; j < words; j++) sum += product(w[i * words + j], x);
        y[i] = sum;
    }
    kernel void staged(threadgroup uint *w [[threadgroup(0)]], constant float *x, device float *y, constant uint &words,
                       uint lane [[thread_index_in_simdgroup]], uint i [[thread_position_in_grid]]) {
        float sum = 0;
        for (uint j = 0; j < words; j++) sum += product(w[32 * j + lane], x);
        y[i] = sum;
    }
    kernel void sums(device const float *w, device float *y, constant uint &words,
                     uint lane [[thread_index_in_simdgroup]], uint i [[thread_position_in_grid]]) {
        float sum = 0;
        for (uint j = 0; j < words; j++) sum += w[32 * j + lane];
        y[i] = sum;
    }";

/// The constant distances of all prefetches from their base.
fn prefetches(name: &str, cpu: &str) -> Vec<u64> {
    let target = Target::named(cpu).expect("a target");
    let text = llvm_text(&kernel(WEIGHTS, name, &Constants::new()), &target, Lanes::Row).expect("wide code");
    let calls = text.lines().filter_map(|line| line.trim().strip_prefix("call void @llvm.prefetch.p0(ptr "));
    let distance = |call: &str| {
        let pointer = call.split(',').next().expect("an argument");
        let definition = text.lines().find(|line| line.trim().starts_with(&format!("{pointer} = ")));
        let offset = definition.and_then(|line| line.rsplit(' ').next()).and_then(|number| number.parse().ok());
        offset.unwrap_or_else(|| panic!("{pointer} in {text}"))
    };
    calls.map(distance).collect()
}

#[test]
fn streams_are_prefetched() {
    // A load takes two lines. There is one in the inner loop, and one outside: both look seven blocks of 640 bytes
    // ahead, so that they go on in the next blocks where the inner loop ends.
    assert_eq!(prefetches("tiles", "sapphirerapids"), [4480, 4544, 4480, 4544]);
    // A block of 6,720 bytes in one round.
    assert_eq!(prefetches("blocks", "sapphirerapids"), [6720, 6784]);
}

/// LLVM would put them into any order, which the prefetcher of Zen does not follow.
#[test]
fn streams_stay_in_order_on_zen() {
    let in_order = |name: &str, cpu: &str| {
        let target = Target::named(cpu).expect("a target");
        let text = llvm_text(&kernel(WEIGHTS, name, &Constants::new()), &target, Lanes::Row).expect("wide code");
        text.matches("load volatile <32 x i32>").count()
    };
    assert!(in_order("blocks", "znver4") > 0);
    for (name, cpu) in [("blocks", "sapphirerapids"), ("tiles", "znver4"), ("sums", "znver4")] {
        assert_eq!(in_order(name, cpu), 0, "{name} {cpu}");
    }
}

#[test]
fn loads_that_are_no_streams_are_not_prefetched() {
    for (name, cpu) in [
        ("rows", "sapphirerapids"),
        ("staged", "sapphirerapids"),
        ("sums", "sapphirerapids"),
        ("tiles", "znver4"),
        ("tiles", "apple-m1"),
    ] {
        assert_eq!(prefetches(name, cpu), [0; 0], "{name} {cpu}");
    }
}

/// Sums of products of bytes, in the ways in which one may write them. `w` differs between lanes, `v` does not.
fn byte_products(expression: &str) -> String {
    format!(
        "#include <metal_stdlib>
        using namespace metal;
        kernel void k(device const uint *w [[buffer(0)]], device const uint *v [[buffer(1)]],
                      device const char4 *c [[buffer(2)]], device int *y [[buffer(3)]], constant int &sum [[buffer(4)]],
                      uint i [[thread_position_in_grid]]) {{
            uchar4 u = as_type<uchar4>(w[i]), nibbles = as_type<uchar4>(w[i] >> 4 & 0x0f0f0f0fu);
            char4 s = as_type<char4>(v[0]), t = as_type<char4>(w[i]), l = c[i];
            y[i] = {expression};
        }}"
    )
}

const UNSIGNED_BY_SIGNED: &str =
    "sum + int(u.x) * int(s.x) + int(u.y) * int(s.y) + int(u.z) * int(s.z) + int(u.w) * int(s.w)";
const SMALL_BY_SIGNED: &str = "nibbles.x * s.x + nibbles.y * s.y + (nibbles.z * s.z + nibbles.w * s.w) + sum";
const SIGNED_BY_SIGNED: &str = "s.x * t.x + s.y * t.y + s.z * t.z + s.w * t.w";

/// The lines of machine code for a CPU that have an instruction in them.
fn instructions(expression: &str, cpu: &str, name: &str) -> Vec<String> {
    let kernel = kernel(&byte_products(expression), "k", &Constants::new());
    let text = asm_text(&kernel, &Target::named(cpu).expect("a target"), Lanes::Row).expect("machine code");
    // A word in braces is a prefix of the instruction.
    let is_one = |line: &&str| line.split_whitespace().find(|word| !word.starts_with('{')) == Some(name);
    text.lines().filter(is_one).map(str::to_owned).collect()
}

#[test]
fn products_of_bytes_have_their_own_instruction() {
    // Instructions per simdgroup.
    for (expression, cpu, name, count) in [
        (UNSIGNED_BY_SIGNED, "sapphirerapids", "vpdpbusd", 2),
        (SMALL_BY_SIGNED, "znver4", "vpdpbusd", 2),
        (SIGNED_BY_SIGNED, "znver4", "vpdpbusd", 3),
        (UNSIGNED_BY_SIGNED, "alderlake", "vpdpbusd", 4),
        (UNSIGNED_BY_SIGNED, "x86-64-v3", "vpmaddwd", 8),
        (SIGNED_BY_SIGNED, "x86-64-v4", "vpmaddwd", 4),
        (SMALL_BY_SIGNED, "x86-64-v3", "vpmaddubsw", 4),
        (SMALL_BY_SIGNED, "neoverse-n1", "sdot", 8),
        (SIGNED_BY_SIGNED, "apple-m1", "sdot", 8),
        (UNSIGNED_BY_SIGNED, "neoverse-n1", "sdot", 10),
        (UNSIGNED_BY_SIGNED, "neoverse-v1", "usdot", 8),
    ] {
        let found = instructions(expression, cpu, name);
        assert_eq!(found.len(), count, "{cpu}: {expression}: {found:?}");
    }
    let lines = instructions(UNSIGNED_BY_SIGNED, "sapphirerapids", "vpdpbusd");
    assert!(lines.iter().all(|line| line.contains("zmm")), "{lines:?}");
}

#[test]
fn products_of_bytes_are_recognized_however_they_are_written() {
    const SUMS: &str =
        "sum + int(w[i] & 255) * (int(v[0] << 24) >> 24) + int(w[i] >> 8 & 255) * (int(v[0] << 16) >> 24)
        + int(w[i] >> 16 & 255) * (int(v[0] << 8) >> 24) + int(w[i] >> 24) * (int(v[0]) >> 24)";
    const NIBBLES: &str =
        "sum + int(w[i] >> 4 & 15) * s.x + int(w[i] >> 12 & 15) * s.y + int(w[i] >> 20 & 15) * s.z
        + int(w[i] >> 28) * s.w";
    const VECTORS: &str =
        "(int4(u) * int4(s)).x + (int4(u) * int4(s)).y + (int4(u) * int4(s)).z + (int4(u) * int4(s)).w";
    const LOADED: &str = "l.x * s.x + l.y * s.y + l.z * s.z + l.w * s.w";
    const TWO: &str =
        "u.x * s.x + nibbles.z * s.z + u.y * s.y + nibbles.y * s.y + u.z * s.z + sum + nibbles.x * s.x
        + u.w * s.w + nibbles.w * s.w";
    for (expression, count) in [(SUMS, 2), (NIBBLES, 2), (VECTORS, 2), (LOADED, 3), (TWO, 4)] {
        let found = instructions(expression, "znver4", "vpdpbusd");
        assert_eq!(found.len(), count, "{expression}: {found:?}");
    }
}

#[test]
fn other_products_are_no_products_of_bytes() {
    for expression in [
        "u.x * s.x + u.y * s.y + u.z * s.z",
        "u.x * s.y + u.y * s.x + u.z * s.z + u.w * s.w",
        "u.x * s.x + u.y * s.y + u.z * s.z + u.z * s.w",
        "u.x * s.x + u.y * s.y + u.z * s.z - u.w * s.w",
        "int(u.x * uchar(1)) * int(u.x) + u.y * u.y + u.z * u.z + u.w * u.w",
    ] {
        let found = instructions(expression, "znver4", "vpdpbusd");
        assert_eq!(found.len(), 0, "{expression}: {found:?}");
    }
}

/// The products of 16 rows of `x` with the words of each lane; `row` is the address of a row, `more` runs after each.
fn matrix_of_bytes(row: &str, more: &str) -> String {
    format!(
        "#include <metal_stdlib>
        using namespace metal;
        kernel void k(device const uint *w [[buffer(0)]], device const uint *x [[buffer(1)]],
                      device int *y [[buffer(2)]], constant uint &n [[buffer(3)]], uint lane [[thread_index_in_simdgroup]]) {{
            int sums[16] = {{}};
            for (uint block = 0; block < n; block++) {{
                uint words[8];
                for (uint i = 0; i < 8; i++) {{
                    words[i] = w[(block * 8 + i) * 32 + lane];
                }}
                for (uint m = 0; m < 16; m++) {{
                    for (uint i = 0; i < 8; i++) {{
                        uchar4 a = as_type<uchar4>(words[i]);
                        char4 b = as_type<char4>(({row} + ulong(block) * 8)[i]);
                        sums[m] = sums[m] + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
                    }}
                    {more}
                }}
            }}
            for (uint m = 0; m < 16; m++) {{
                y[m * 32 + lane] = sums[m];
            }}
        }}"
    )
}

/// The instructions of AMX in the machine code of a kernel, by their names.
fn amx_instructions(source: &str, target: &Target) -> Vec<String> {
    let text = asm_text(&kernel(source, "k", &Constants::new()), target, Lanes::Row).expect("machine code");
    let names = text.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| name.contains("tile") || name.starts_with("tdp")).map(str::to_owned).collect()
}

#[test]
fn matrices_of_bytes_are_multiplied_by_tiles() {
    let target = Target::named("sapphirerapids").expect("a target").with_tiles();
    let found = amx_instructions(&matrix_of_bytes("x + m * 1024", ""), &target);
    let count = |name: &str| found.iter().filter(|found| *found == name).count();
    let names = ["ldtilecfg", "tileloadd", "tilezero", "tdpbsud", "tilestored", "tilerelease"];
    assert_eq!(names.map(count), [1, 3, 2, 2, 2, 1], "{found:?}");
    assert_eq!(count("vpdpbusd"), 0, "{found:?}");
}

#[test]
fn other_products_of_bytes_need_no_tiles() {
    let tiles = Target::named("sapphirerapids").expect("a target").with_tiles();
    for (row, more) in [
        ("x + m * m * 1024", ""),
        ("x + min(m, n) * 1024", ""),
        ("x + lane + m * 1024", ""),
        ("x + m * 1024", "((device uint *)x)[m] = m;"),
        ("x + m * 1024", "threadgroup_barrier(mem_flags::mem_none);"),
    ] {
        assert_eq!(amx_instructions(&matrix_of_bytes(row, more), &tiles), [""; 0], "{row} {more}");
    }
    // The CPU alone does not decide: the system must allow it, too.
    let named = Target::named("sapphirerapids").expect("a target");
    assert_eq!(amx_instructions(&matrix_of_bytes("x + m * 1024", ""), &named), [""; 0]);
    let host = Target::host().expect("a host");
    assert!(!host.features().contains("+amx"), "{}", host.features());
    assert!(host.with_tiles().features().ends_with("+amx-tile,+amx-int8,+amx-bf16"));
}

/// The products of eight rows of `x` with the pairs of numbers of each lane, of which `low` is the first and `high` the second.
fn matrix_of_bfloats(low: &str, high: &str) -> String {
    format!(
        "#include <metal_stdlib>
        using namespace metal;
        inline uint pair(float a, float b) {{
            return (as_type<uint>(a) + 0x8000u) >> 16 | ((as_type<uint>(b) + 0x8000u) & 0xffff0000u);
        }}
        kernel void k(device const half *w [[buffer(0)]], device const uint *x [[buffer(1)]],
                      device float *y [[buffer(2)]], constant uint &n [[buffer(3)]], uint lane [[thread_index_in_simdgroup]]) {{
            float sums[8] = {{}};
            for (uint block = 0; block < n; block++) {{
                #pragma clang loop unroll(full)
                for (uint i = 0; i < 8; i++) {{
                    device const half *at = w + (block * 16 + 2 * i) * 32 + lane;
                    uint a = pair(at[0], at[32]);
                    for (uint m = 0; m < 8; m++) {{
                        uint b = (x + m * 1024 + ulong(block) * 8)[i];
                        sums[m] = sums[m] + {low} + {high};
                    }}
                }}
            }}
            for (uint m = 0; m < 8; m++) {{
                y[m * 32 + lane] = sums[m];
            }}
        }}"
    )
}

const LOW: &str = "as_type<float>(a << 16) * as_type<float>(b << 16)";
const HIGH: &str = "as_type<float>(a & 0xffff0000u) * as_type<float>(b & 0xffff0000u)";

/// Instructions of a name in the machine code of a kernel.
fn count_of(source: &str, target: &Target, name: &str) -> usize {
    let text = asm_text(&kernel(source, "k", &Constants::new()), target, Lanes::Row).expect("machine code");
    text.lines().filter(|line| line.split_whitespace().next() == Some(name)).count()
}

#[test]
fn products_of_bfloats_have_their_own_instruction() {
    let source = matrix_of_bfloats(LOW, HIGH);
    let named = |cpu: &str| Target::named(cpu).expect("a target");
    assert_eq!(count_of(&source, &named("znver4"), "vdpbf16ps"), 8 * 8 * 2);
    assert_eq!(count_of(&source, &named("x86-64-v4"), "vdpbf16ps"), 0);
    assert_eq!(count_of(&source, &named("sapphirerapids"), "vdpbf16ps"), 8 * 8 * 2);
    let all = ["znver4", "znver3", "sapphirerapids", "haswell", "apple-m1"];
    assert_eq!(all.map(|cpu| named(cpu).prefers_bfloats()), [true, false, false, false, false]);
    assert!(named("sapphirerapids").with_tiles().prefers_bfloats());
}

#[test]
fn matrices_of_bfloats_are_multiplied_by_tiles() {
    let target = Target::named("sapphirerapids").expect("a target").with_tiles();
    let source = matrix_of_bfloats(LOW, HIGH);
    let names = ["ldtilecfg", "tileloadd", "tilezero", "tdpbf16ps", "tilestored", "tilerelease"];
    let counts = |source: &str| {
        let found = amx_instructions(source, &target);
        names.map(|name| found.iter().filter(|found| *found == name).count())
    };
    assert_eq!(counts(&source), [1, 3, 2, 2, 2, 1]);
    assert_eq!(count_of(&source, &target, "vdpbf16ps"), 0);
    // Longer chains are several products.
    let longer = source
        .replace("i < 8", "i < 32")
        .replace("block * 16", "block * 64")
        .replace("(block) * 8", "(block) * 32");
    assert_eq!(counts(&longer), [1, 6, 4, 4, 4, 1]);
    // Rows that were read before memory was written are not those of memory.
    let rows = "uint rows[64];
        for (uint i = 0; i < 64; i++) {
            rows[i] = (x + i / 8 * 1024 + ulong(block) * 8)[i % 8];
        }
        ((device uint *)x)[lane] = block;
        #pragma";
    let written =
        source.replace("#pragma", rows).replace("(x + m * 1024 + ulong(block) * 8)[i]", "rows[m * 8 + i]");
    assert_eq!(counts(&written), [0; 6]);
}

#[test]
fn other_products_are_no_products_of_bfloats() {
    for (low, high) in [
        (LOW, "as_type<float>(a & 0xfffff000u) * as_type<float>(b & 0xffff0000u)"),
        (LOW, LOW),
        (LOW, "as_type<float>(a & 0xffff0000u)"),
        ("as_type<float>(a << 8) * as_type<float>(b << 16)", HIGH),
    ] {
        let found =
            count_of(&matrix_of_bfloats(low, high), &Target::named("znver4").expect("a target"), "vdpbf16ps");
        assert_eq!(found, 0, "{low} {high}");
    }
}
