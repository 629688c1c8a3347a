//! A kernel with a constant, its pipeline states, and their execution.

use metalworks_compute::{
    BinaryArchive, CompileOptions, ComputePipelineDescriptor, ComputePipelineState, ConstantValue, Device,
    FolderOptions, FunctionConstantValues, FunctionDescriptor, Library, Size,
};
use std::path::{Path, PathBuf};

pub(crate) const SOURCE: &str = "
#include <metal_stdlib>
constant uint FACTOR [[function_constant(0)]];
kernel void scale(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= FACTOR; }
";

pub(crate) fn device() -> Device {
    Device::cpu().expect("a CPU")
}

pub(crate) fn factor(value: u32) -> FunctionConstantValues {
    let mut constants = FunctionConstantValues::new();
    constants.set_named("FACTOR", ConstantValue::Uint(value));
    constants
}

pub(crate) fn pipeline(
    library: &Library,
    constants: &FunctionConstantValues,
    descriptor: &ComputePipelineDescriptor,
) -> metalworks_compute::Result<ComputePipelineState> {
    let function = FunctionDescriptor { library, name: "scale", constants };
    device().new_compute_pipeline_state_with_function_descriptor(&function, descriptor)
}

/// Runs a pipeline state on 0, 1, 2, … and returns the results.
pub(crate) fn run(pipeline: &ComputePipelineState, threads_per_threadgroup: usize) -> Vec<u32> {
    let device = device();
    let numbers: Vec<u32> = (0..64).collect();
    let buffer = device.new_buffer_with_bytes(bytemuck::cast_slice(&numbers)).expect("a buffer");
    let commands = device.new_command_queue().new_command_buffer();
    let mut encoder = commands.compute_command_encoder().expect("an encoder");
    encoder.set_compute_pipeline_state(pipeline).expect("a pipeline state");
    encoder.set_buffer(0, &buffer, 0).expect("a binding");
    encoder.dispatch_threads(Size::linear(64), Size::linear(threads_per_threadgroup)).expect("a dispatch");
    encoder.end_encoding().expect("an end");
    commands.commit().expect("a commit");
    commands.wait_until_completed().expect("it runs");
    buffer.read()
}

pub(crate) fn times(factor: u32) -> Vec<u32> {
    (0..64).map(|i| i * factor).collect()
}

/// A library with the kernel that is parsed on first use.
pub(crate) fn library() -> Library {
    device().new_library_with_checked_source(SOURCE, &CompileOptions::default())
}

/// A descriptor with one archive.
pub(crate) fn with(archive: &BinaryArchive) -> ComputePipelineDescriptor {
    ComputePipelineDescriptor { binary_archives: vec![archive.clone()], ..Default::default() }
}

/// A descriptor with one archive that forbids compiling.
pub(crate) fn only(archive: &BinaryArchive) -> ComputePipelineDescriptor {
    ComputePipelineDescriptor { fail_on_binary_archive_miss: true, ..with(archive) }
}

/// A folder of a test, removed when it is dropped.
pub(crate) struct TestFolder(pub(crate) PathBuf);

impl TestFolder {
    pub(crate) fn new(name: &str) -> TestFolder {
        let path = std::env::temp_dir().join(format!("metalworks-archives-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("a folder for temporary files");
        TestFolder(path)
    }

    pub(crate) fn folder(&self) -> BinaryArchive {
        BinaryArchive::folder(self.0.join("folder"), FolderOptions::default())
    }

    /// Files in the folder.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let list = |folder: &Path| -> Vec<PathBuf> {
            std::fs::read_dir(folder).into_iter().flatten().map(|item| item.expect("it is ours").path()).collect()
        };
        list(&self.0.join("folder")).iter().flat_map(|folder| list(folder)).collect()
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
