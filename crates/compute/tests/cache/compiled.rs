//! The cache with the real compiler.

use metalworks_compute::{
    BinaryArchive, CompileOptions, ComputePipelineDescriptor, ComputePipelineState, ConstantBits, Device, Error,
    FunctionConstantValues, FunctionDescriptor, LateMisses, PipelineCache, PipelineConfig, Result, Simdgroups,
    Size,
};
use std::sync::mpsc;
use std::time::Duration;

const SOURCE: &str = "
    #include <metal_stdlib>
    using namespace metal;
    constant uint K [[function_constant(0)]];
    kernel void scale(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= float(K); }
    kernel void root(device float *x [[buffer(0)]], uint2 at [[thread_position_in_grid]],
                     uint2 grid [[threads_per_grid]]) {
        uint i = at.y * grid.x + at.x;
        x[i] = sqrt(x[i]);
    }";

fn cache() -> Result<PipelineCache> {
    let device = Device::cpu()?;
    let library = device.new_library_with_source(SOURCE, &CompileOptions::default())?;
    Ok(PipelineCache::new(move |config| {
        let function = library.new_function(config.key().kernel(), &config.key().constants()?)?;
        device.new_compute_pipeline_state(&function)
    }))
}

/// A cache whose pipelines have the promises of their keys and share an archive.
fn cache_with(archive: &BinaryArchive) -> Result<PipelineCache> {
    let device = Device::cpu()?;
    let library = device.new_library_with_source(SOURCE, &CompileOptions::default())?;
    let archives = vec![archive.clone()];
    Ok(PipelineCache::new(move |config| {
        let (kernel, constants) = (config.key().kernel(), config.key().constants()?);
        let function = FunctionDescriptor { library: &library, name: kernel, constants: &constants };
        let simdgroups = config.key().simdgroups();
        let descriptor = ComputePipelineDescriptor {
            thread_group_size_is_multiple_of_thread_execution_width: simdgroups == Simdgroups::Full,
            thread_group_width_is_multiple_of_thread_execution_width: simdgroups == Simdgroups::Rows,
            binary_archives: archives.clone(),
            ..Default::default()
        };
        device.new_compute_pipeline_state_with_function_descriptor(&function, &descriptor)
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

/// Runs a pipeline of `root` on a grid with threadgroups of this size.
fn run_root(pipeline: &ComputePipelineState, grid: Size, size: Size) -> Result<()> {
    let device = Device::cpu()?;
    let numbers = device.new_buffer_with_bytes(bytemuck::cast_slice(&[4.0f32; 256]))?;
    let command_buffer = device.new_command_queue().new_command_buffer();
    let mut encoder = command_buffer.compute_command_encoder()?;
    encoder.set_compute_pipeline_state(pipeline)?;
    encoder.set_buffer(0, &numbers, 0)?;
    encoder.dispatch_threads(grid, size)?;
    encoder.end_encoding()?;
    command_buffer.commit()?;
    command_buffer.wait_until_completed()?;
    let numbers = numbers.read::<f32>();
    let (done, rest) = numbers.split_at(grid.width * grid.height);
    assert!(done.iter().all(|number| *number == 2.0) && rest.iter().all(|number| *number == 4.0));
    Ok(())
}

#[test]
fn dispatches_of_any_size_compile_nothing() -> Result<()> {
    let archive = BinaryArchive::new();
    let cache = cache_with(&archive)?;
    for simdgroups in [Simdgroups::Any, Simdgroups::Full, Simdgroups::Rows] {
        cache.get_or_create_pso_with("root", (), simdgroups)?;
    }
    cache.seal_with(LateMisses::Refuse);
    let (entries, misses, code_bytes) = (archive.len(), cache.stats().misses, cache.stats().code_bytes);
    assert_eq!((entries, misses), (2, 3));

    let root = cache.get_or_create_pso("root", ())?;
    for (threads, size) in [(64, 32), (33, 32), (64, 24), (1, 1), (33, 33), (64, 1024)] {
        run_root(root, Size::linear(threads), Size::linear(size))?;
    }
    let full = cache.get_or_create_pso_with("root", (), Simdgroups::Full)?;
    run_root(full, Size::linear(64), Size::linear(32))?;
    run_root(full, Size::new(16, 4, 1), Size::new(16, 2, 1))?;
    let rows = cache.get_or_create_pso_with("root", (), Simdgroups::Rows)?;
    run_root(rows, Size::new(64, 3, 1), Size::new(32, 2, 1))?;

    let stats = cache.stats();
    assert_eq!((stats.late_misses, stats.misses, stats.code_bytes), (0, misses, code_bytes));
    assert_eq!(archive.len(), entries);
    Ok(())
}

#[test]
fn a_dispatch_that_breaks_a_promise_is_refused() -> Result<()> {
    let cache = cache_with(&BinaryArchive::new())?;
    let problem = |simdgroups: Simdgroups, grid: Size, size: Size| {
        let pipeline = cache.get_or_create_pso_with("root", (), simdgroups)?;
        match run_root(pipeline, grid, size) {
            Err(Error::Usage(problem)) => Ok(problem),
            other => panic!("it breaks the promise: {other:?}"),
        }
    };
    let (threads, size) = (Size::linear(33), Size::linear(32));
    let refused = |size: &str, promise: &str| {
        format!(
            "dispatch_threads of 'root': a threadgroup of {size} threads; the pipeline's descriptor promised {promise}"
        )
    };
    assert_eq!(problem(Simdgroups::Full, threads, size)?, refused("1 × 1 × 1", "multiples of 32"));
    let width = "a width that is a multiple of 32";
    assert_eq!(problem(Simdgroups::Rows, threads, size)?, refused("1 × 1 × 1", width));
    let square = Size::new(16, 2, 1);
    assert_eq!(problem(Simdgroups::Rows, square, square)?, refused("16 × 2 × 1", width));
    Ok::<(), Error>(())
}

#[test]
fn rows_have_less_code() -> Result<()> {
    let archive = BinaryArchive::new();
    let cache = cache_with(&archive)?;
    let rows = cache.get_or_create_pso_with("root", (), Simdgroups::Rows)?.code_size();
    assert_eq!(archive.len(), 1);
    let any = cache.get_or_create_pso("root", ())?.code_size();
    assert_eq!(archive.len(), 2);
    assert!(0 < rows && rows < any, "{rows} and {any} bytes");
    Ok(())
}
