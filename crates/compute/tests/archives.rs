//! Pipeline states from archives.
#![cfg(feature = "compiler")]

use compute::{
    BinaryArchive, CompileOptions, ComputePipelineDescriptor, ConstantValue, Device, Error, FunctionConstantValues,
    FunctionDescriptor, Library, PipelineOrigin, Size,
};

const SOURCE: &str = "
#include <metal_stdlib>
constant uint FACTOR [[function_constant(0)]];
kernel void scale(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= FACTOR; }
";

fn device() -> Device {
    Device::cpu().expect("a processor")
}

fn factor(value: u32) -> FunctionConstantValues {
    let mut constants = FunctionConstantValues::new();
    constants.set_named("FACTOR", ConstantValue::Uint(value));
    constants
}

fn pipeline(
    library: &Library,
    constants: &FunctionConstantValues,
    descriptor: &ComputePipelineDescriptor,
) -> compute::Result<compute::ComputePipelineState> {
    let function = FunctionDescriptor { library, name: "scale", constants };
    device().new_compute_pipeline_state_with_function_descriptor(&function, descriptor)
}

/// What becomes of 0, 1, 2, … when a pipeline state is run on it.
fn run(pipeline: &compute::ComputePipelineState, threads_per_threadgroup: usize) -> Vec<u32> {
    let device = device();
    let numbers: Vec<u32> = (0..70).collect();
    let buffer = device.new_buffer_with_bytes(bytemuck::cast_slice(&numbers)).expect("a buffer");
    let commands = device.new_command_queue().new_command_buffer();
    let mut encoder = commands.compute_command_encoder().expect("an encoder");
    encoder.set_compute_pipeline_state(pipeline).expect("a pipeline state");
    encoder.set_buffer(0, &buffer, 0).expect("a binding");
    encoder.dispatch_threads(Size::linear(70), Size::linear(threads_per_threadgroup)).expect("a dispatch");
    encoder.end_encoding().expect("an end");
    commands.commit().expect("a commit");
    commands.wait_until_completed().expect("it runs");
    buffer.read()
}

fn times(factor: u32) -> Vec<u32> {
    (0..70).map(|i| i * factor).collect()
}

#[test]
fn what_was_compiled_once_comes_from_the_archive() {
    let archive = BinaryArchive::new();
    let descriptor = ComputePipelineDescriptor { binary_archives: vec![archive.clone()], ..Default::default() };
    let library = device().new_library_with_checked_source(SOURCE, &CompileOptions::default());
    let first = pipeline(&library, &factor(3), &descriptor).expect("it compiles");
    assert_eq!(first.origin(), PipelineOrigin::Compiled);
    assert_eq!(run(&first, 32), times(3));
    assert!(first.code_size() > 0);
    let len = archive.len();
    assert!(len >= 1 && archive.size() > 0);

    let second = pipeline(&library, &factor(3), &descriptor).expect("it is there");
    assert_eq!(second.origin(), PipelineOrigin::Archive);
    assert_eq!(second.reflection(), first.reflection());
    assert_eq!(run(&second, 32), times(3));
    assert_eq!(archive.len(), len);
    let other = pipeline(&library, &factor(4), &descriptor).expect("it compiles");
    assert_eq!(other.origin(), PipelineOrigin::Compiled);
    assert_eq!(run(&other, 32), times(4));
}

#[test]
fn code_that_is_needed_later_is_kept_too() {
    let archive = BinaryArchive::new();
    let descriptor = ComputePipelineDescriptor { binary_archives: vec![archive.clone()], ..Default::default() };
    let library = device().new_library_with_checked_source(SOURCE, &CompileOptions::default());
    let first = pipeline(&library, &factor(3), &descriptor).expect("it compiles");
    assert_eq!(archive.len(), 1);
    assert_eq!(run(&first, 24), times(3));
    assert_eq!(archive.len(), 2);
    let second = pipeline(&library, &factor(3), &descriptor).expect("it is there");
    assert_eq!(run(&second, 24), times(3));
    assert_eq!(second.origin(), PipelineOrigin::Archive);
}

#[test]
fn only_what_threadgroups_need_is_compiled() {
    let archive = BinaryArchive::new();
    let with = |threads| ComputePipelineDescriptor {
        binary_archives: vec![archive.clone()],
        threads_per_threadgroup: Some(Size::linear(threads)),
        ..Default::default()
    };
    let library = device().new_library_with_checked_source(SOURCE, &CompileOptions::default());
    for (threads, len) in [(16, 1), (64, 2), (40, 2)] {
        pipeline(&library, &factor(3), &with(threads)).expect("it compiles");
        assert_eq!(archive.len(), len, "{threads}");
    }
    let problem = pipeline(&library, &factor(3), &with(0)).expect_err("no threads");
    assert!(matches!(problem, Error::Usage(_)), "{problem}");
}

#[test]
fn a_miss_can_be_an_error() {
    let descriptor = ComputePipelineDescriptor {
        binary_archives: vec![BinaryArchive::new()],
        fail_on_binary_archive_miss: true,
        ..Default::default()
    };
    let library = device().new_library_with_checked_source(SOURCE, &CompileOptions::default());
    let problem = pipeline(&library, &factor(3), &descriptor).expect_err("it is not there").to_string();
    for part in ["'scale'", "FACTOR=uint:3", "full simdgroups", "an archive in memory"] {
        assert!(problem.contains(part), "{problem}");
    }
}

#[test]
fn mistakes_in_checked_source_come_with_the_pipeline_state() {
    let library = device().new_library_with_checked_source("kernel void scale( {", &CompileOptions::default());
    let problem = pipeline(&library, &factor(3), &ComputePipelineDescriptor::default()).expect_err("a mistake");
    assert!(matches!(problem, Error::Source { .. }), "{problem}");
    assert!(library.function_names().is_empty());
    let library = device().new_library_with_checked_source(SOURCE, &CompileOptions::default());
    assert_eq!(library.function_names(), ["scale"]);
}

#[test]
fn functions_and_their_descriptors_share_code() {
    let archive = BinaryArchive::new();
    let descriptor = ComputePipelineDescriptor { binary_archives: vec![archive.clone()], ..Default::default() };
    let eager = device().new_library_with_source(SOURCE, &CompileOptions::default()).expect("it has no mistakes");
    let function = eager.new_function("scale", &factor(3)).expect("a function");
    let first = device().new_compute_pipeline_state_with_descriptor(&function, &descriptor).expect("it compiles");
    assert_eq!(first.origin(), PipelineOrigin::Compiled);
    let checked = device().new_library_with_checked_source(SOURCE, &CompileOptions::default());
    let second = pipeline(&checked, &factor(3), &descriptor).expect("it is there");
    assert_eq!(second.origin(), PipelineOrigin::Archive);
}
