//! Seeds that are made by the compiler.

use abi::Constants;
use compute::{BinaryArchive, ComputePipelineDescriptor, FunctionDescriptor};

const ADD_ARRAYS: &str = include_str!("../../../../examples/add_arrays.metal");

/// A kernel with a function constant, and a visible function.
const SEVERAL: &str = "#include <metal_stdlib>\nusing namespace metal;\nconstant int K [[function_constant(3)]];\n\
    [[visible]] float twice(float x) { return 2 * x; }\n\
    kernel void a(device float *x, uint i [[thread_position_in_grid]]) { x[i] += K; }\n\
    kernel void b(device float *x, threadgroup float *t [[threadgroup(0)]]) { x[0] = t[0]; }\n";

const EXPORTS: &str = "#include <metal_stdlib>\n[[visible]] float half_of(float x) { return x / 2; }\n\
    float thrice(float x) { return 3 * x; }\n";

fn check(source: &str) -> msl::Compilation {
    let compilation = msl::compile_source("fuzz.metal", source, &msl::Options::default());
    assert!(!compilation.has_errors(), "{}", compilation.render_diagnostics(false));
    compilation
}

fn library(source: &str) -> Vec<u8> {
    air::compile(air::ProgramSource::from(&check(source)), air::MathMode::Fast).expect("a library").library
}

/// Libraries: of one kernel, of several functions, and a dynamic one.
pub(crate) fn libraries() -> Vec<Vec<u8>> {
    let linked = ["@loader_path/other.metallib".to_owned()];
    let source = check(EXPORTS);
    let dynamic = air::compile_dynamic(&source, air::MathMode::Fast, "@rpath/fuzz.metallib", &linked);
    vec![library(ADD_ARRAYS), library(SEVERAL), dynamic.expect("a library")]
}

/// The bitcode of a kernel.
pub(crate) fn bitcode() -> Vec<Vec<u8>> {
    let library = library(ADD_ARRAYS);
    let parsed = air::metallib::Library::parse(&library).expect("we wrote it");
    vec![parsed.function("add_arrays").expect("it is there").bitcode().expect("its hash is right").to_vec()]
}

/// `.air` files.
pub(crate) fn objects() -> Vec<Vec<u8>> {
    let object = |source: &str| {
        let library = library(source);
        let parsed = air::metallib::Library::parse(&library).expect("we wrote it");
        air::write_object(parsed.functions()).expect("it can be written")
    };
    vec![object(ADD_ARRAYS), object(SEVERAL)]
}

/// An archive with machine code.
pub(crate) fn archives() -> Vec<Vec<u8>> {
    let device = compute::Device::cpu().expect("a CPU");
    let opened = device.new_library_with_source(ADD_ARRAYS, &Default::default()).expect("a library");
    let constants = Constants::new();
    let function = FunctionDescriptor { library: &opened, name: "add_arrays", constants: &constants };
    let archive = BinaryArchive::new();
    let descriptor = ComputePipelineDescriptor { binary_archives: vec![archive.clone()], ..Default::default() };
    device.new_compute_pipeline_state_with_function_descriptor(&function, &descriptor).expect("a pipeline");
    let path = super::targets::own("seed");
    archive.serialize(&path).expect("it can be written");
    let bytes = std::fs::read(&path).expect("it was written");
    let _ = std::fs::remove_file(&path);
    vec![bytes]
}
