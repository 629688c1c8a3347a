//! Arguments that a kernel does not use need no binding, with validation and without.
#![cfg(llvm)]

use metalworks_compute::{
    Buffer, CompileOptions, ComputeCommandEncoder, ComputePipelineState, ConstantValue, CpuOptions, Device, Error,
    FunctionConstantValues, Result, Size,
};

const SOURCE: &str = "
    #include <metal_stdlib>
    using namespace metal;
    constant bool USE [[function_constant(0)]];
    kernel void add(device float *y [[buffer(0)]], device const float *bias [[buffer(1)]],
                    device float *copy [[buffer(2)]], constant float &scale [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
        y[i] += 1.0f;
        if (USE) {
            y[i] += bias[i] * scale;
            copy[i] = y[i];
        }
    }
    kernel void reverse(device float *y [[buffer(0)]], threadgroup float *tile [[threadgroup(0)]],
                        uint i [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
        float value = y[i];
        if (USE) {
            tile[i] = value;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            value = tile[n - 1 - i];
        }
        y[i] = value * 2.0f;
    }
    kernel void named(device float *y [[buffer(0)]], device const float *unnamed [[buffer(1)]],
                      threadgroup float *nothing [[threadgroup(1)]], uint i [[thread_position_in_grid]]) {
        y[i] = i;
    }";

/// A device with validation, and one without.
fn devices() -> [Device; 2] {
    [true, false].map(|validation| {
        let device = Device::cpu_with_options(&CpuOptions { threads: Some(1) }).expect("a CPU");
        device.set_validation(validation);
        device
    })
}

fn with_use(value: bool) -> FunctionConstantValues {
    let mut constants = FunctionConstantValues::new();
    constants.set_named("USE", ConstantValue::Bool(value));
    constants
}

fn pipeline(device: &Device, source: &str, name: &str, constants: &FunctionConstantValues) -> ComputePipelineState {
    let library = device.new_library_with_source(source, &CompileOptions::default()).expect("a library");
    let function = library.new_function(name, constants).expect("a function");
    device.new_compute_pipeline_state(&function).expect("a pipeline")
}

fn floats(device: &Device, numbers: &[f32]) -> Buffer {
    device.new_buffer_with_bytes(bytemuck::cast_slice(numbers)).expect("memory")
}

/// Runs 32 threads with the bindings that `bind` sets.
fn run(
    device: &Device,
    pipeline: &ComputePipelineState,
    bind: impl FnOnce(&mut ComputeCommandEncoder) -> Result<()>,
) -> Result<()> {
    let commands = device.new_command_queue().new_command_buffer();
    let mut encoder = commands.compute_command_encoder()?;
    encoder.set_compute_pipeline_state(pipeline)?;
    bind(&mut encoder)?;
    encoder.dispatch_threads(Size::linear(32), Size::linear(32))?;
    encoder.end_encoding()?;
    commands.commit()?;
    commands.wait_until_completed()
}

fn usage(result: Result<()>) -> String {
    match result.expect_err("it is refused") {
        Error::Usage(problem) => problem,
        other => panic!("another error: {other}"),
    }
}

/// Names of arguments, and if they are used.
fn uses(pipeline: &ComputePipelineState) -> Vec<(&str, bool)> {
    let arguments = pipeline.reflection().arguments.iter();
    arguments.map(|argument| (argument.name.as_str(), argument.is_used)).collect()
}

#[test]
fn gemv_without_bias_runs_with_bias_unbound() -> Result<()> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/gemv.metal");
    let source = std::fs::read_to_string(path).expect("the example is there");
    const K: usize = 40;
    let (weights, x): (Vec<f32>, Vec<f32>) =
        ((0..3 * K).map(|i| (i % 7) as f32).collect(), (0..K).map(|i| (i % 3) as f32).collect());
    let products = weights
        .chunks(K)
        .map(|row| row.iter().zip(&x).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum::<f64>() as f32);
    let products: Vec<f32> = products.collect();
    for device in devices() {
        for use_bias in [false, true] {
            let mut constants = FunctionConstantValues::new();
            constants.set_named("K", ConstantValue::Uint(K as u32));
            constants.set_named("USE_BIAS", ConstantValue::Bool(use_bias));
            let gemv = pipeline(&device, &source, "gemv", &constants);
            let y = floats(&device, &[-1.0; 3]);
            let run = |bias: Option<&Buffer>| {
                let commands = device.new_command_queue().new_command_buffer();
                let mut encoder = commands.compute_command_encoder()?;
                encoder.set_compute_pipeline_state(&gemv)?;
                encoder.set_buffer(0, &floats(&device, &weights), 0)?;
                encoder.set_buffer(1, &floats(&device, &x), 0)?;
                encoder.set_buffer(2, &y, 0)?;
                if let Some(bias) = bias {
                    encoder.set_buffer(3, bias, 0)?;
                }
                encoder.dispatch_threadgroups(Size::linear(3), Size::linear(32))?;
                encoder.end_encoding()?;
                commands.commit()?;
                commands.wait_until_completed()
            };
            let bias = floats(&device, &[100.0, 200.0, 300.0]);
            match use_bias {
                false => run(None)?,
                true => {
                    assert!(usage(run(None)).contains("no buffer is bound at index 3 for the argument 'bias'"));
                    run(Some(&bias))?;
                }
            }
            let expected = products.iter().zip([100.0, 200.0, 300.0]);
            let expected = expected.map(|(sum, bias)| sum + if use_bias { bias } else { 0.0 });
            assert_eq!(y.read::<f32>(), expected.collect::<Vec<f32>>());
            // A host may bind it in any case.
            run(Some(&bias))?;
        }
    }
    Ok(())
}

#[test]
fn arguments_that_a_constant_makes_dead_need_no_binding() -> Result<()> {
    for device in devices() {
        let add = pipeline(&device, SOURCE, "add", &with_use(false));
        assert_eq!(uses(&add), [("y", true), ("bias", false), ("copy", false), ("scale", false)]);
        let y = floats(&device, &[1.0; 32]);
        run(&device, &add, |encoder| encoder.set_buffer(0, &y, 0))?;
        assert_eq!(y.read::<f32>(), [2.0; 32]);
        let problem = usage(run(&device, &add, |_| Ok(())));
        assert!(problem.contains("no buffer is bound at index 0 for the argument 'y'"), "{problem}");
    }
    Ok(())
}

#[test]
fn used_arguments_need_a_binding() -> Result<()> {
    for device in devices() {
        let add = pipeline(&device, SOURCE, "add", &with_use(true));
        assert_eq!(uses(&add), [("y", true), ("bias", true), ("copy", true), ("scale", true)]);
        let (y, bias, copy) =
            (floats(&device, &[1.0; 32]), floats(&device, &[3.0; 32]), floats(&device, &[0.0; 32]));
        let bind = |encoder: &mut ComputeCommandEncoder, missing: usize| {
            for (index, buffer) in [&y, &bias, &copy].into_iter().enumerate().filter(|(index, _)| *index != missing)
            {
                encoder.set_buffer(index, buffer, 0)?;
            }
            if missing != 3 {
                encoder.set_bytes(3, &2.0f32.to_ne_bytes())?;
            }
            Ok(())
        };
        for (missing, name) in ["y", "bias", "copy", "scale"].into_iter().enumerate() {
            let problem = usage(run(&device, &add, |encoder| bind(encoder, missing)));
            let expected = format!("no buffer is bound at index {missing} for the argument '{name}'");
            assert!(problem.contains(&expected), "{problem}");
        }
        run(&device, &add, |encoder| bind(encoder, usize::MAX))?;
        assert_eq!((y.read::<f32>(), copy.read::<f32>()), (vec![8.0; 32], vec![8.0; 32]));
    }
    Ok(())
}

#[test]
fn a_binding_for_an_unused_argument_is_checked() -> Result<()> {
    for device in devices() {
        let add = pipeline(&device, SOURCE, "add", &with_use(false));
        let (y, small) = (floats(&device, &[1.0; 32]), device.new_buffer(2)?);
        let bind = |encoder: &mut ComputeCommandEncoder, bias: &Buffer| {
            encoder.set_buffer(0, &y, 0)?;
            encoder.set_buffer(1, bias, 0)
        };
        let problem = usage(run(&device, &add, |encoder| bind(encoder, &small)));
        assert!(problem.contains("2 bytes from its offset on; one 'float' takes 4"), "{problem}");
        run(&device, &add, |encoder| bind(encoder, &y))?;
        assert_eq!(y.read::<f32>(), [2.0; 32]);
    }
    Ok(())
}

#[test]
fn arguments_that_no_code_uses_need_no_binding() -> Result<()> {
    for device in devices() {
        let named = pipeline(&device, SOURCE, "named", &FunctionConstantValues::new());
        assert_eq!(uses(&named), [("y", true), ("unnamed", false), ("nothing", false)]);
        let y = floats(&device, &[-1.0; 32]);
        run(&device, &named, |encoder| encoder.set_buffer(0, &y, 0))?;
        assert_eq!(y.read::<f32>(), (0..32).map(|i| i as f32).collect::<Vec<f32>>());
    }
    Ok(())
}

#[test]
fn unused_threadgroup_memory_needs_no_length() -> Result<()> {
    for device in devices() {
        let numbers: Vec<f32> = (0..32).map(|i| i as f32).collect();
        let y = floats(&device, &numbers);
        let without = pipeline(&device, SOURCE, "reverse", &with_use(false));
        run(&device, &without, |encoder| encoder.set_buffer(0, &y, 0))?;
        assert_eq!(y.read::<f32>(), numbers.iter().map(|number| number * 2.0).collect::<Vec<f32>>());

        let with = pipeline(&device, SOURCE, "reverse", &with_use(true));
        let problem = usage(run(&device, &with, |encoder| encoder.set_buffer(0, &y, 0)));
        assert!(problem.contains("threadgroup memory 0 for the argument 'tile' has 0 bytes"), "{problem}");
        run(&device, &with, |encoder| {
            encoder.set_buffer(0, &y, 0)?;
            encoder.set_threadgroup_memory_length(0, 128)
        })?;
        assert_eq!(y.read::<f32>(), numbers.iter().rev().map(|number| number * 4.0).collect::<Vec<f32>>());
    }
    Ok(())
}

#[test]
fn a_recording_may_leave_unused_arguments_unbound() -> Result<()> {
    for device in devices() {
        let add = pipeline(&device, SOURCE, "add", &with_use(false));
        let y = floats(&device, &[1.0; 32]);
        let mut recorder = device.new_command_recorder(metalworks_compute::DispatchType::Concurrent);
        recorder.set_compute_pipeline_state(&add)?;
        recorder.set_buffer(0, &y, 0)?;
        recorder.dispatch_threads(Size::linear(32), Size::linear(32))?;
        let recording = recorder.finish()?;
        let commands = device.new_command_queue().new_command_buffer();
        commands.replay(&recording, &[])?;
        commands.replay(&recording, &[])?;
        commands.commit()?;
        commands.wait_until_completed()?;
        assert_eq!(y.read::<f32>(), [3.0; 32]);
    }
    Ok(())
}
