//! Errors in shaders fail the build.

use crate::{TWICE, folders, library};
use std::fs;

/// The error message for one invalid shader.
fn rejected(test: &str, shader: &str) -> String {
    let folders = folders(test);
    fs::write(folders.shaders.join("wrong.metal"), shader).unwrap();
    library::build(&folders, None).expect_err("it must be rejected")
}

#[test]
fn errors_have_a_caret() {
    let folders = folders("caret");
    fs::write(folders.shaders.join("right.metal"), TWICE).unwrap();
    fs::write(folders.shaders.join("wrong.metal"), TWICE.replace("x[i] *=", "x[j] *=")).unwrap();
    let message = library::build(&folders, None).expect_err("j is not declared");
    let location =
        format!("{}:4:86: error: use of undeclared identifier 'j'", folders.shaders.join("wrong.metal").display());
    assert!(message.contains(&location), "{message}");
    let caret = message.lines().find(|line| line.trim() == "^").expect("a line with the caret");
    assert_eq!(caret.len(), 86, "{message}");
    assert!(!folders.out.join("kernels.rs").exists(), "nothing is generated from a library with a mistake");
}

#[test]
fn checks_all_shaders_and_shows_an_error_in_an_include_once() {
    let folders = folders("all");
    fs::write(folders.include.join("shared.metal"), "int shared_number() { return missing; }\n").unwrap();
    for name in ["a", "b"] {
        fs::write(folders.shaders.join(format!("{name}.metal")), format!("#include \"shared.metal\"\n{TWICE}"))
            .unwrap();
    }
    fs::write(folders.shaders.join("c.metal"), TWICE.replace("T(2)", "T(two)")).unwrap();
    let message = library::build(&folders, None).expect_err("two mistakes");
    assert_eq!(message.matches("'missing'").count(), 1, "{message}");
    assert_eq!(message.matches("'two'").count(), 1, "{message}");
}

#[test]
fn host_names_are_unique() {
    let folders = folders("unique");
    fs::write(folders.shaders.join("a.metal"), TWICE).unwrap();
    fs::write(folders.shaders.join("b.metal"), TWICE).unwrap();
    let message = library::build(&folders, None).expect_err("the names are used twice");
    assert!(message.contains("another kernel has the host name 'twice_f32'"), "{message}");
    assert!(message.contains("a.metal:5: note: it is here"), "{message}");
}

#[test]
fn rejects_arguments_that_cannot_be_bound() {
    let memory =
        "kernel void k(device float* x [[buffer(0)]], threadgroup float* t [[threadgroup(0)]]) { x[0] = t[0]; }";
    assert!(rejected("memory", memory).contains("the argument 't' of 'k' is no buffer"));
    let vector = "constant float2 C [[function_constant(0)]];
        kernel void k(device float* x [[buffer(0)]]) { x[0] = C.x; }";
    assert!(rejected("vector", vector).contains("the function constant 'C' of 'k' has the type 'float2'"));
    let flag = "struct P { bool flag; };
        kernel void k(device float* x [[buffer(0)]], constant P& p [[buffer(1)]]) { x[0] = p.flag ? 1 : 0; }";
    assert!(rejected("flag", flag).contains("the field 'flag' of 'P' has the type 'bool'"));
    let nothing = "kernel void k(constant uint& n [[buffer(0)]]) {}";
    assert!(rejected("nothing", nothing).contains("'k' has no buffer"));
}

#[test]
fn instantiations_agree_about_constants() {
    let different = "constant uint A [[function_constant(0)]];
        template <typename T> struct Traits { static uint get() { return A; } };
        template <> struct Traits<int> { static uint get() { return 0; } };
        template <typename T> kernel void k(device T* x [[buffer(0)]]) { x[0] = T(Traits<T>::get()); }
        template [[host_name(\"k_float\")]] kernel void k<float>(device float*);
        template [[host_name(\"k_int\")]] kernel void k<int>(device int*);";
    let message = rejected("constants", different);
    assert!(message.contains("'k_float' and 'k_int'") && message.contains("A against none"), "{message}");
}

#[test]
fn a_function_constant_means_the_same_in_all_shaders() {
    let folders = folders("meanings");
    let shader = |name: &str, constant: &str, index: u32, ty: &str| {
        let kernel = format!("kernel void {name}(device float* x [[buffer(0)]]) {{ x[0] = float({constant}); }}");
        format!("constant {ty} {constant} [[function_constant({index})]];\n{kernel}\n")
    };
    fs::write(folders.shaders.join("a.metal"), shader("a", "DIM", 0, "uint")).unwrap();
    fs::write(folders.shaders.join("b.metal"), shader("b", "ROWS", 0, "uint")).unwrap();
    let message = library::build(&folders, None).expect_err("0 is DIM and ROWS");
    let expected = "b.metal: function constant 0 is 'ROWS', but 'DIM' in a.metal: an index means the same in all shaders; the \
                    first free one is 1";
    assert!(message.contains(expected), "{message}");
    fs::write(folders.shaders.join("b.metal"), shader("b", "DIM", 3, "int")).unwrap();
    let message = library::build(&folders, None).expect_err("DIM is 0 and 3");
    assert!(
        message.contains("b.metal: 'DIM' is the function constant 3 (int), but 0 (uint) in a.metal"),
        "{message}"
    );
    fs::write(folders.shaders.join("b.metal"), shader("b", "DIM", 0, "uint")).unwrap();
    assert!(library::build(&folders, None).is_ok(), "the same constant in two shaders");
}
