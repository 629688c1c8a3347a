//! Devices with the kernels of these tests.

use crate::toy::{Toy, ToyOptions};
use metalworks_compute::{
    Buffer, CommandBuffer, CommandQueue, CompileOptions, ComputeCommandEncoder, ComputePipelineDescriptor,
    ComputePipelineState, ConstantValue, Device, DispatchType, FunctionConstantValues, FunctionDescriptor, Library,
    Result,
};

pub(crate) const SOURCE: &str = include_str!("kernels.metal");

/// A toy for one test, so that its counts are exact.
pub(crate) fn toy() -> Toy {
    Toy::new(&ToyOptions::default()).expect("a toy")
}

/// A device and its library.
pub(crate) struct Fixture {
    pub(crate) device: Device,
    pub(crate) queue: CommandQueue,
    pub(crate) library: Library,
}

impl Fixture {
    pub(crate) fn new(device: &Device) -> Fixture {
        // Independent of the environment.
        device.set_serial(false);
        let library = device.new_library_with_checked_source(SOURCE, &CompileOptions::default());
        Fixture { device: device.clone(), queue: device.new_command_queue(), library }
    }

    pub(crate) fn function<'a>(
        &'a self,
        name: &'a str,
        constants: &'a FunctionConstantValues,
    ) -> FunctionDescriptor<'a> {
        FunctionDescriptor { library: &self.library, name, constants }
    }

    pub(crate) fn try_pipeline(
        &self,
        name: &str,
        constants: &FunctionConstantValues,
        descriptor: &ComputePipelineDescriptor,
    ) -> Result<ComputePipelineState> {
        let function = self.function(name, constants);
        self.device.new_compute_pipeline_state_with_function_descriptor(&function, descriptor)
    }

    pub(crate) fn pipeline(&self, name: &str) -> ComputePipelineState {
        let pipeline =
            self.try_pipeline(name, &FunctionConstantValues::new(), &ComputePipelineDescriptor::default());
        pipeline.unwrap_or_else(|error| panic!("{error}"))
    }

    pub(crate) fn buffer(&self, numbers: &[u32]) -> Buffer {
        self.device.new_buffer_with_bytes(bytemuck::cast_slice(numbers)).expect("memory")
    }

    /// A command buffer with one encoder.
    pub(crate) fn encode(
        &self,
        dispatch_type: DispatchType,
        encode: impl FnOnce(&mut ComputeCommandEncoder) -> Result<()>,
    ) -> CommandBuffer {
        let commands = self.queue.new_command_buffer();
        let encoder = commands.compute_command_encoder_with_dispatch_type(dispatch_type);
        let mut encoder = encoder.expect("an encoder");
        encode(&mut encoder).and_then(|()| encoder.end_encoding()).unwrap_or_else(|error| panic!("{error}"));
        commands
    }
}

pub(crate) fn factor(value: u32) -> FunctionConstantValues {
    let mut constants = FunctionConstantValues::new();
    constants.set_named("FACTOR", ConstantValue::Uint(value));
    constants
}

/// Pseudo-random numbers, the same in each run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }
}
