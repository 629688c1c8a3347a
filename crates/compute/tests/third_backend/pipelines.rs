//! Pipelines: the cache, batches, completion handlers and archives are independent of the back end.

use crate::fixture::{Fixture, SOURCE, factor, toy};
use crate::setup::{run, usage};
use crate::toy::Toy;
use metalworks_compute::{
    BinaryArchive, Buffer, CompileOptions, ComputePipelineDescriptor, ComputePipelineState, Device, DispatchType,
    Error, FunctionConstantValues, LateMisses, LibraryOrigin, PipelineCache, PipelineConfig, PipelineOrigin,
    Simdgroups, Size,
};
use std::sync::mpsc::channel;

/// Factor times 0, 1, 2, …
fn scaled(fixture: &Fixture, pipeline: &ComputePipelineState) -> Vec<u32> {
    let numbers: Vec<u32> = (0..32).collect();
    let (x, y): (Buffer, Buffer) = (fixture.buffer(&numbers), fixture.buffer(&[0; 32]));
    run(&fixture.encode(DispatchType::Serial, |encoder| {
        encoder.set_compute_pipeline_state(pipeline)?;
        encoder.set_buffer(0, &x, 0)?;
        encoder.set_buffer(1, &y, 0)?;
        encoder.set_bytes(2, &0u32.to_ne_bytes())?;
        encoder.dispatch_threads(Size::linear(32), Size::linear(32))
    }));
    y.read()
}

fn times(factor: u32) -> Vec<u32> {
    (0..32).map(|i| i * factor).collect()
}

/// A cache of pipelines of the toy.
fn cache(toy: &Toy) -> PipelineCache {
    let fixture = Fixture::new(toy.device());
    PipelineCache::new(move |config| {
        let key = config.key();
        let descriptor = ComputePipelineDescriptor {
            thread_group_width_is_multiple_of_thread_execution_width: key.simdgroups() == Simdgroups::Rows,
            ..Default::default()
        };
        fixture.try_pipeline(key.kernel(), &key.constants()?, &descriptor)
    })
}

#[test]
fn a_cache_creates_each_pipeline_once() {
    let toy = toy();
    let (fixture, cache) = (Fixture::new(toy.device()), cache(&toy));
    let config = |factor: u32| PipelineConfig::new("scale", [("FACTOR", factor.into())]);
    let configs = [config(2), config(3), config(2), PipelineConfig::new("add", ()), PipelineConfig::new("ad", ())];
    let mut told = 0;
    let results = cache.create_all(&configs, |progress| told = told.max(progress.done));
    assert_eq!((results.len(), results.failures().count(), told), (5, 1, 4));
    let missing = results.failures().next().expect("there is one").to_string();
    assert!(missing.contains("no kernel 'ad'"), "{missing}");
    let pipelines: Vec<_> = results.into_iter().take(3).map(|result| result.expect("it compiles")).collect();
    assert_eq!([0, 1, 2].map(|i| scaled(&fixture, &pipelines[i])), [times(2), times(3), times(2)]);
    assert_eq!(toy.counts().pipelines, 3);

    assert!(cache.get_or_create_pso("scale", [("FACTOR", 2u32.into())]).is_ok());
    let stats = cache.stats();
    assert_eq!((stats.pipelines, stats.hits, stats.compiled(), stats.failures), (3, 1, 3, 1));
    assert!(stats.code_bytes > 0);
    assert_eq!(toy.counts().pipelines, 3);

    cache.seal_with(LateMisses::Refuse);
    assert!(cache.get_or_create(&configs[1]).is_ok());
    let late = cache.get_or_create_pso("scale", [("FACTOR", 4u32.into())]).expect_err("it is late");
    assert!(late.to_string().contains("not among the pipelines"), "{late}");
    assert_eq!((cache.stats().late_misses, toy.counts().pipelines), (1, 3));
}

#[test]
fn completion_handlers_are_called() {
    let toy = toy();
    let fixture = Fixture::new(toy.device());
    let (sender, receiver) = channel();
    for (name, factor) in [("scale", factor(9)), ("none", FunctionConstantValues::new())] {
        let sender = sender.clone();
        fixture.device.new_compute_pipeline_state_with_completion_handler(
            &fixture.function(name, &factor),
            &ComputePipelineDescriptor::default(),
            move |made| sender.send((name, made)).expect("somebody listens"),
        );
    }
    drop(sender);
    let mut made: Vec<_> = receiver.iter().collect();
    made.sort_by_key(|(name, _)| *name);
    assert_eq!(made.len(), 2);
    assert!(matches!(&made[0], ("none", Err(Error::NoFunction { .. }))), "{:?}", made[0]);
    assert_eq!(scaled(&fixture, made[1].1.as_ref().expect("it compiles")), times(9));
}

#[test]
fn archives_keep_the_code() {
    let toy = toy();
    let (fixture, archive) = (Fixture::new(toy.device()), BinaryArchive::new());
    let descriptor = ComputePipelineDescriptor {
        binary_archives: vec![archive.clone()],
        ..ComputePipelineDescriptor::default()
    };
    let only = ComputePipelineDescriptor { fail_on_binary_archive_miss: true, ..descriptor.clone() };
    let (three, archives) = (factor(3), [archive.clone()]);
    let function = fixture.function("scale", &three);
    let missing = fixture.try_pipeline("scale", &three, &only).expect_err("it is not there");
    assert!(matches!(missing, Error::ArchiveMiss { .. }), "{missing}");
    assert!(fixture.device.archived_reflection(&function, &archives).is_none());

    let first = fixture.try_pipeline("scale", &three, &descriptor).expect("it compiles");
    assert_eq!((first.origin(), archive.is_empty()), (PipelineOrigin::Compiled, false));
    let second = fixture.try_pipeline("scale", &three, &only).expect("it is there");
    assert_eq!(second.origin(), PipelineOrigin::Archive);
    assert_eq!(second.reflection(), first.reflection());
    assert_eq!(fixture.device.archived_reflection(&function, &archives).as_ref(), Some(first.reflection()));
    assert_eq!(scaled(&fixture, &second), times(3));
    let other = fixture.try_pipeline("scale", &factor(4), &descriptor).expect("it compiles");
    assert_eq!((other.origin(), scaled(&fixture, &other)), (PipelineOrigin::Compiled, times(4)));
}

#[test]
fn functions_and_libraries_are_those_of_the_toy() {
    let toy = toy();
    let (device, constants) = (toy.device(), factor(5));
    let fixture = Fixture::new(device);
    let library = device.new_library_with_source(SOURCE, &CompileOptions::default()).expect("it has no mistakes");
    assert_eq!((library.origin(), library.function_names().len()), (LibraryOrigin::Source, 7));
    let function = library.new_function("scale", &constants).expect("a function");
    assert_eq!(function.reflection().arguments.len(), 3);
    let pipeline = device.new_compute_pipeline_state(&function).expect("it compiles");
    assert_eq!((scaled(&fixture, &pipeline), toy.counts().pipelines), (times(5), 1));
    assert_eq!((pipeline.thread_execution_width(), pipeline.max_total_threads_per_threadgroup()), (32, 256));
    let missing = library.new_function("scales", &constants).expect_err("there is none");
    assert_eq!(missing.to_string(), "the library has no kernel 'scales'; did you mean 'scale'?");
    assert!(matches!(library.reflection("scales", &constants), Err(Error::NoFunction { .. })));
    let mistaken = device.new_library_with_source("kernel void k( {", &CompileOptions::default());
    assert!(matches!(mistaken, Err(Error::Source { .. })));

    let cpu = Device::cpu().expect("a CPU");
    assert!(usage(cpu.new_compute_pipeline_state(&function)).contains("another device"));
    let library = cpu.new_library_with_source(SOURCE, &CompileOptions::default()).expect("it has no mistakes");
    let function = library.new_function("scale", &constants).expect("a function");
    assert!(usage(device.new_compute_pipeline_state(&function)).contains("another device"));
}

#[test]
fn promises_about_simdgroups_are_kept() {
    let toy = toy();
    let (fixture, cache) = (Fixture::new(toy.device()), cache(&toy));
    let config = PipelineConfig::new("scale", [("FACTOR", 6u32.into())]);
    let rows = cache.get_or_create(&config.clone().with_simdgroups(Simdgroups::Rows)).expect("it compiles");
    let any = cache.get_or_create(&config).expect("it compiles");
    assert_eq!((scaled(&fixture, rows), scaled(&fixture, any)), (times(6), times(6)));
    // A promise reduces the code: it reached the inner device.
    assert!(rows.code_size() < any.code_size());
    let buffer = fixture.buffer(&[0; 32]);
    let commands = fixture.queue.new_command_buffer();
    let mut encoder = commands.compute_command_encoder().expect("an encoder");
    encoder.set_compute_pipeline_state(rows).expect("set");
    encoder.set_buffer(0, &buffer, 0).expect("set");
    encoder.set_buffer(1, &buffer, 0).expect("set");
    encoder.set_bytes(2, &0u32.to_ne_bytes()).expect("set");
    let broken = encoder.dispatch_threads(Size::linear(32), Size::linear(24));
    assert!(usage(broken).contains("promised"));
}

#[test]
fn a_back_end_without_function_tables_says_so() {
    let toy = toy();
    let device: &Device = toy.device();
    let library = device.new_library_with_source(SOURCE, &CompileOptions::default()).expect("it has no mistakes");
    let constants = FunctionConstantValues::new();
    let error = library.new_visible_function("f", &constants).expect_err("the toy has none");
    assert!(matches!(&error, Error::Unsupported { kernel, .. } if kernel == "f"), "{error}");
    let add = library.new_function("add", &constants).expect("a kernel");
    let pipeline = device.new_compute_pipeline_state(&add).expect("a pipeline state");
    let error = pipeline.new_visible_function_table(1).expect_err("the toy has none");
    assert!(matches!(&error, Error::Unsupported { kernel, .. } if kernel == "add"), "{error}");
}
