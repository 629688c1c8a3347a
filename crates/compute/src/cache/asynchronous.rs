//! Asynchronous creation of pipelines, with completion handlers as in Metal.

use super::{PipelineCache, PipelineConfig, threads};
use crate::backend::Handler;
use crate::device::Device;
use crate::error::Result;
use crate::library::{FunctionDescriptor, Library};
use crate::pipeline::{ComputePipelineDescriptor, ComputePipelineState};
use abi::Constants;

impl PipelineCache {
    /// Creates a pipeline on another thread and calls `completion_handler` there, even if the pipeline already exists.
    /// The handler may use the cache. Panics in it are caught.
    pub fn create_async(
        &self,
        config: PipelineConfig,
        completion_handler: impl FnOnce(Result<ComputePipelineState>) + Send + 'static,
    ) {
        let shared = self.shared.clone();
        threads::spawn(move || completion_handler(shared.declared(&config)));
    }
}

impl Device {
    /// Takes a kernel from the descriptor's archives, or compiles it, and calls `completion_handler` once with the
    /// result, on another thread.
    pub fn new_compute_pipeline_state_with_completion_handler(
        &self,
        function: &FunctionDescriptor<'_>,
        descriptor: &ComputePipelineDescriptor,
        completion_handler: impl FnOnce(Result<ComputePipelineState>) + Send + 'static,
    ) {
        let (device, descriptor) = (self.clone(), descriptor.clone());
        let (library, name, constants): (Library, String, Constants) =
            (function.library.clone(), function.name.into(), function.constants.clone());
        // A handler that is dropped uncalled, as by a panic in the compiler, is called with an error.
        let handler = Handler::new(completion_handler);
        threads::spawn(move || {
            let function = FunctionDescriptor { library: &library, name: &name, constants: &constants };
            device.create_with_handler(&function, &descriptor, handler);
        });
    }
}
