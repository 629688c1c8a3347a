//! With the compiler.

use compute::{
    CompileOptions, ComputePipelineDescriptor, ComputePipelineState, ConstantBits, Device, Error,
    FunctionConstantValues, FunctionDescriptor, PipelineCache, PipelineConfig, Result,
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
    let function = library.new_function("root", &constants)?;
    let (sender, receiver) = mpsc::channel::<Result<ComputePipelineState>>();
    let handler = |sender: mpsc::Sender<_>| move |result| sender.send(result).expect("it is awaited");
    device.new_compute_pipeline_state_async(&function, handler(sender.clone()));
    for name in ["root", "scale"] {
        let function = FunctionDescriptor { library: &library, name, constants: &constants };
        let descriptor = ComputePipelineDescriptor { label: Some("square".into()), ..Default::default() };
        let handler = handler(sender.clone());
        device.new_compute_pipeline_state_with_function_descriptor_async(&function, &descriptor, handler);
    }
    let results: Vec<_> =
        (0..3).map(|_| receiver.recv_timeout(Duration::from_secs(60)).expect("it takes less")).collect();
    let mut labels: Vec<Option<&str>> = results.iter().flatten().map(|pipeline| pipeline.label()).collect();
    labels.sort_unstable();
    assert_eq!(labels, [None, Some("square")]);
    let errors: Vec<&Error> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(matches!(errors[..], [Error::Constants { .. }]), "{errors:?}");
    Ok(())
}
