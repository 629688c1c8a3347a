//! Dynamic libraries: kernels call functions of other libraries by name.

use metalworks_compute::{
    BinaryArchive, CompileOptions, ComputePipelineDescriptor, ComputePipelineState, Device, DynamicLibrary, Error,
    FunctionConstantValues, FunctionDescriptor, Library, LibraryType, PipelineOrigin, Result, Size,
};

const THREADS: usize = 40;

const KERNEL: &str = "#include <metal_stdlib>\nusing namespace metal;\n\
    struct Pair { float a, b; };\n\
    namespace util { extern float scale(float x); }\n\
    Pair swapped(Pair p);\n\
    void add(device float *x, uint i, threadgroup float *sums);\n\
    kernel void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]],\n\
                  uint l [[thread_index_in_threadgroup]]) {\n\
        threadgroup float sums[32];\n\
        sums[l] = util::scale(x[i]);\n\
        Pair p = swapped(Pair{x[i], 1.0f});\n\
        x[i] = p.a * 1000.0f + p.b;\n\
        add(x, i, sums);\n\
    }\n";

/// `factor` tells libraries apart.
fn functions(factor: u32) -> String {
    format!(
        "#include <metal_stdlib>\nusing namespace metal;\n\
         struct Pair {{ float a, b; }};\n\
         static float helper(float x) {{ return x * {factor}; }}\n\
         namespace util {{ float scale(float x) {{ return helper(x); }} }}\n\
         Pair swapped(Pair p) {{ return Pair{{p.b, p.a}}; }}\n\
         void add(device float *x, uint i, threadgroup float *sums) {{\n\
             threadgroup_barrier(mem_flags::mem_threadgroup);\n\
             x[i] += sums[(i + 1) % 8];\n\
         }}\n"
    )
}

fn device() -> Device {
    Device::cpu().expect("a device")
}

fn options(install_name: &str, libraries: &[&DynamicLibrary]) -> CompileOptions {
    CompileOptions {
        library_type: LibraryType::Dynamic,
        install_name: Some(install_name.into()),
        libraries: libraries.iter().map(|library| (*library).clone()).collect(),
        ..CompileOptions::default()
    }
}

fn dynamic(source: &str, install_name: &str, libraries: &[&DynamicLibrary]) -> DynamicLibrary {
    let library = device().new_library_with_source(source, &options(install_name, libraries)).expect("it compiles");
    device().new_dynamic_library(&library).expect("a dynamic library")
}

fn executable(source: &str, libraries: &[&DynamicLibrary]) -> Library {
    let libraries = libraries.iter().map(|library| (*library).clone()).collect();
    let options = CompileOptions { libraries, ..CompileOptions::default() };
    device().new_library_with_source(source, &options).expect("it compiles")
}

fn pipeline(library: &Library, preloaded: &[&DynamicLibrary]) -> Result<ComputePipelineState> {
    let function = library.new_function("k", &FunctionConstantValues::new())?;
    let preloaded_libraries = preloaded.iter().map(|library| (*library).clone()).collect();
    let descriptor = ComputePipelineDescriptor { preloaded_libraries, ..Default::default() };
    device().new_compute_pipeline_state_with_descriptor(&function, &descriptor)
}

/// The output for x = 0, 1, 2, …
fn run(pipeline: &ComputePipelineState) -> Vec<f32> {
    let device = device();
    let values: Vec<f32> = (0..THREADS).map(|i| i as f32).collect();
    let buffer = device.new_buffer_with_bytes(bytemuck::cast_slice(&values)).expect("a buffer");
    let commands = device.new_command_queue().new_command_buffer();
    let mut encoder = commands.compute_command_encoder().expect("an encoder");
    encoder.set_compute_pipeline_state(pipeline).expect("a pipeline");
    encoder.set_buffer(0, &buffer, 0).expect("it fits");
    let size = |width| Size { width, height: 1, depth: 1 };
    encoder.dispatch_threads(size(THREADS), size(8)).expect("it fits");
    encoder.end_encoding().expect("it is complete");
    commands.commit().expect("it is valid");
    commands.wait_until_completed().expect("it runs");
    buffer.read::<f32>()
}

fn expected(factor: u32) -> Vec<f32> {
    let neighbour = |i: usize| (i / 8 * 8 + (i + 1) % 8) as f32;
    (0..THREADS).map(|i| 1000.0 + i as f32 + neighbour(i) * factor as f32).collect()
}

#[test]
fn kernels_call_functions_of_preloaded_and_linked_libraries() {
    let (three, seven) = (dynamic(&functions(3), "three", &[]), dynamic(&functions(7), "seven", &[]));
    assert_eq!(three.install_name(), "three");
    assert_eq!(run(&pipeline(&executable(KERNEL, &[]), &[&three]).expect("a pipeline")), expected(3));
    assert_eq!(run(&pipeline(&executable(KERNEL, &[&seven]), &[]).expect("a pipeline")), expected(7));
    // The first that has a function counts, and preloaded ones come first.
    assert_eq!(run(&pipeline(&executable(KERNEL, &[&seven]), &[&three]).expect("a pipeline")), expected(3));
    assert_eq!(run(&pipeline(&executable(KERNEL, &[&seven, &three]), &[]).expect("a pipeline")), expected(7));
}

#[test]
fn libraries_are_serialized_and_opened() {
    let path = std::env::temp_dir().join(format!("metalworks-dynamic-{}.metallib", std::process::id()));
    dynamic(&functions(5), "@rpath/five.metallib", &[]).serialize_to_file(&path).expect("it can be written");
    let five = device().new_dynamic_library_with_file(&path).expect("it can be read");
    assert_eq!(five.install_name(), "@rpath/five.metallib");
    let kernels = executable(KERNEL, &[]);
    assert_eq!(run(&pipeline(&kernels, &[&five]).expect("a pipeline")), expected(5));
    std::fs::remove_file(&path).expect("it is ours");
}

#[test]
fn kernels_of_a_metallib_are_linked() {
    let compilation = msl::compile_source("test.metal", KERNEL, &msl::Options::default());
    let source = air::ProgramSource::from(&compilation).with_imports();
    let bytes = air::compile(source, air::MathMode::Fast).expect("a library");
    assert!(bytes.left_out.is_empty(), "{:?}", bytes.left_out);
    let library = device().new_library_with_data(bytes.library).expect("it opens");
    let three = dynamic(&functions(3), "three", &[]);
    assert_eq!(run(&pipeline(&library, &[&three]).expect("a pipeline")), expected(3));
    // Without a library to link with, such a kernel is left out.
    let bytes = air::compile(&compilation, air::MathMode::Fast).expect("a library");
    assert_eq!(bytes.left_out.len(), 1);
}

#[test]
fn libraries_call_functions_of_others() {
    let inner = dynamic("float twice(float x) { return x + x; }", "inner", &[]);
    let outer = "float twice(float x); float eight(float x) { return twice(twice(twice(x))); }";
    let kernel = "float eight(float x);\n\
                  kernel void k(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = eight(x[i]); }";
    let outer_with_inner = dynamic(outer, "outer", &[&inner]);
    let expected: Vec<f32> = (0..THREADS).map(|i| i as f32 * 8.0).collect();
    assert_eq!(run(&pipeline(&executable(kernel, &[&outer_with_inner]), &[]).expect("a pipeline")), expected);
    let outer = dynamic(outer, "outer", &[]);
    assert_eq!(run(&pipeline(&executable(kernel, &[&outer]), &[&inner]).expect("a pipeline")), expected);
    let error = pipeline(&executable(kernel, &[&outer]), &[]).expect_err("nothing defines it").to_string();
    assert!(error.contains("undefined symbol: 'twice' (_Z5twicef)"), "{error}");
}

#[test]
fn undefined_symbols_are_named() {
    let part = dynamic("namespace util { float scale(float x) { return x; } }", "part", &[]);
    let error = pipeline(&executable(KERNEL, &[&part]), &[]).expect_err("two functions are missing");
    let Error::Usage(error) = error else { panic!("{error}") };
    let expected = "kernel 'k': undefined symbols: 'add' (_Z3addPU9MTLdevicefjPU14MTLthreadgroupf), 'swapped' \
                    (_Z7swapped4Pair); no dynamic library defines them; its library was linked with part";
    assert_eq!(error, expected);
}

#[test]
fn a_function_with_another_result_is_refused() {
    let wrong = dynamic("int f(float x) { return 1; }", "wrong", &[]);
    let kernel = "float f(float x);\nkernel void k(device float *x [[buffer(0)]]) { *x = f(*x); }";
    let error = pipeline(&executable(kernel, &[&wrong]), &[]).expect_err("the types differ").to_string();
    assert!(error.contains("_Z1ff") && error.contains("defined as"), "{error}");
}

#[test]
fn only_dynamic_libraries_are_linked() {
    let error = device().new_dynamic_library(&executable(KERNEL, &[])).expect_err("an executable one");
    assert!(error.to_string().contains("executable"), "{error}");
    let no_name = CompileOptions { library_type: LibraryType::Dynamic, ..CompileOptions::default() };
    let error = device().new_library_with_source("float f() { return 1; }", &no_name).expect_err("it has no name");
    assert!(error.to_string().contains("install name"), "{error}");
}

#[test]
fn archives_tell_libraries_apart() {
    let archive = BinaryArchive::new();
    let kernels = executable(KERNEL, &[]);
    let create = |library: &DynamicLibrary| {
        let constants = FunctionConstantValues::new();
        let function = FunctionDescriptor { library: &kernels, name: "k", constants: &constants };
        let descriptor = ComputePipelineDescriptor {
            preloaded_libraries: vec![library.clone()],
            binary_archives: vec![archive.clone()],
            ..Default::default()
        };
        device().new_compute_pipeline_state_with_function_descriptor(&function, &descriptor).expect("a pipeline")
    };
    for (factor, origin) in
        [(3, PipelineOrigin::Compiled), (7, PipelineOrigin::Compiled), (3, PipelineOrigin::Archive)]
    {
        let pipeline = create(&dynamic(&functions(factor), "same name", &[]));
        assert_eq!(pipeline.origin(), origin, "{factor}");
        assert_eq!(run(&pipeline), expected(factor));
    }
    assert!(!archive.is_empty());
}
