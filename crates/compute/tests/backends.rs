//! A minimal back end: the defaults of the traits, and work executed on the calling thread. `third_backend` is one that
//! runs kernels.

use metalworks_compute::backend::{
    Allocation, Buffer as BackendBuffer, Execute, Function, LibraryContents, Memory, NewPipeline, PipelineRequest,
    Properties, Queue, Settings, Step, Work, new_domain, own,
};
use metalworks_compute::reflect::Kernel;
use metalworks_compute::{
    BinaryArchive, Buffer, Capabilities, CommandBuffer, CompileOptions, ComputePipelineDescriptor, Device,
    DeviceKind, DispatchTiming, Error, FunctionConstantValues, FunctionDescriptor, LibraryOrigin, Limits,
    PrecompiledLibrary, Result, Size, StorageMode,
};
use std::borrow::Cow;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

/// A device that copies and fills, but runs no kernels.
struct Store {
    properties: Properties,
}

/// Memory that only the device can access.
struct Bytes(Mutex<Box<[u8]>>);

/// A library without functions.
struct Empty;

/// Executes copies and fills.
struct Mover;

fn store() -> Device {
    let properties = Properties {
        kind: DeviceKind::Other("store"),
        id: "store".into(),
        name: "a store".into(),
        capabilities: Capabilities {
            simd_reductions: false,
            simdgroup_matrix: false,
            bfloat: false,
            nonuniform_threadgroups: false,
            unified_memory: false,
            apple_family: None,
            compute_units: None,
            family: String::new(),
        },
        limits: Limits {
            max_threads_per_threadgroup: Size::linear(32),
            max_threadgroup_memory_length: 0,
            max_buffer_length: 1 << 20,
            recommended_max_working_set_size: None,
        },
        domain: new_domain(),
    };
    Device::with_backend(Arc::new(Store { properties })).expect("a device")
}

impl metalworks_compute::backend::Device for Store {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn new_buffer(&self, len: usize, _: StorageMode) -> Result<Allocation> {
        let bytes = vec![0; len].into_boxed_slice();
        let address = bytes.as_ptr().addr();
        let buffer = Box::new(Bytes(Mutex::new(bytes)));
        Ok(Allocation { address, host: None, is_read_only: false, buffer })
    }

    fn new_library(&self, _: LibraryContents<'_>) -> Result<Arc<dyn metalworks_compute::backend::Library>> {
        Ok(Arc::new(Empty))
    }

    fn new_checked_library(
        &self,
        _: Option<PrecompiledLibrary>,
        _: Cow<'static, str>,
        _: &CompileOptions,
    ) -> Arc<dyn metalworks_compute::backend::Library> {
        Arc::new(Empty)
    }

    fn new_pipeline(&self, request: &PipelineRequest) -> Result<NewPipeline> {
        Err(request.no_function())
    }

    fn new_queue(&self, _: &Arc<Settings>) -> Queue {
        Queue::Executes(Box::new(Mover))
    }
}

impl BackendBuffer for Bytes {
    fn read(&self, offset: usize, bytes: &mut [u8]) -> Result<()> {
        let own = self.0.lock().expect("nobody panics with it");
        bytes.copy_from_slice(&own[offset..offset + bytes.len()]);
        Ok(())
    }

    fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        let mut own = self.0.lock().expect("nobody panics with it");
        own[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

impl metalworks_compute::backend::Library for Empty {
    fn function_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn reflection(&self, _: &str, _: &FunctionConstantValues) -> Result<Option<Kernel>> {
        Ok(None)
    }

    fn new_function(&self, _: &str, _: &FunctionConstantValues) -> Result<Option<Arc<dyn Function>>> {
        Ok(None)
    }

    fn digest(&self, _: &str) -> Option<[u8; 32]> {
        None
    }

    fn origin(&self) -> LibraryOrigin {
        LibraryOrigin::Source
    }
}

fn bytes_of(memory: &Memory) -> Result<&Bytes> {
    own(memory.buffer())
}

impl Execute for Mover {
    fn execute(&self, work: &Work, _: Option<&mut Vec<DispatchTiming>>) -> Result<()> {
        for step in work.steps() {
            match step {
                Step::Copy(copy) => {
                    let mut moved = vec![0; copy.range.len()];
                    bytes_of(&copy.source)?.read(copy.range.start, &mut moved)?;
                    bytes_of(&copy.destination)?.write(copy.offset, &moved)?;
                }
                Step::Fill(fill) => {
                    bytes_of(&fill.buffer)?.write(fill.range.start, &vec![fill.value; fill.range.len()])?;
                }
                Step::Pass(_) | Step::Replay { .. } => return Err(Error::Internal("there are no kernels".into())),
            }
        }
        Ok(())
    }
}

fn usage<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result.expect_err("it is refused") {
        Error::Usage(problem) => problem,
        other => panic!("another error: {other}"),
    }
}

fn commands(device: &Device) -> CommandBuffer {
    device.new_command_queue().new_command_buffer()
}

#[test]
fn memory_is_filled_copied_written_and_read() -> Result<()> {
    let device = store();
    assert_eq!((device.kind().to_string().as_str(), device.id().as_str()), ("store", "store"));
    for storage in [StorageMode::Shared, StorageMode::Private] {
        let (a, b) = (device.new_buffer_with_storage_mode(16, storage)?, device.new_buffer(16)?);
        b.write(0, &[7u32; 4])?;
        let commands = commands(&device);
        commands.fill_buffer(&a, 4..12, 0x11)?;
        commands.copy_buffer(&a, 0..8, &b, 8)?;
        commands.fill_buffer(&a, 0..16, 0)?;
        commands.commit()?;
        commands.wait_until_completed()?;
        assert_eq!(b.read::<u32>(), [7, 7, 0, 0x1111_1111]);
        assert!(a.contents().is_null() && b.contents().is_null(), "the host cannot access it");
    }
    Ok(())
}

#[test]
fn devices_refuse_each_others_buffers() -> Result<()> {
    let (store, other_store, cpu) = (store(), store(), Device::cpu()?);
    let new = |device: &Device| -> Result<Buffer> { device.new_buffer(32) };
    for (device, other) in [(&store, &cpu), (&cpu, &store), (&store, &other_store)] {
        let (own, foreign, commands) = (new(device)?, new(other)?, commands(device));
        let problem = |call: &str| format!("{call}: the buffer of 32 bytes belongs to another device");
        assert_eq!(usage(commands.fill_buffer(&foreign, 0..4, 1)), problem("fill_buffer"));
        assert_eq!(usage(commands.copy_buffer(&foreign, 0..4, &own, 0)), problem("copy_buffer"));
        assert_eq!(usage(commands.copy_buffer(&own, 0..4, &foreign, 0)), problem("copy_buffer"));
        let mut encoder = commands.compute_command_encoder()?;
        assert_eq!(usage(encoder.set_buffer(0, &foreign, 0)), problem("set_buffer"));
        encoder.end_encoding()?;
    }
    Ok(())
}

#[test]
fn defaults_reject_unsupported_calls() -> Result<()> {
    let device = store();
    let mut memory = [0u8; 16];
    let bytes = NonNull::slice_from_raw_parts(NonNull::from(&mut memory[0]), 16);
    // SAFETY: the call fails.
    let refused = usage(unsafe { device.new_buffer_with_bytes_no_copy(bytes, ()) });
    assert!(refused.starts_with("a store has its own memory"), "{refused}");

    let path = std::env::temp_dir().join(format!("metalworks-backends-{}", std::process::id()));
    let contents: Vec<u8> = (0..100).collect();
    std::fs::write(&path, &contents).expect("a file");
    let mapped = device.new_buffer_with_file(&path, 10..90);
    std::fs::remove_file(&path).expect("it is ours");
    assert_eq!(mapped?.read::<u8>(), contents[10..90]);

    let library = device.new_library_with_source("", &CompileOptions::default())?;
    let constants = FunctionConstantValues::new();
    let function = FunctionDescriptor { library: &library, name: "k", constants: &constants };
    assert_eq!(device.archived_reflection(&function, &[BinaryArchive::new()]), None);
    let pipeline = device
        .new_compute_pipeline_state_with_function_descriptor(&function, &ComputePipelineDescriptor::default());
    assert!(matches!(pipeline, Err(Error::NoFunction { .. })), "{pipeline:?}");
    let pipeline =
        Device::cpu()?.new_compute_pipeline_state_with_function_descriptor(&function, &Default::default());
    assert!(usage(pipeline).contains("of a library that another device opened"));
    device.set_adverse(true);
    assert!(!device.is_adverse(), "it does not support adverse order");
    Ok(())
}
