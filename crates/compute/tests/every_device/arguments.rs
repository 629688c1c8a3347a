//! Arguments that a kernel does not use need no binding.

use crate::setup::{Setup, on_every_device, usage};
use metalworks_compute::{
    Buffer, ComputeCommandEncoder, ComputePipelineDescriptor, ConstantValue, FunctionConstantValues, Result, Size,
};

/// Runs `backwards` on 32 numbers with the bindings that `bind` sets.
fn backwards(
    setup: &Setup,
    constants: &FunctionConstantValues,
    bind: impl FnOnce(&mut ComputeCommandEncoder, &Buffer) -> Result<()>,
) -> Result<Vec<u32>> {
    let pipeline = setup.pipeline_with("backwards", constants, ComputePipelineDescriptor::default());
    let y = setup.buffer(&[u32::MAX; 32]);
    let commands = setup.queue.new_command_buffer();
    let mut encoder = commands.compute_command_encoder()?;
    encoder.set_compute_pipeline_state(&pipeline)?;
    bind(&mut encoder, &y)?;
    encoder.dispatch_threads(Size::linear(32), Size::linear(32))?;
    encoder.end_encoding()?;
    commands.commit()?;
    commands.wait_until_completed()?;
    Ok(y.read())
}

fn with_use(value: bool) -> FunctionConstantValues {
    let mut constants = FunctionConstantValues::new();
    constants.set_named("USE", ConstantValue::Bool(value));
    constants
}

#[test]
fn unused_arguments_need_no_binding() {
    on_every_device(|setup| {
        for constants in [with_use(false), FunctionConstantValues::new()] {
            let y = backwards(setup, &constants, |encoder, y| encoder.set_buffer(0, y, 0));
            assert_eq!(y.expect("it runs"), (0..32).collect::<Vec<u32>>());
        }
    });
}

#[test]
fn used_arguments_need_a_binding() {
    on_every_device(|setup| {
        let x = setup.buffer(&(100..132).collect::<Vec<u32>>());
        let bind = |encoder: &mut ComputeCommandEncoder, y: &Buffer, with_x: bool, with_memory: bool| {
            encoder.set_buffer(0, y, 0)?;
            if with_x {
                encoder.set_buffer(1, &x, 0)?;
            }
            if with_memory {
                encoder.set_threadgroup_memory_length(0, 128)?;
            }
            Ok(())
        };
        let run = |with_x: bool, with_memory: bool| {
            backwards(setup, &with_use(true), |encoder, y| bind(encoder, y, with_x, with_memory))
        };
        let problem = usage(run(false, true));
        assert!(problem.contains("no buffer is bound at index 1 for the argument 'x'"), "{problem}");
        let problem = usage(run(true, false));
        assert!(problem.contains("for the argument 'scratch' has 0 bytes"), "{problem}");
        assert_eq!(run(true, true).expect("it runs"), (100..132).rev().collect::<Vec<u32>>());
    });
}
