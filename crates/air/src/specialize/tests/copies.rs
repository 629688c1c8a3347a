//! Function constants that the static initializer of a library copies.

use super::*;

fn library_bitcode(source: &str) -> Vec<u8> {
    let source = format!("#include <metal_stdlib>\nusing namespace metal;\n{source}");
    let compilation = msl::compile_source("k.metal", &source, &msl::Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    let entry = compilation.program.kernels().next().expect("a kernel");
    let function = crate::compile_kernel(&compilation.program, entry, MathMode::Fast).expect("it compiles");
    function.bitcode().expect("we wrote it").to_vec()
}

fn set(value: i32) -> Constants {
    let mut constants = Constants::new();
    constants.set(0, ConstantValue::Int(value));
    constants
}

#[test]
fn values_for_constants_of_other_functions() {
    let source = "constant int n [[function_constant(0)]]; constant int other [[function_constant(1)]];
                  kernel void k(device int *x) { x[0] = n; }
                  kernel void l(device int *x) { x[0] = other; }
                  [[visible]] int f(int x) { return x * n; }";
    let compilation = msl::compile_source("k.metal", source, &msl::Options::default());
    let mut constants = set(5);
    constants.set(1, ConstantValue::Int(6));
    // The module lists all constants of the program.
    let bitcode = library_bitcode(source);
    assert!(body(&specialize(&bitcode, "k", &constants).unwrap()).contains("store i32 5,"));
    constants.set(2, ConstantValue::Int(7));
    assert!(specialize(&bitcode, "k", &constants).is_err());
    // That of a visible function lists its own, as do all of Apple's compiler.
    let visible = crate::compile_visible(&compilation, &compilation.program.visible_functions[0], MathMode::Fast);
    let visible = visible.expect("it compiles");
    let bitcode = visible.bitcode().expect("we wrote it");
    assert!(crate::specialize_visible(bitcode, "f", &constants).is_ok());
    assert!(crate::specialize_visible(bitcode, "f", &Constants::new()).is_err());
}

#[test]
fn a_constant_that_is_not_set_and_not_read() {
    let bitcode = library_bitcode(
        "constant int n [[function_constant(0)]];
         constant bool has_n = is_function_constant_defined(n);
         constant int m = has_n ? n : 7;
         kernel void k(device int *x) { x[0] = m; }",
    );
    assert!(body(&specialize(&bitcode, "k", &Constants::new()).unwrap()).contains("store i32 7,"));
    assert!(body(&specialize(&bitcode, "k", &set(5)).unwrap()).contains("store i32 5,"));
}

#[test]
fn a_constant_that_is_not_set_and_read() {
    for read in ["n", "n + 1", "twice"] {
        let bitcode = library_bitcode(&format!(
            "constant int n [[function_constant(0)]];
             constant int twice = n * 2;
             kernel void k(device int *x) {{ x[0] = is_function_constant_defined(n) ? 1 : 2; x[1] = {read}; }}",
        ));
        let error = specialize(&bitcode, "k", &Constants::new()).expect_err("n is read");
        assert!(matches!(&error, Error::Missing(missing) if missing.len() == 1), "{read}: {error}");
        assert!(body(&specialize(&bitcode, "k", &set(5)).unwrap()).contains("store i32 1,"));
    }
}
