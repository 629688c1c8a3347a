//! Metal's asynchronous creation: a completion handler is called when the pipeline is there.

use super::handler::Handler;
use super::obtain::guarded;
use super::{PipelineCache, PipelineConfig, threads};
use crate::archive::key::Identity;
use crate::device::{Backend, Device};
use crate::error::Result;
use crate::library::FunctionDescriptor;
use crate::pipeline::{ComputePipelineDescriptor, ComputePipelineState};
use crate::recipe::Recipe;

#[cfg(target_os = "macos")]
use crate::metal;

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
        let recipe = Recipe::new(Identity::new(function), &descriptor);
        let handler = Handler::new(completion_handler);
        threads::spawn(move || match device.backend() {
            Backend::Cpu(_) => {
                let made = guarded(|| ComputePipelineState::with_recipe(&device, recipe, &descriptor));
                handler.call(made);
            }
            #[cfg(target_os = "macos")]
            Backend::Metal(gpu) => {
                let validate = device.is_validating();
                metal::create_with_completion_handler(gpu, &recipe, &descriptor, validate, handler);
            }
        });
    }
}
