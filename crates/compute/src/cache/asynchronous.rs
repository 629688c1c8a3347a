//! Metal's asynchronous creation: a completion handler is called when the pipeline is there.

use super::{PipelineCache, PipelineConfig, threads};
use crate::error::Result;
use crate::pipeline::ComputePipelineState;

#[cfg(feature = "compiler")]
use {
    super::guarded,
    crate::{device::Device, library::Function, pipeline::ComputePipelineDescriptor},
};

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

#[cfg(feature = "compiler")]
impl Device {
    /// Compiles a function for this device on another thread and calls `completion_handler` there.
    pub fn new_compute_pipeline_state_async(
        &self,
        function: &Function,
        completion_handler: impl FnOnce(Result<ComputePipelineState>) + Send + 'static,
    ) {
        let descriptor = ComputePipelineDescriptor::default();
        self.new_compute_pipeline_state_with_descriptor_async(function, descriptor, completion_handler);
    }

    /// Compiles a function for this device on another thread, with what a descriptor says about it, and calls
    /// `completion_handler` there.
    pub fn new_compute_pipeline_state_with_descriptor_async(
        &self,
        function: &Function,
        descriptor: ComputePipelineDescriptor,
        completion_handler: impl FnOnce(Result<ComputePipelineState>) + Send + 'static,
    ) {
        let (device, function) = (self.clone(), function.clone());
        threads::spawn(move || {
            completion_handler(guarded(|| {
                device.new_compute_pipeline_state_with_descriptor(&function, &descriptor)
            }));
        });
    }
}
