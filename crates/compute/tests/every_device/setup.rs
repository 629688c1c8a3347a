//! A device with its kernels.

use metalworks_compute::{
    Buffer, CommandBuffer, CommandBufferDescriptor, CommandQueue, CompileOptions, ComputeCommandEncoder,
    ComputePipelineDescriptor, ComputePipelineState, Device, Error, FunctionConstantValues, FunctionDescriptor,
    Library, Result, Size,
};

const SOURCE: &str = include_str!("kernels.metal");

pub(crate) struct Setup {
    pub(crate) device: Device,
    pub(crate) queue: CommandQueue,
    library: Library,
}

/// Runs a test on each device.
pub(crate) fn on_every_device(test: impl Fn(&Setup)) {
    let setups: Vec<Setup> = crate::devices().into_iter().map(Setup::new).collect();
    assert!(!setups.is_empty(), "there is no device to test");
    setups.iter().for_each(test);
}

impl Setup {
    fn new(device: Device) -> Setup {
        let library = device.new_library_with_source(SOURCE, &CompileOptions::default());
        let library = library.unwrap_or_else(|error| panic!("{}: {error}", device.name()));
        Setup { queue: device.new_command_queue(), library, device }
    }

    pub(crate) fn pipeline(&self, name: &str) -> ComputePipelineState {
        self.pipeline_with(name, &FunctionConstantValues::new(), ComputePipelineDescriptor::default())
    }

    pub(crate) fn pipeline_with(
        &self,
        name: &str,
        constants: &FunctionConstantValues,
        descriptor: ComputePipelineDescriptor,
    ) -> ComputePipelineState {
        let function = FunctionDescriptor { library: &self.library, name, constants };
        let descriptor = ComputePipelineDescriptor { label: Some(format!("the {name}")), ..descriptor };
        let pipeline = self.device.new_compute_pipeline_state_with_function_descriptor(&function, &descriptor);
        pipeline.unwrap_or_else(|error| panic!("{}: {error}", self.device.name()))
    }

    /// A shared buffer with these numbers.
    pub(crate) fn buffer(&self, numbers: &[u32]) -> Buffer {
        self.device.new_buffer_with_bytes(bytemuck::cast_slice(numbers)).expect("memory")
    }

    pub(crate) fn profiled(&self) -> CommandBuffer {
        let descriptor = CommandBufferDescriptor { label: Some("profiled".into()), profiling: true };
        self.queue.new_command_buffer_with_descriptor(&descriptor)
    }

    /// A command buffer with one serial encoder.
    pub(crate) fn encode(&self, encode: impl FnOnce(&mut ComputeCommandEncoder) -> Result<()>) -> CommandBuffer {
        let commands = self.queue.new_command_buffer();
        let mut encoder = commands.compute_command_encoder().expect("an encoder");
        encode(&mut encoder).and_then(|()| encoder.end_encoding()).unwrap_or_else(|error| panic!("{error}"));
        commands
    }
}

/// Adds `step` to the first `count` numbers of a buffer.
pub(crate) fn add(
    encoder: &mut ComputeCommandEncoder,
    pipeline: &ComputePipelineState,
    buffer: &Buffer,
    count: usize,
    step: u32,
) -> Result<()> {
    encoder.set_compute_pipeline_state(pipeline)?;
    encoder.set_buffer(0, buffer, 0)?;
    encoder.set_bytes(1, &step.to_ne_bytes())?;
    encoder.dispatch_threads(Size::linear(count), Size::linear(32.min(count)))
}

pub(crate) fn run(commands: &CommandBuffer) {
    commands.commit().expect("it commits");
    commands.wait_until_completed().unwrap_or_else(|error| panic!("{error}"));
}

pub(crate) fn usage<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result.expect_err("it is refused") {
        Error::Usage(problem) => problem,
        other => panic!("another error: {other}"),
    }
}
