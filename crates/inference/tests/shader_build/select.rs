//! Generated selection of kernels by types.

use crate::{folders, library};
use std::fs;

/// Builds a library with a template in an include that two shaders instantiate; returns `kernels.rs`.
fn products(folders: &library::Folders) -> String {
    let include = "#ifndef P\n#define P\n#include <metal_stdlib>\nusing namespace metal;
        constant constexpr uint TILE = 4 * 8;
        struct q4_0 { static constant constexpr uint BLOCK = 32, BYTES = 18; };
        struct q8_0 { static constant constexpr uint BLOCK = 32, BYTES = 34; };
        template <typename T> struct Plain { static constant constexpr uint BLOCK = 32, BYTES = 32 * sizeof(T); };
        template <typename F, typename T>
        kernel void product(device const uchar* w [[buffer(0)]], device T* y [[buffer(1)]],
                            constant uint& n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
            y[i] = T(w[i % n] * F::BYTES + F::BLOCK);
        }\n#endif\n";
    let instance = |name: &str, types: &str| {
        format!(
            "template [[host_name(\"product_{name}\")]] [[kernel]] decltype(product<{types}>) product<{types}>;\n"
        )
    };
    let both = |name: &str, ty: &str| {
        instance(&format!("{name}_f32"), &format!("{ty}, float"))
            + &instance(&format!("{name}_f16"), &format!("{ty}, half"))
    };
    fs::write(folders.include.join("product.metal"), include).unwrap();
    let shader = |instances: String| format!("#include \"product.metal\"\n{instances}");
    fs::write(folders.shaders.join("quantized.metal"), shader(both("q4_0", "q4_0") + &both("q8_0", "q8_0")))
        .unwrap();
    fs::write(folders.shaders.join("plain.metal"), shader(both("f16", "Plain<half>"))).unwrap();
    library::build(folders, None).unwrap();
    fs::read_to_string(folders.out.join("kernels.rs")).unwrap()
}

#[test]
fn a_template_in_an_include_is_one_family_with_select() {
    let text = products(&folders("select"));
    assert_eq!(text.matches("pub struct ProductArgs<'a>").count(), 1, "{text}");
    let select = "pub const fn select(format: Format, activation: Activation) -> Kernel<Product> {";
    for expected in [
        "pub mod product {",
        select,
        "(Format::Q4_0, Activation::F32,) => PRODUCT_Q4_0_F32,",
        "(Format::F16, Activation::F16,) => PRODUCT_F16_F16,",
        "pub const TILE: usize = 32;",
        "pub const N_INDEX: usize = 2;",
        "(Format::Q8_0, 32, 34),",
        "(Format::F16, 32, 64),",
        "ArgumentInfo { name: \"y\", element_size: 2 }",
    ] {
        assert!(text.contains(expected), "no '{expected}' in\n{text}");
    }
}

#[test]
fn select_returns_an_option_if_combinations_are_missing() {
    let folders = folders("option");
    let rows = "template <typename W, typename T> kernel void rows(device const W* w [[buffer(0)]], device T* y [[buffer(1)]]) {
            y[0] = T(w[0]);
        }
        template [[host_name(\"rows_bf16_f32\")]] [[kernel]] decltype(rows<bfloat, float>) rows<bfloat, float>;
        struct Halve { static float of(float x) { return x / 2.0f; } };
        struct Square { static float of(float x) { return x * x; } };
        template <typename T, typename Function> kernel void apply(device T* x [[buffer(0)]]) { x[0] = T(Function::of(x[0])); }
        template [[host_name(\"halve\")]] [[kernel]] decltype(apply<float, Halve>) apply<float, Halve>;
        template [[host_name(\"square\")]] [[kernel]] decltype(apply<float, Square>) apply<float, Square>;\n";
    fs::write(folders.shaders.join("few.metal"), rows).unwrap();
    library::build(&folders, None).unwrap();
    let text = fs::read_to_string(folders.out.join("kernels.rs")).unwrap();
    for expected in [
        "pub const fn select(format: Format, activation: Activation) -> Option<Kernel<Rows>> {",
        "(Format::BF16, Activation::F32,) => Some(ROWS_BF16_F32),\n_ => None,",
        "pub enum ApplyFunction {",
        "(Activation::F32, ApplyFunction::Square,) => Some(SQUARE),",
    ] {
        assert!(text.contains(expected), "no '{expected}' in\n{text}");
    }
}
