//! Where pipeline states come from.

use super::{CompiledKernel, ComputePipelineDescriptor, ComputePipelineState};
use crate::archive::key::Identity;
use crate::device::Device;
use crate::error::Result;
use crate::library::{Function, FunctionDescriptor};
use crate::recipe::Recipe;

impl Device {
    /// Compiles a function for this device.
    pub fn new_compute_pipeline_state(&self, function: &Function) -> Result<ComputePipelineState> {
        self.new_compute_pipeline_state_with_descriptor(function, &ComputePipelineDescriptor::default())
    }

    /// Compiles a function for this device, with what a descriptor says about it.
    pub fn new_compute_pipeline_state_with_descriptor(
        &self,
        function: &Function,
        descriptor: &ComputePipelineDescriptor,
    ) -> Result<ComputePipelineState> {
        let recipe = Recipe::with_function(function, descriptor);
        ComputePipelineState::with_recipe(self, recipe, descriptor)
    }

    /// Takes a kernel from the descriptor's archives, or compiles it. Where an archive has it, the library's source is not even
    /// read.
    pub fn new_compute_pipeline_state_with_function_descriptor(
        &self,
        function: &FunctionDescriptor,
        descriptor: &ComputePipelineDescriptor,
    ) -> Result<ComputePipelineState> {
        let recipe = Recipe::new(Identity::new(function), descriptor);
        ComputePipelineState::with_recipe(self, recipe, descriptor)
    }

    /// Takes a kernel that was compiled before.
    ///
    /// # Safety
    ///
    /// The machine code is run as it is: it must come from this version's code generator and keep to `abi::VERSION`.
    pub unsafe fn new_compute_pipeline_state_with_binary(
        &self,
        kernel: CompiledKernel,
        descriptor: &ComputePipelineDescriptor,
    ) -> Result<ComputePipelineState> {
        ComputePipelineState::with_binary(self, kernel, descriptor)
    }
}
