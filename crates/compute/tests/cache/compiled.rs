//! With the compiler.

use compute::{
    CompileOptions, ComputePipelineDescriptor, ComputePipelineState, ConstantBits, Device, Error,
    FunctionConstantValues, FunctionDescriptor, LateMisses, PipelineCache, PipelineConfig, Result, Size,
};
use std::sync::mpsc;
use std::time::Duration;

const SOURCE: &str = "
    #include <metal_stdlib>
    using namespace metal;
    constant uint K [[function_constant(0)]];
    kernel void scale(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= float(K); }
    kernel void root(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = sqrt(x[i]); }";

fn cache() -> Result<PipelineCache> {
    let device = Device::cpu()?;
    let library = device.new_library_with_source(SOURCE, &CompileOptions::default())?;
    Ok(PipelineCache::new(move |config| {
        let function = library.new_function(config.key().kernel(), &config.key().constants()?)?;
        device.new_compute_pipeline_state(&function)
    }))
}

#[test]
fn kernels_are_compiled_in_parallel() -> Result<()> {
    let cache = cache()?;
    let k = |value: u32| -> [(&str, ConstantBits); 1] { [("K", value.into())] };
    let mut configs: Vec<_> = (0..8).map(|number| PipelineConfig::new("scale", k(number))).collect();
    configs.push(PipelineConfig::new("root", ()));
    configs.push(PipelineConfig::new("scale", ()));
    configs.push(PipelineConfig::new("scales", ()));
    let results = cache.create_all(&configs, |_| {});
    let errors: Vec<String> = results.failures().map(Error::to_string).collect();
    assert_eq!(
        errors,
        [
            "pipeline scale (kernel 'scale'): function constants of kernel 'scale': function constant not set: 'K' \
             (index 0, uint)",
            "pipeline scales (kernel 'scales'): the library has no kernel 'scales'; did you mean 'scale'?",
        ]
    );
    assert_eq!(cache.stats().pipelines, 9);
    assert!(cache.stats().compile_time > Duration::ZERO);
    Ok(())
}

#[test]
fn a_device_compiles_in_the_background() -> Result<()> {
    let device = Device::cpu()?;
    let library = device.new_library_with_source(SOURCE, &CompileOptions::default())?;
    let constants = FunctionConstantValues::new();
    let (sender, receiver) = mpsc::channel::<Result<ComputePipelineState>>();
    let handler = |sender: mpsc::Sender<_>| move |result| sender.send(result).expect("it is awaited");
    for name in ["root", "scale"] {
        let function = FunctionDescriptor { library: &library, name, constants: &constants };
        let descriptor = ComputePipelineDescriptor { label: Some("square".into()), ..Default::default() };
        let handler = handler(sender.clone());
        device.new_compute_pipeline_state_with_completion_handler(&function, &descriptor, handler);
    }
    let results: Vec<_> =
        (0..2).map(|_| receiver.recv_timeout(Duration::from_secs(60)).expect("it takes less")).collect();
    let mut labels: Vec<Option<&str>> = results.iter().flatten().map(|pipeline| pipeline.label()).collect();
    labels.sort_unstable();
    assert_eq!(labels, [Some("square")]);
    let errors: Vec<&Error> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(matches!(errors[..], [Error::Constants { .. }]), "{errors:?}");
    Ok(())
}

/// Runs `root` on 64 numbers in threadgroups of this many threads.
fn run_root(cache: &PipelineCache, threads: usize) -> Result<()> {
    let device = Device::cpu()?;
    let numbers = device.new_buffer_with_bytes(bytemuck::cast_slice(&[4.0f32; 64]))?;
    let command_buffer = device.new_command_queue().new_command_buffer();
    let mut encoder = command_buffer.compute_command_encoder()?;
    encoder.set_compute_pipeline_state(cache.get_or_create_pso("root", ())?)?;
    encoder.set_buffer(0, &numbers, 0)?;
    encoder.dispatch_threads(Size::linear(64), Size::linear(threads))?;
    encoder.end_encoding()?;
    command_buffer.commit()?;
    command_buffer.wait_until_completed()?;
    assert_eq!(numbers.read::<f32>(), [2.0; 64]);
    Ok(())
}

#[test]
fn a_sealed_cache_lets_no_dispatch_compile() -> Result<()> {
    let cache = cache()?;
    cache.get_or_create_pso("root", ())?;
    cache.seal_with(LateMisses::Refuse);
    run_root(&cache, 32)?;
    for _ in 0..2 {
        let error = run_root(&cache, 24).expect_err("it needs other code");
        assert_eq!(
            error.to_string(),
            "kernel 'root': code for threadgroups that are no multiple of 32 wide was not compiled while loading; declare \
             the pipeline with the size of its threadgroups (`PipelineConfig::with_threads_per_threadgroup`)"
        );
    }
    assert_eq!(cache.stats().late_misses, 2);

    // What is declared is compiled, and then dispatches find it.
    let declared = PipelineConfig::new("root", ()).with_threads_per_threadgroup(Size::linear(24));
    cache.create_all(&[declared], |_| {}).into_pipelines()?;
    run_root(&cache, 24)?;
    assert_eq!(cache.stats().late_misses, 2);
    Ok(())
}

#[test]
fn a_dispatch_that_compiles_late_is_counted() -> Result<()> {
    let cache = cache()?;
    run_root(&cache, 32)?;
    cache.seal_with(LateMisses::Create);
    run_root(&cache, 24)?;
    run_root(&cache, 24)?;
    assert_eq!(cache.stats().late_misses, 1);
    Ok(())
}
