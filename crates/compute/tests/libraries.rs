//! Libraries and functions, with and without a compiler in the program.

use metalworks_compute::{
    CompileOptions, ConstantValue, Device, Error, Function, FunctionConstantValues, FunctionDescriptor, Library,
    LibraryCompiler, LibraryOrigin, PrecompiledLibrary, Result,
};

const SOURCE: &str = "
    #include <metal_stdlib>
    using namespace metal;
    constant uint K [[function_constant(0)]];
    constant bool BIAS [[function_constant(1)]];
    constant uint OTHER [[function_constant(2)]];
    kernel void gemv(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                     device const float *bias [[buffer(2), function_constant(BIAS)]],
                     uint i [[thread_position_in_grid]]) {
        y[i] = x[i] * K + (BIAS ? bias[i] : 0.0f);
    }
    kernel void other(device uint *y [[buffer(0)]]) { *y = OTHER; }
    vertex float4 corner(uint i [[vertex_id]]) { return float4(i); }";

fn library() -> Result<Library> {
    // The `.metallib` cannot be opened: the source is used instead.
    let metallib = PrecompiledLibrary { data: b"not a library", compiler: LibraryCompiler::Metalworks };
    Ok(Device::cpu()?.new_library_with_metallib_or_source(Some(metallib), SOURCE, &CompileOptions::default()))
}

fn constants(bias: bool) -> FunctionConstantValues {
    let mut constants = FunctionConstantValues::new();
    constants.set_named("K", ConstantValue::Uint(3)).set(1, ConstantValue::Bool(bias));
    // A constant of another kernel may be set, too.
    constants.set_named("OTHER", ConstantValue::Uint(0));
    constants
}

fn arguments(function: &Function) -> Vec<&str> {
    function.reflection().arguments.iter().map(|argument| argument.name.as_str()).collect()
}

#[test]
fn functions_have_the_arguments_that_the_host_binds() -> Result<()> {
    let library = library()?;
    assert_eq!(library.origin(), LibraryOrigin::Source);
    assert_eq!(library.function_names(), ["gemv", "other"]);
    for (bias, expected) in [(true, &["x", "y", "bias"][..]), (false, &["x", "y"])] {
        let function = library.new_function("gemv", &constants(bias))?;
        assert_eq!((function.name(), arguments(&function)), ("gemv", expected.to_vec()));
        assert_eq!(library.reflection("gemv", &constants(bias))?, *function.reflection());
    }
    Ok(())
}

#[test]
fn errors_are_the_same_with_and_without_a_compiler() -> Result<()> {
    let library = library()?;
    let none = FunctionConstantValues::new();
    let problem = |name: &str, constants: &FunctionConstantValues| {
        let function = library.new_function(name, constants).expect_err("it is wrong");
        assert_eq!(library.reflection(name, constants).expect_err("it is wrong"), function);
        function.to_string()
    };
    assert_eq!(problem("Gemv", &none), "the library has no kernel 'Gemv'; did you mean 'gemv'?");
    assert_eq!(problem("softmax", &none), "the library has no kernel 'softmax'");
    assert_eq!(
        problem("gemv", &none),
        "function constants of kernel 'gemv': function constants not set: 'K' (index 0, uint), 'BIAS' (index 1, bool)"
    );
    let mut wrong = constants(true);
    wrong.set_named("BIAS", ConstantValue::Int(1));
    assert_eq!(
        problem("gemv", &wrong),
        "function constants of kernel 'gemv': function constant 'BIAS' (index 1) is a bool, and its value is a int"
    );
    let mut unknown = constants(true);
    unknown.set(9, ConstantValue::Bool(true));
    assert_eq!(
        problem("gemv", &unknown),
        "function constants of kernel 'gemv': there is no function constant with index 9; there is 'K' (index 0, \
         uint), 'BIAS' (index 1, bool), 'OTHER' (index 2, uint)"
    );
    Ok(())
}

#[test]
fn an_error_in_a_checked_source_is_reported_by_the_first_kernel() -> Result<()> {
    let device = Device::cpu()?;
    let library = device.new_library_with_checked_source("kernel void k() { x; }", &CompileOptions::default());
    assert_eq!(library.function_names(), [""; 0]);
    let constants = FunctionConstantValues::new();
    let function = FunctionDescriptor { library: &library, name: "k", constants: &constants };
    for error in [
        library.new_function("k", &constants).expect_err("it has a mistake"),
        library.reflection("k", &constants).expect_err("it has a mistake"),
        device
            .new_compute_pipeline_state_with_function_descriptor(&function, &Default::default())
            .expect_err("it has a mistake"),
    ] {
        assert!(matches!(error, Error::Source { errors: 1, .. }), "{error}");
    }
    Ok(())
}

#[cfg(not(llvm))]
#[test]
fn a_metallib_for_the_cpu_needs_a_compiler() -> Result<()> {
    let problem = Device::cpu()?.new_library_with_data(vec![0; 4]).expect_err("there is no compiler");
    assert!(problem.to_string().contains("the feature 'compiler'"), "{problem}");
    let function = library()?.new_function("gemv", &constants(true))?;
    let problem = Device::cpu()?.new_compute_pipeline_state(&function).expect_err("there is no compiler");
    assert!(matches!(problem, Error::ArchiveMiss { .. }), "{problem}");
    Ok(())
}
