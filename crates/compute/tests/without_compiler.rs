//! A program without a compiler runs code compiled by another: `make without-compiler` compiles it first.
#![cfg(not(llvm))]

use metalworks_compute::{
    BinaryArchive, CompileOptions, ComputePipelineDescriptor, ComputePipelineState, Device, Error, FolderOptions,
    FunctionConstantValues, FunctionDescriptor, PipelineOrigin, Size,
};
use std::path::{Path, PathBuf};

/// The archives: `add.mwarchive`, `v3.mwarchive`, and the folder `pipelines`.
fn archives() -> PathBuf {
    std::env::var_os("METALWORKS_TEST_ARCHIVES").expect("run make without-compiler").into()
}

fn source() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/add_arrays.metal");
    std::fs::read_to_string(path).expect("the example is there")
}

fn pipeline(name: &str, archives: Vec<BinaryArchive>) -> metalworks_compute::Result<ComputePipelineState> {
    let device = Device::cpu().expect("a CPU");
    let library = device.new_library_with_checked_source(source(), &CompileOptions::default());
    let constants = FunctionConstantValues::new();
    let function = FunctionDescriptor { library: &library, name, constants: &constants };
    let descriptor = ComputePipelineDescriptor { binary_archives: archives, ..Default::default() };
    device.new_compute_pipeline_state_with_function_descriptor(&function, &descriptor)
}

/// Adds 0, 1, 2, … and 0.5, and checks the result.
fn check(pipeline: &ComputePipelineState, threads_per_threadgroup: usize) {
    let device = Device::cpu().expect("a CPU");
    let a: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let b = vec![0.5f32; a.len()];
    let buffers = [&a, &b, &vec![0.0; a.len()]]
        .map(|numbers| device.new_buffer_with_bytes(bytemuck::cast_slice(numbers)).expect("a buffer"));
    let commands = device.new_command_queue().new_command_buffer();
    let mut encoder = commands.compute_command_encoder().expect("an encoder");
    encoder.set_compute_pipeline_state(pipeline).expect("a pipeline state");
    for (index, buffer) in buffers.iter().enumerate() {
        encoder.set_buffer(index, buffer, 0).expect("a binding");
    }
    let sizes = (Size::linear(a.len()), Size::linear(threads_per_threadgroup));
    encoder.dispatch_threads(sizes.0, sizes.1).expect("a dispatch");
    encoder.end_encoding().expect("an end");
    commands.commit().expect("a commit");
    commands.wait_until_completed().expect("it runs");
    let expected: Vec<f32> = a.iter().map(|a| a + 0.5).collect();
    assert_eq!(buffers[2].read::<f32>(), expected);
}

#[test]
#[ignore = "make without-compiler"]
fn kernels_come_from_portable_files() {
    for name in ["add.mwarchive", "v3.mwarchive"] {
        let archive = BinaryArchive::open(archives().join(name)).expect("it is one");
        let pipeline = pipeline("add_arrays", vec![archive]).expect("it is there");
        check(&pipeline, 256);
        check(&pipeline, 24);
        assert_eq!(pipeline.origin(), PipelineOrigin::Archive);
        assert_eq!(pipeline.reflection().arguments.len(), 3);
    }
}

#[test]
#[ignore = "make without-compiler"]
fn kernels_come_from_a_folder_that_a_compiler_filled() {
    let folder = BinaryArchive::folder(archives().join("pipelines"), FolderOptions::default());
    check(&pipeline("add_arrays", vec![folder]).expect("it is there"), 256);
}

#[test]
#[ignore = "make without-compiler"]
fn missing_code_is_an_error_with_advice() {
    let archive = BinaryArchive::open(archives().join("add.mwarchive")).expect("it is one");
    let problem = pipeline("add_array", vec![archive]).expect_err("there is no such kernel");
    assert!(matches!(problem, Error::NoFunction { similar: Some(_), .. }), "{problem}");
    let problem = pipeline("add_arrays", vec![BinaryArchive::new()]).expect_err("it is empty");
    assert!(matches!(problem, Error::ArchiveMiss { .. }), "{problem}");
    for part in ["'add_arrays'", "an archive in memory", "no compiler", "metalworks compile --target"] {
        assert!(problem.to_string().contains(part), "{problem}");
    }
}
