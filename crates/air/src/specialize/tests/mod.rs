//! Our kernels and Apple's, with all kinds of values.

mod copies;
mod used;

use super::*;
use crate::lower::{self, MathMode, lower};
use crate::metallib::{Library, apple_library};
use abi::ConstantValue;

fn bitcode_of(source: &str, kernel: &str) -> Vec<u8> {
    let compilation = msl::compile_source("k.metal", source, &msl::Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let entry = compilation.program.kernels().find(|entry| entry.name == kernel).expect("the kernel");
    let context = Context::create();
    let module = lower(&context, &compilation.program, entry, MathMode::Fast).expect("it can be lowered");
    module.write_bitcode_to_memory().as_slice().to_vec()
}

fn gemv() -> Vec<u8> {
    bitcode_of(include_str!("../../../../../examples/gemv.metal"), "gemv")
}

fn gemv_constants(k: u32, use_bias: bool) -> Constants {
    let mut constants = Constants::new();
    constants.set(0, ConstantValue::Uint(k)).set_named("USE_BIAS", ConstantValue::Bool(use_bias));
    constants
}

/// The lines of the kernel's body.
fn body(specialized: &Specialized) -> String {
    let text = specialized.text().unwrap();
    let body = text.split("define ").nth(1).and_then(|rest| rest.split("\n}").next()).expect("a function");
    body.to_owned()
}

fn message(bitcode: &[u8], kernel: &str, constants: &Constants) -> String {
    specialize(bitcode, kernel, constants).expect_err("it is wrong").to_string()
}

#[test]
fn an_argument_that_does_not_exist_is_not_read() {
    let bitcode = gemv();
    for k in [128, 4096] {
        let with = specialize(&bitcode, "gemv", &gemv_constants(k, true)).unwrap();
        let without = specialize(&bitcode, "gemv", &gemv_constants(k, false)).unwrap();
        let names =
            |kernel: &Kernel| kernel.arguments.iter().map(|argument| argument.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&with.reflection), ["weights", "x", "y", "bias"]);
        assert_eq!(names(&without.reflection), ["weights", "x", "y"]);
        assert!(with.reflection.arguments.iter().all(|argument| argument.function_constant.is_none()));
        // Weights and x; the bias is the third load.
        assert_eq!(body(&with).matches("= load float, ptr addrspace(1)").count(), 3, "{}", body(&with));
        assert_eq!(body(&without).matches("= load float, ptr addrspace(1)").count(), 2, "{}", body(&without));
        // In the list of parameters, and nowhere else.
        assert_eq!(body(&without).matches("ptr addrspace(1) %3").count(), 1, "{}", body(&without));
        for specialized in [&with, &without] {
            let text = specialized.text().unwrap();
            assert!(body(specialized).contains(&format!(", {k}")), "{text}");
            for gone in ["MTL_FC_INIT_0_j =", "MTL_FC_INIT_1_b =", "fc_pred", "global_ctors", "_GLOBAL__sub_I"] {
                assert!(!text.contains(gone), "{gone} in\n{text}");
            }
        }
    }
}

#[test]
fn wrong_values() {
    let bitcode = gemv();
    let mut constants = Constants::new();
    assert_eq!(
        message(&bitcode, "gemv", &constants),
        "function constants not set: 'K' (index 0, uint), 'USE_BIAS' (index 1, bool)"
    );
    constants.set(0, ConstantValue::Uint(8));
    assert_eq!(message(&bitcode, "gemv", &constants), "function constant not set: 'USE_BIAS' (index 1, bool)");
    constants.set(1, ConstantValue::Int(1));
    assert_eq!(
        message(&bitcode, "gemv", &constants),
        "function constant 'USE_BIAS' (index 1) is a bool, and its value is a int"
    );
    constants.set(1, ConstantValue::Bool(true)).set(7, ConstantValue::Bool(true));
    assert_eq!(
        message(&bitcode, "gemv", &constants),
        "there is no function constant with index 7; there is 'K' (index 0, uint), 'USE_BIAS' (index 1, bool)"
    );
    let mut named = gemv_constants(8, true);
    named.set_named("BIAS", ConstantValue::Bool(true));
    assert_eq!(
        message(&bitcode, "gemv", &named),
        "there is no function constant 'BIAS'; there is 'K' (index 0, uint), 'USE_BIAS' (index 1, bool)"
    );
    let mut twice = gemv_constants(8, true);
    twice.set_named("K", ConstantValue::Uint(8));
    assert!(specialize(&bitcode, "gemv", &twice).is_ok());
    twice.set_named("K", ConstantValue::Uint(9));
    assert_eq!(
        message(&bitcode, "gemv", &twice),
        "function constant 'K' (index 0, uint) is given two values, by index and by name"
    );
    let ragged = vec![ConstantValue::Uint(1), ConstantValue::Bool(true)];
    assert!(matches!(
        specialize(&bitcode, "gemv", Constants::new().set(0, ConstantValue::Vector(ragged))),
        Err(Error::WrongType { .. })
    ));
    assert_eq!(message(&bitcode, "gemm", &constants), "there is no kernel 'gemm'; there is gemv");
}

#[test]
fn a_kernel_of_a_source_says_at_which_stage_it_failed() {
    let specialize = |source: &str, constants: &Constants| {
        let compilation = msl::compile_source("k.metal", source, &msl::Options::default());
        assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
        let entry = compilation.program.kernels().next().expect("a kernel");
        specialize_kernel(&compilation, entry, MathMode::Fast, constants)
    };
    let undefined = "int f(int); kernel void k(device int *x [[buffer(0)]]) { x[0] = f(1); }";
    let error = specialize(undefined, &Constants::new()).expect_err("it has no code");
    let SourceError::Lower(lower::Error::Unsupported { span, .. }) = &error else { panic!("{error}") };
    assert!(span.end > span.start, "it says where");
    assert_eq!(error.to_string(), "a call of 'f', which is declared and never defined, is not supported yet");

    let gemv = include_str!("../../../../../examples/gemv.metal");
    let error = specialize(gemv, Constants::new().set(0, ConstantValue::Uint(8))).expect_err("one is missing");
    assert!(matches!(&error, SourceError::Specialize(Error::Missing(missing)) if missing.len() == 1), "{error}");
    assert_eq!(error.to_string(), "function constant not set: 'USE_BIAS' (index 1, bool)");
    assert!(specialize(gemv, &gemv_constants(8, false)).is_ok());
}

#[test]
fn damaged_bitcode() {
    let bitcode = gemv();
    let constants = gemv_constants(8, false);
    assert!(matches!(specialize(&[], "gemv", &constants), Err(Error::Malformed(_))));
    assert!(matches!(specialize(b"not bitcode at all", "gemv", &constants), Err(Error::Malformed(_))));
    assert!(matches!(specialize(&bitcode[..bitcode.len() / 2], "gemv", &constants), Err(Error::Malformed(_))));
}

#[test]
fn constants_that_need_not_be_set() {
    let bitcode = bitcode_of(
        "#include <metal_stdlib>
         using namespace metal;
         constant int a [[function_constant(0)]];
         constant int n = is_function_constant_defined(a) ? a : 11;
         constant bool has_a = is_function_constant_defined(a);
         constant int unused [[function_constant(3)]];
         kernel void k(device int *x [[buffer(0)]], device int *y [[buffer(1), function_constant(has_a)]]) {
             x[0] = n;
             if (has_a) y[0] = a;
         }",
        "k",
    );
    let without = specialize(&bitcode, "k", &Constants::new()).unwrap();
    assert!(body(&without).contains("store i32 11, ptr addrspace(1) %0"), "{}", body(&without));
    assert_eq!(without.reflection.arguments.len(), 1);
    let with = specialize(&bitcode, "k", Constants::new().set(0, ConstantValue::Int(-3))).unwrap();
    assert!(body(&with).contains("store i32 -3, ptr addrspace(1) %0"), "{}", body(&with));
    assert!(body(&with).contains("store i32 -3, ptr addrspace(1) %1"), "{}", body(&with));
    assert_eq!(with.reflection.arguments.len(), 2);
}

#[test]
fn a_constant_that_is_asked_for_and_read_all_the_same() {
    let bitcode = bitcode_of(
        "#include <metal_stdlib>
         using namespace metal;
         constant int a [[function_constant(0)]];
         kernel void k(device int *x [[buffer(0)]]) { x[0] = is_function_constant_defined(a) ? 5 : a; }",
        "k",
    );
    assert_eq!(message(&bitcode, "k", &Constants::new()), "function constant not set: 'a' (index 0, int)");
    let set = specialize(&bitcode, "k", Constants::new().set(0, ConstantValue::Int(1))).unwrap();
    assert!(body(&set).contains("store i32 5, "), "{}", body(&set));
}

#[test]
fn every_type() {
    use half::f16;
    let source = "#include <metal_stdlib>
         using namespace metal;
         enum class Mode : ushort { slow, fast };
         constant TYPE c [[function_constant(0)]];
         kernel void k(device TYPE *x [[buffer(0)]]) { x[0] = c; }";
    let vector = |value: ConstantValue, length: usize| ConstantValue::Vector(vec![value; length]);
    let cases = [
        ("char", ConstantValue::Char(-2), "store i8 -2"),
        ("uchar", ConstantValue::Uchar(200), "store i8 -56"),
        ("short", ConstantValue::Short(-300), "store i16 -300"),
        ("ushort", ConstantValue::Ushort(65535), "store i16 -1"),
        ("Mode", ConstantValue::Ushort(1), "store i16 1"),
        ("uint", ConstantValue::Uint(u32::MAX), "store i32 -1"),
        ("long", ConstantValue::Long(i64::MIN), "store i64 -9223372036854775808"),
        ("ulong", ConstantValue::Ulong(u64::MAX), "store i64 -1"),
        ("half", ConstantValue::Half(f16::from_f32(1.5)), "store half 0xH3E00"),
        ("float", ConstantValue::Float(0.5), "store float 5.000000e-01"),
        ("float4", vector(ConstantValue::Float(0.5), 4), "store <4 x float> splat (float 5.000000e-01)"),
        ("uint3", vector(ConstantValue::Uint(7), 3), "store <3 x i32> splat (i32 7)"),
        ("bool2", vector(ConstantValue::Bool(true), 2), "store <2 x i8> splat (i8 1)"),
        ("bool", ConstantValue::Bool(true), "store i8 1"),
    ];
    for (ty, value, expected) in cases {
        let bitcode = bitcode_of(&source.replace("TYPE", ty), "k");
        let found = specialize(&bitcode, "k", Constants::new().set(0, value));
        let body = body(&found.unwrap_or_else(|error| panic!("{ty}: {error}")));
        assert!(body.contains(expected), "{ty}: {expected}\n{body}");
    }
}

#[test]
fn threadgroup_memory_is_what_is_left_in_the_code() {
    let bitcode = bitcode_of(
        "#include <metal_stdlib>
         using namespace metal;
         constant bool wide [[function_constant(0)]];
         kernel void k(device int *x [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
             threadgroup int flag;
             threadgroup int pair[2];
             threadgroup int tile[64];
             if (i == 0) { flag = 3; pair[0] = x[0]; pair[1] = x[1]; }
             if (wide) tile[i] = x[i];
             threadgroup_barrier(mem_flags::mem_threadgroup);
             x[i] = flag + pair[0] + pair[1] + (wide ? tile[63 - i] : 0);
         }",
        "k",
    );
    for (wide, expected) in
        [(true, vec![("flag", 4), ("pair", 8), ("tile", 256)]), (false, vec![("flag", 4), ("pair", 8)])]
    {
        let found = specialize(&bitcode, "k", Constants::new().set(0, ConstantValue::Bool(wide))).unwrap();
        let variables = found.reflection.threadgroup_memory.iter();
        let variables: Vec<_> = variables.map(|variable| (variable.name.as_str(), variable.size)).collect();
        assert_eq!(variables, expected);
        assert_eq!(found.reflection.static_threadgroup_memory, if wide { 268 } else { 12 });
    }
}

/// Sets all constants of a function of Apple's to a value that depends on nothing but its type.
fn with_all(library: &Library, name: &str, flags: bool, number: i32) -> Result<Specialized, Error> {
    let function = library.function(name).unwrap_or_else(|| panic!("no '{name}'"));
    let mut constants = Constants::new();
    for constant in &function.constants {
        let is_bool = Some(constant.data_type) == crate::metallib::data_type("bool");
        let value = if is_bool { ConstantValue::Bool(flags) } else { ConstantValue::Int(number) };
        constants.set(constant.index.into(), value);
    }
    specialize(function.bitcode().unwrap(), name, &constants)
}

#[test]
#[ignore = "needs mlx.metallib in the corpus (scripts/corpus.sh)"]
fn apples_kernels_are_specialized() {
    let file = apple_library();
    let library = Library::parse(&file).unwrap();
    let mut specialized = 0;
    let with_constants = library.functions().iter().filter(|function| !function.constants.is_empty());
    for function in with_constants.step_by(7) {
        for flags in [false, true] {
            let found = with_all(&library, function.name(), flags, 4);
            let found = found.unwrap_or_else(|error| panic!("{}: {error}", function.name()));
            let text = found.text().unwrap();
            for gone in [" section \"air.fc_initializer\"", "fc_pred", "_GLOBAL__sub_I", "@llvm.global_ctors"] {
                assert!(!text.contains(gone), "{gone} in {}", function.name());
            }
            specialized += 1;
        }
        let error =
            specialize(function.bitcode().unwrap(), function.name(), &Constants::new()).expect_err("not set");
        let Error::Missing(missing) = error else { panic!("{}: {error}", function.name()) };
        assert_eq!(missing.len(), function.constants.len(), "{}", function.name());
    }
    assert!(specialized > 200, "only {specialized}");

    let name = "steel_gemm_fused_nt_float32_float32_bm64_bn64_bk16_wm2_wn2";
    let arguments = |flags| with_all(&library, name, flags, 0).unwrap().reflection.arguments.len();
    assert_eq!((arguments(false), arguments(true)), (4, 8));
}
