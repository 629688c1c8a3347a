use super::*;
use crate::exec::data::Bytes;

const LIMITS: Limits = Limits { buffer: 1 << 20, threadgroup_memory: 32 << 10 };

/// A kernel with all kinds of arguments.
const SHADER: &str = "
#include <metal_stdlib>
using namespace metal;
struct Params { uint n; float scale; };
constant bool WITH_BIAS [[function_constant(0)]];
kernel void k(device const float *x [[buffer(0)]],
              device half4 *y [[buffer(1)]],
              constant Params &params [[buffer(2)]],
              device atomic_uint *counter [[buffer(3)]],
              device const float3 *points [[buffer(5)]],
              device const bfloat *bias [[buffer(7), function_constant(WITH_BIAS)]],
              threadgroup float4 *scratch [[threadgroup(0)]],
              uint i [[thread_position_in_grid]]) {
  threadgroup float own[64];
  own[i % 64] = x[i] * params.scale + points[i].x;
  if (WITH_BIAS) { own[i % 64] += float(bias[i]); }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  scratch[i] = float4(own[i % 64]);
  y[i] = half4(scratch[i]);
  atomic_fetch_add_explicit(counter, params.n, memory_order_relaxed);
}
";

/// Correct bindings.
const ARGUMENTS: [&str; 5] =
    ["x=zeros:f32:8", "1=zeros:half4:8", "params=struct:n=8,scale=0.5", "3=u32:0", "points=zeros:float3:8"];

fn kernel() -> Kernel {
    let compilation = msl::compile_source("k.metal", SHADER, &msl::Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    compilation.reflect().kernels.remove(0)
}

/// Binds the kernel with WITH_BIAS false.
fn bind(arguments: &[&str], memory: &[(&str, usize)], outputs: &[&str]) -> Result<Bindings, Vec<String>> {
    let general = kernel();
    let mut kernel = general.clone();
    kernel.arguments.retain(|argument| argument.function_constant.is_none());
    let arguments: Vec<Given> = arguments.iter().map(|text| Given::parse(text).expect(text)).collect();
    let memory: Vec<(Key, usize)> = memory.iter().map(|(key, bytes)| (Key::parse(key), *bytes)).collect();
    let outputs: Vec<Key> = outputs.iter().map(|key| Key::parse(key)).collect();
    let wanted = Wanted {
        arguments: &arguments,
        threadgroup_memory: &memory,
        outputs: outputs.iter().map(|key| ("--print", key)).collect(),
    };
    let bound = Binder::new(&kernel, &|| general.arguments.clone(), LIMITS).bind(&wanted);
    bound.map_err(|errors| {
        let text = |error| match error {
            Error::Refused(text) | Error::Mistake(text, _) => text,
            other => panic!("{other:?}"),
        };
        errors.into_iter().map(text).collect()
    })
}

/// The single error after replacing one argument.
fn mistake(replaced: usize, with: &str) -> String {
    let mut arguments = ARGUMENTS;
    arguments[replaced] = with;
    let errors = bind(&arguments, &[("0", 256)], &[]).err().unwrap_or_else(|| panic!("{with} is accepted"));
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors[0].clone()
}

#[test]
fn binds_matching_arguments() {
    let bindings = bind(&ARGUMENTS, &[("scratch", 256)], &["y", "3"]).expect("it fits");
    let lengths: Vec<(u32, usize)> =
        bindings.buffers.iter().map(|bound| (bound.argument.index, bound.data.bytes.len())).collect();
    assert_eq!(lengths, [(0, 32), (1, 64), (2, 8), (3, 4), (5, 128)]);
    assert_eq!(bindings.threadgroup_memory, [(0, 256)]);
    assert_eq!(bindings.buffers[2].data.bytes, Bytes::Given(vec![8, 0, 0, 0, 0, 0, 0, 0x3f]));
}

#[test]
fn lists_missing_arguments() {
    let errors = bind(&[ARGUMENTS[0], ARGUMENTS[4]], &[], &[]).err().expect("most is missing");
    insta::assert_snapshot!(errors.join("\n"), @r"
    4 arguments are not bound:
      flag                          argument  type
      --arg 1=VALUE                 y         device half4 *
      --arg 2=VALUE                 params    constant Params &
      --arg 3=VALUE                 counter   device atomic_uint *
      --threadgroup-memory 0=BYTES  scratch   threadgroup float4 *
    ");
}

#[test]
fn rejects_other_types() {
    insta::assert_snapshot!(mistake(0, "x=zeros:f16:8"), @"argument 'x' (buffer 0): it is float, but 'zeros:f16:8' is half: write zeros:f32:8, or bytes:zeros:f16:8 to bind it as it is");
    insta::assert_snapshot!(mistake(1, "y=zeros:float4:8"), @"argument 'y' (buffer 1): it is half4, but 'zeros:float4:8' is float: write zeros:half4:8, or bytes:zeros:float4:8 to bind it as it is");
    insta::assert_snapshot!(mistake(3, "3=i32:0"), @"argument 'counter' (buffer 3): it is atomic_uint, but 'i32:0' is int: write u32:0, or bytes:i32:0 to bind it as it is");
    let mut arguments = ARGUMENTS;
    arguments[0] = "x=bytes:iota:u8:32";
    assert!(bind(&arguments, &[("0", 256)], &[]).is_ok());
}

#[test]
fn rejects_partial_elements() {
    insta::assert_snapshot!(mistake(0, "x=zeros:f32:0"), @"argument 'x' (buffer 0): 'zeros:f32:0' is empty: it needs at least one float, 4 bytes");
    insta::assert_snapshot!(mistake(1, "y=f16:1,2,3"), @"argument 'y' (buffer 1): 'f16:1,2,3' has 6 bytes, less than one half4, 8 bytes");
    insta::assert_snapshot!(mistake(1, "y=zeros:f16:6"), @"argument 'y' (buffer 1): 'zeros:f16:6' has 12 bytes, which is not a whole number of half4, 8 bytes each");
    insta::assert_snapshot!(mistake(0, "x=bytes:zeros:u8:7"), @"argument 'x' (buffer 0): 'bytes:zeros:u8:7' has 7 bytes, which is not a whole number of float, 4 bytes each");
    insta::assert_snapshot!(mistake(2, "2=u32:1,2,3,4"), @"argument 'params' (buffer 2): 'u32:1,2,3,4' has 16 bytes, but the kernel takes one Params, 8 bytes (constant Params &)");
    insta::assert_snapshot!(mistake(4, "5=zeros:f32:4x3"), @"argument 'points' (buffer 5): 'zeros:f32:4x3' has 3 numbers where float3 takes 4 in memory: add a column to its shape (4, 3)");
}

#[test]
fn structs_take_any_numbers_of_their_size() {
    let mut arguments = ARGUMENTS;
    arguments[2] = "2=u32:8,0";
    assert!(bind(&arguments, &[("0", 256)], &[]).is_ok());
    insta::assert_snapshot!(mistake(2, "2=struct:n=8"), @"argument 'params' (buffer 2): the field 'scale' must be given once: Params has n, scale");
}

#[test]
fn rejects_arguments_that_do_not_exist() {
    let errors = |arguments: &[&str], memory: &[(&str, usize)]| {
        let arguments = [&ARGUMENTS[..], arguments].concat();
        bind(&arguments, &[&[("0", 256)], memory].concat(), &[]).err().expect("too much").join("\n")
    };
    insta::assert_snapshot!(errors(&["9=u32:1", "z=u32:1"], &[]), @r"
    --arg 9: the kernel has no such argument; it has 0 'x', 1 'y', 2 'params', 3 'counter', 5 'points'
    --arg z: the kernel has no such argument; it has 0 'x', 1 'y', 2 'params', 3 'counter', 5 'points'
    ");
    insta::assert_snapshot!(errors(&["params.n=u32:1"], &[]), @"--arg params.n: fields are bound together: --arg params=struct:n=…,scale=…");
    insta::assert_snapshot!(errors(&["7=zeros:bf16:8", "bias=zeros:bf16:8"], &[]), @r"
    argument 'bias' (buffer 7) does not exist with these function constants: WITH_BIAS is false
    argument 'bias' (buffer 7) does not exist with these function constants: WITH_BIAS is false
    ");
    insta::assert_snapshot!(errors(&["scratch=zeros:f32:4"], &[("x", 64), ("1", 64)]), @r"
    argument 'scratch' (threadgroup 0) is threadgroup memory: give its size with --threadgroup-memory scratch=BYTES
    argument 'x' (buffer 0) is not threadgroup memory: bind it with --arg x=VALUE
    --threadgroup-memory 1: the kernel has no such argument; it has 0 'scratch'
    ");
    insta::assert_snapshot!(errors(&["0=zeros:f32:8", "i=u32:1"], &[("scratch", 256)]), @r"
    argument 'x' (buffer 0) is bound twice
    --arg i: the kernel has no such argument; it has 0 'x', 1 'y', 2 'params', 3 'counter', 5 'points'
    --threadgroup-memory sets the size of 0 twice
    ");
}

#[test]
fn rejects_too_much_threadgroup_memory() {
    let error = |bytes| bind(&ARGUMENTS, &[("0", bytes)], &[]).err().expect("it does not fit").join("\n");
    insta::assert_snapshot!(error(8), @"argument 'scratch' (threadgroup 0): 8 bytes are less than one float4, 16 bytes");
    insta::assert_snapshot!(error(1000), @"argument 'scratch' (threadgroup 0): 1000 bytes are not a multiple of 16: use 1008");
    insta::assert_snapshot!(error(32 << 10), @"33024 bytes of threadgroup memory (256 of them the kernel's own) are over the limit of 32768");
    assert!(error(usize::MAX & !15).contains("over the limit"));
    assert!(bind(&ARGUMENTS, &[("0", (32 << 10) - 256)], &[]).is_ok());
}

#[test]
fn rejects_outputs_that_the_kernel_only_reads() {
    let errors = |outputs: &[&str]| {
        bind(&ARGUMENTS, &[("0", 256)], outputs).err().expect("it cannot be an output").join("\n")
    };
    insta::assert_snapshot!(errors(&["x", "2", "bias", "scratch", "9"]), @r"
    argument 'x' (buffer 0) is only read by the kernel (const device float *): it cannot be an output
    argument 'params' (buffer 2) is only read by the kernel (constant Params &): it cannot be an output
    argument 'bias' (buffer 7) does not exist with these function constants: WITH_BIAS is false
    argument 'scratch' (threadgroup 0) is threadgroup memory: give its size with --threadgroup-memory scratch=BYTES
    --print 9: the kernel has no such argument; it has 0 'x', 1 'y', 2 'params', 3 'counter', 5 'points'
    ");
    let errors = bind(&ARGUMENTS[2..], &[("0", 256)], &["1"]).err().expect("it is not bound");
    assert!(errors[1].contains("must be bound to be an output: --arg 1=zeros:TYPE:SHAPE"), "{errors:#?}");
}

#[test]
fn arrays_at_the_end_are_as_long_as_the_buffer() {
    const SHADER: &str =
        "struct Rows { uint n; float data[1]; }; kernel void k(device Rows &rows [[buffer(0)]]) {}";
    let compilation = msl::compile_source("k.metal", SHADER, &msl::Options::default());
    let kernel = compilation.reflect().kernels.remove(0);
    let bind = |text: &str| {
        let arguments = [Given::parse(text).expect(text)];
        let wanted = Wanted { arguments: &arguments, threadgroup_memory: &[], outputs: Vec::new() };
        Binder::new(&kernel, &|| kernel.arguments.clone(), LIMITS).bind(&wanted).is_ok()
    };
    assert!(bind("0=bytes:zeros:u8:8") && bind("0=bytes:zeros:u8:100"));
    assert!(!bind("0=bytes:zeros:u8:4"));
}
