//! Metal's asynchronous creation: a completion handler is called when the pipeline is there.

use super::obtain::guarded;
use super::{PipelineCache, PipelineConfig, threads};
use crate::device::Device;
use crate::error::Result;
use crate::library::FunctionDescriptor;
use crate::pipeline::{ComputePipelineDescriptor, ComputePipelineState};

impl PipelineCache {
    /// Creates a pipeline on another thread and calls `completion_handler` there, also when the pipeline is there already.
    /// It may use the cache; one that panics harms nobody.
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
    /// Takes a kernel from the descriptor's archives, or compiles it, and calls `completion_handler` with what became of it:
    /// once, on another thread.
    pub fn new_compute_pipeline_state_with_completion_handler(
        &self,
        function: &FunctionDescriptor<'_>,
        descriptor: &ComputePipelineDescriptor,
        completion_handler: impl FnOnce(Result<ComputePipelineState>) + Send + 'static,
    ) {
        let (device, descriptor) = (self.clone(), descriptor.clone());
        let (library, name, constants) =
            (function.library.clone(), function.name.to_owned(), function.constants.clone());
        threads::spawn(move || {
            let function = FunctionDescriptor { library: &library, name: &name, constants: &constants };
            completion_handler(guarded(|| {
                device.new_compute_pipeline_state_with_function_descriptor(&function, &descriptor)
            }));
        });
    }
}
