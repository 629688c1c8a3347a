//! Wrong use of the API is an error at once, without side effects.
#![cfg(llvm)]

mod common;

use abi::{Dispatch, Lanes, Simdgroup, Threadgroup};
use common::{DispatchCall, RustKernel, argument, device, read_only, run};
use metalworks_compute::reflect::ArgumentKind;
use metalworks_compute::{
    Artifact, Buffer, CommandBuffer, CommandBufferStatus, ComputeCommandEncoder, ComputePipelineDescriptor, Device,
    Error, Result, Size,
};

unsafe extern "C" fn nothing(_: *const Dispatch, _: *const Threadgroup, _: *const Simdgroup, _: u32) {}

fn usage<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result.expect_err("it is refused") {
        Error::Usage(problem) => problem,
        other => panic!("another error: {other}"),
    }
}

/// A kernel with one buffer and one threadgroup argument, and an encoder with everything set.
struct Setup {
    device: Device,
    buffer: Buffer,
    commands: CommandBuffer,
    encoder: ComputeCommandEncoder,
}

const SMALL: (Size, Size) = (Size::linear(4), Size::linear(32));

fn setup() -> Setup {
    setup_with(&ComputePipelineDescriptor::default(), |_| {})
}

fn setup_with(descriptor: &ComputePipelineDescriptor, change: impl FnOnce(&mut RustKernel)) -> Setup {
    let device = device(1);
    let mut kernel = RustKernel::new(nothing, nothing, 1);
    kernel.arguments.push(argument(ArgumentKind::ThreadgroupMemory, 2, 16));
    change(&mut kernel);
    let pipeline = kernel.pipeline_with_descriptor(&device, descriptor).expect("a pipeline");
    let buffer = device.new_buffer(256).expect("memory");
    let commands = device.new_command_queue().new_command_buffer();
    let mut encoder = commands.compute_command_encoder().expect("an encoder");
    encoder.set_compute_pipeline_state(&pipeline).expect("set");
    kernel.bind(&mut encoder).expect("set");
    encoder.set_buffer(0, &buffer, 0).expect("set");
    encoder.set_threadgroup_memory_length(2, 64).expect("set");
    Setup { device, buffer, commands, encoder }
}

#[test]
fn the_setup_itself_runs() {
    let Setup { commands, mut encoder, .. } = setup();
    encoder.dispatch_threadgroups(SMALL.0, SMALL.1).expect("it is right");
    encoder.end_encoding().expect("it ends");
    commands.commit().expect("it commits");
    commands.wait_until_completed().expect("it runs");
    assert_eq!(commands.status(), CommandBufferStatus::Completed);
}

#[test]
fn rejects_empty_grids() {
    let mut encoder = setup().encoder;
    for zero in [Size::new(0, 1, 1), Size::new(1, 0, 1), Size::new(1, 1, 0)] {
        for problem in [
            usage(encoder.dispatch_threads(zero, SMALL.1)),
            usage(encoder.dispatch_threadgroups(zero, SMALL.1)),
            usage(encoder.dispatch_threads(SMALL.0, zero)),
            usage(encoder.dispatch_threadgroups(SMALL.0, zero)),
        ] {
            assert!(problem.contains("a dimension is 0"), "{problem}");
        }
    }
}

#[test]
fn rejects_grids_beyond_32_bits() {
    let mut encoder = setup().encoder;
    for huge in [Size::linear(1 << 32), Size::linear(usize::MAX), Size::new(1 << 31, 1 << 31, 1 << 31)] {
        assert!(usage(encoder.dispatch_threads(huge, SMALL.1)).contains("32 bits"));
        assert!(usage(encoder.dispatch_threadgroups(huge, SMALL.1)).contains("32 bits"));
    }
}

#[test]
fn rejects_threadgroups_over_the_limit() {
    let mut encoder = setup().encoder;
    for size in [Size::linear(1025), Size::new(32, 32, 2), Size::new(usize::MAX, usize::MAX, 2)] {
        let problem = usage(encoder.dispatch_threadgroups(SMALL.0, size));
        assert!(problem.contains("at most 1024"), "{problem}");
    }
    let mut encoder = setup_with(&ComputePipelineDescriptor::default(), |k| k.max_threads = Some(64)).encoder;
    encoder.dispatch_threadgroups(SMALL.0, Size::linear(64)).expect("64 are allowed");
    assert!(usage(encoder.dispatch_threadgroups(SMALL.0, Size::linear(65))).contains("at most 64"));
}

#[test]
fn rejects_dispatches_that_break_the_promise_of_full_simdgroups() {
    let descriptor = ComputePipelineDescriptor {
        label: Some("promised".into()),
        thread_group_size_is_multiple_of_thread_execution_width: true,
        ..Default::default()
    };
    let mut encoder = setup_with(&descriptor, |_| {}).encoder;
    encoder.dispatch_threads(Size::linear(96), Size::linear(64)).expect("64 and 32");
    encoder.dispatch_threads(Size::linear(32), Size::linear(64)).expect("32");
    encoder.dispatch_threadgroups(SMALL.0, Size::new(8, 8, 1)).expect("64");
    for problem in [
        usage(encoder.dispatch_threadgroups(SMALL.0, Size::linear(33))),
        usage(encoder.dispatch_threads(Size::linear(100), Size::linear(64))),
        usage(encoder.dispatch_threads(Size::new(8, 9, 1), Size::new(8, 4, 1))),
    ] {
        assert!(problem.contains("promised multiples of 32"), "{problem}");
    }
}

#[test]
fn rejects_dispatches_that_break_the_promise_of_rows() {
    for thread_group_size_is_multiple_of_thread_execution_width in [false, true] {
        let descriptor = ComputePipelineDescriptor {
            thread_group_width_is_multiple_of_thread_execution_width: true,
            thread_group_size_is_multiple_of_thread_execution_width,
            ..Default::default()
        };
        let mut encoder = setup_with(&descriptor, |_| {}).encoder;
        encoder.dispatch_threads(Size::linear(96), Size::linear(64)).expect("64 and 32");
        encoder.dispatch_threads(Size::new(64, 5, 3), Size::new(32, 2, 2)).expect("32, of any height and depth");
        encoder.dispatch_threadgroups(SMALL.0, Size::new(64, 3, 1)).expect("64");
        let width = "promised a width that is a multiple of 32";
        for (grid, size, threadgroup) in [
            (Size::linear(33), Size::linear(32), "1 × 1 × 1"),
            (Size::linear(100), Size::linear(64), "36 × 1 × 1"),
            (Size::new(16, 2, 1), Size::new(16, 2, 1), "16 × 2 × 1"),
            (Size::new(8, 8, 8), Size::new(8, 8, 8), "8 × 8 × 8"),
            (Size::new(80, 2, 1), Size::new(32, 2, 1), "16 × 2 × 1"),
        ] {
            let problem = usage(encoder.dispatch_threads(grid, size));
            assert!(problem.contains(&format!("a threadgroup of {threadgroup} threads")), "{problem}");
            assert!(problem.contains(width), "{problem}");
        }
        assert!(usage(encoder.dispatch_threadgroups(SMALL.0, Size::new(16, 2, 1))).contains(width));
    }
}

#[test]
fn a_pipeline_of_rows_needs_no_other_code() {
    let device = device(1);
    let kernel = RustKernel::new(nothing, nothing, 0);
    let descriptor = ComputePipelineDescriptor {
        thread_group_width_is_multiple_of_thread_execution_width: true,
        ..Default::default()
    };
    let rows = [kernel.artifact(Lanes::Row)];
    let pipeline = kernel.pipeline_with_artifacts(&device, &rows, &descriptor).expect("a pipeline");
    let commands = device.new_command_queue().new_command_buffer();
    let mut encoder = commands.compute_command_encoder().expect("an encoder");
    encoder.set_compute_pipeline_state(&pipeline).expect("set");
    kernel.bind(&mut encoder).expect("set");
    encoder.dispatch_threads(Size::new(64, 3, 1), Size::new(32, 2, 1)).expect("rows");
    assert!(usage(encoder.dispatch_threads(Size::linear(33), Size::linear(32))).contains("promised"));
    encoder.end_encoding().expect("it ends");
    commands.commit().expect("it commits");
    commands.wait_until_completed().expect("it runs");
}

#[test]
fn rejects_missing_and_small_buffers() {
    let Setup { device, buffer, mut encoder, .. } = setup_with(&ComputePipelineDescriptor::default(), |kernel| {
        kernel.arguments.push(read_only(argument(ArgumentKind::Buffer, 9, 16)));
    });
    let problem = usage(encoder.dispatch_threadgroups(SMALL.0, SMALL.1));
    assert!(problem.contains("no buffer is bound at index 9 for the argument 'argument_9'"), "{problem}");

    let small = device.new_buffer(8).expect("memory");
    encoder.set_buffer(9, &small, 0).expect("set");
    let problem = usage(encoder.dispatch_threadgroups(SMALL.0, SMALL.1));
    assert!(problem.contains("8 bytes from its offset on; one 'uint' takes 16"), "{problem}");

    encoder.set_buffer(9, &buffer, 248).expect("set");
    assert!(usage(encoder.dispatch_threadgroups(SMALL.0, SMALL.1)).contains("8 bytes from its offset on"));
    encoder.set_buffer(9, &buffer, 100).expect("set");
    assert!(usage(encoder.dispatch_threadgroups(SMALL.0, SMALL.1)).contains("multiple of 4 only"));
    encoder.set_bytes(9, &[1, 2, 3]).expect("set");
    assert!(usage(encoder.dispatch_threadgroups(SMALL.0, SMALL.1)).contains("3 bytes from its offset on"));
    encoder.set_buffer(9, &buffer, 0).expect("set");
    encoder.set_buffer_offset(9, 240).expect("set");
    encoder.dispatch_threadgroups(SMALL.0, SMALL.1).expect("now it fits");
}

#[test]
fn rejects_bindings_out_of_bounds() {
    let Setup { buffer, mut encoder, .. } = setup();
    assert!(usage(encoder.set_buffer(0, &buffer, 256)).contains("offset 256"));
    assert!(usage(encoder.set_buffer(0, &buffer, usize::MAX)).contains("is not inside"));
    assert!(usage(encoder.set_buffer(31, &buffer, 0)).contains("index 31; there are 31, from 0 to 30"));
    assert!(usage(encoder.set_buffer_offset(5, 0)).contains("no buffer is bound at index 5"));
    assert!(usage(encoder.set_buffer_offset(99, 0)).contains("index 99"));
    assert!(usage(encoder.set_bytes(31, &[0])).contains("index 31"));
    assert!(usage(encoder.set_bytes(0, &[0; 4097])).contains("4097 bytes"));
    assert!(usage(encoder.set_bytes(0, &[])).contains("0 bytes"));
    encoder.set_bytes(0, &[0; 4096]).expect("4096 are allowed");
    assert!(usage(encoder.set_threadgroup_memory_length(31, 16)).contains("index 31"));
}

#[test]
fn rejects_threadgroup_memory_over_the_limit() {
    let mut encoder = setup().encoder;
    assert!(usage(encoder.set_threadgroup_memory_length(2, 32784)).contains("at most 32768"));
    assert!(usage(encoder.set_threadgroup_memory_length(2, 20)).contains("multiple of 16"));
    encoder.set_threadgroup_memory_length(2, 0).expect("set");
    let problem = usage(encoder.dispatch_threadgroups(SMALL.0, SMALL.1));
    assert!(problem.contains("has 0 bytes; call set_threadgroup_memory_length with at least 16"), "{problem}");
    encoder.set_threadgroup_memory_length(2, 32768).expect("set");
    encoder.dispatch_threadgroups(SMALL.0, SMALL.1).expect("all of it is allowed");

    let own = |kernel: &mut RustKernel| kernel.static_threadgroup_memory = 1000;
    let mut encoder = setup_with(&ComputePipelineDescriptor::default(), own).encoder;
    encoder.set_threadgroup_memory_length(2, 32768).expect("set");
    let problem = usage(encoder.dispatch_threadgroups(SMALL.0, SMALL.1));
    assert!(problem.contains("33776 bytes of threadgroup memory"), "{problem}");
}

#[test]
fn rejects_unsupported_kernels() {
    let device = device(1);
    let mut kernel = RustKernel::new(nothing, nothing, 0);
    kernel.arguments.push(argument(ArgumentKind::Texture, 0, 0));
    let error = kernel.pipeline(&device).expect_err("textures are not there");
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");

    let kernel = RustKernel { static_threadgroup_memory: 32769, ..RustKernel::new(nothing, nothing, 0) };
    let error = kernel.pipeline(&device).expect_err("too much memory");
    assert!(error.to_string().contains("32769 bytes of threadgroup memory"), "{error}");

    let kernel = RustKernel::new(nothing, nothing, 0);
    let [row, any] = Lanes::ALL.map(|lanes| kernel.artifact(lanes));
    let refused = |artifacts: &[Artifact]| {
        let pipeline = kernel.pipeline_with_artifacts(&device, artifacts, &ComputePipelineDescriptor::default());
        match pipeline.expect_err("it is refused") {
            Error::Library(problem) => problem,
            other => panic!("another error: {other}"),
        }
    };
    assert_eq!(refused(&[]), "a compiled kernel without code");
    let no_code = "kernel 'rust': the artifact is not CPU code";
    assert_eq!(refused(&[row.clone(), Artifact { bytes: row.bytes.clone(), ..any.clone() }]), no_code);
    assert_eq!(refused(&[Artifact { bytes: row.bytes[1..].to_vec(), ..row.clone() }]), no_code);
    assert_eq!(refused(&[Artifact { bytes: Vec::new(), ..row.clone() }]), no_code);
    let other = RustKernel { name: "other", ..kernel.clone() }.artifact(Lanes::Row);
    assert_eq!(refused(&[other, any]), no_code);
}

#[test]
fn missing_code_fails_the_command_buffer() {
    let device = device(1);
    let kernel = RustKernel::new(nothing, nothing, 0);
    let (rows, descriptor) = ([kernel.artifact(Lanes::Row)], ComputePipelineDescriptor::default());
    let pipeline = kernel.pipeline_with_artifacts(&device, &rows, &descriptor).expect("a pipeline");
    let queue = device.new_command_queue();
    let commands = |threads: usize| {
        let commands = queue.new_command_buffer();
        let mut encoder = commands.compute_command_encoder().expect("an encoder");
        encoder.set_compute_pipeline_state(&pipeline).expect("set");
        kernel.bind(&mut encoder).expect("set");
        encoder.dispatch_threads(Size::linear(threads), Size::linear(32)).expect("it is right");
        encoder.end_encoding().expect("it ends");
        commands.commit().expect("it commits");
        commands
    };
    let (bad, good) = (commands(33), commands(64));
    assert!(good.wait_until_completed().is_ok(), "what comes later still runs");
    let error = bad.wait_until_completed().expect_err("it failed");
    assert!(
        error.to_string().contains("was not compiled for threadgroups whose width is not a multiple of 32"),
        "{error}"
    );
    assert_eq!(bad.status(), CommandBufferStatus::Error);
    assert_eq!(bad.error(), Some(error));
    assert_eq!((good.status(), good.error()), (CommandBufferStatus::Completed, None));
}

#[test]
fn rejects_calls_in_the_wrong_order() {
    let Setup { buffer, commands, mut encoder, .. } = setup();
    assert!(usage(commands.wait_until_completed()).contains("not committed"));
    assert!(usage(commands.compute_command_encoder()).contains("open encoder"));
    assert!(usage(commands.commit()).contains("open encoder"));
    encoder.end_encoding().expect("it ends");
    for problem in [
        usage(encoder.set_buffer(0, &buffer, 0)),
        usage(encoder.set_bytes(0, &[1])),
        usage(encoder.dispatch_threads(SMALL.0, SMALL.1)),
        usage(encoder.dispatch_threadgroups(SMALL.0, SMALL.1)),
        usage(encoder.set_threadgroup_memory_length(0, 16)),
        usage(encoder.memory_barrier()),
        usage(encoder.end_encoding()),
    ] {
        assert!(problem.contains("the encoder has ended"), "{problem}");
    }
    let mut empty = commands.compute_command_encoder().expect("another one");
    assert!(usage(empty.dispatch_threads(SMALL.0, SMALL.1)).contains("no pipeline state"));
    empty.end_encoding().expect("it ends");
    commands.commit().expect("it commits");
    assert!(usage(commands.commit()).contains("committed twice"));
    assert!(usage(commands.compute_command_encoder()).contains("was committed"));
    assert!(usage(commands.add_completed_handler(|_| {})).contains("was committed"));
    commands.wait_until_completed().expect("it runs");
    commands.wait_until_completed().expect("it may be waited for again");
}

#[test]
fn a_dropped_encoder_invalidates_its_command_buffer() {
    let Setup { commands, encoder, .. } = setup();
    drop(encoder);
    assert!(usage(commands.commit()).contains("dropped without end_encoding"));
    assert!(usage(commands.compute_command_encoder()).contains("dropped without end_encoding"));
}

#[test]
fn rejects_impossible_buffers() {
    let device = device(1);
    assert!(usage(device.new_buffer(0)).contains("0 bytes"));
    assert!(usage(device.new_buffer_with_bytes(&[])).contains("0 bytes"));
    for len in [1 << 60, usize::MAX, device.max_buffer_length() + 1] {
        let error = device.new_buffer(len).expect_err("there is no such memory");
        assert_eq!(error, Error::OutOfMemory { what: "a buffer".into(), bytes: len as u64 });
    }
    let buffer = device.new_buffer(10).expect("memory");
    assert!(usage(buffer.write(8, &[1u32])).contains("a write of 4 bytes at offset 8 of the buffer of 10 bytes"));
    assert!(usage(buffer.read_at::<u16>(usize::MAX, 1)).contains("a read of 2 bytes"));
    assert!(usage(buffer.read_at::<u64>(0, usize::MAX)).contains("a read of"));
    assert!(usage(buffer.read_into(9, &mut [0u16])).contains("a read of 2 bytes"));
    buffer.write(6, &[0x0403_0201u32]).expect("it fits");
    assert_eq!(buffer.read::<u32>().len(), 2, "the last two bytes are not an element");
    assert_eq!(buffer.read_at::<u8>(6, 4).expect("it is there"), [1, 2, 3, 4]);
}

/// Increments the first byte.
unsafe extern "C" fn increment(d: *const Dispatch, _: *const Threadgroup, _: *const Simdgroup, _: u32) {
    unsafe { *(*d).buffers[0] += 1 };
}

#[test]
fn files_are_mapped_and_not_changed() {
    let device = device(1);
    let path = std::env::temp_dir().join(format!("metalworks-buffer-{}", std::process::id()));
    let bytes: Vec<u8> = (0..10_000).map(|i| i as u8).collect();
    std::fs::write(&path, &bytes).expect("a file");
    let all = device.new_buffer_with_file(&path, ..).expect("all of it");
    assert_eq!(all.read::<u8>(), bytes);
    let part = device.new_buffer_with_file(&path, 5000..5100).expect("a part");
    assert_eq!(part.read::<u8>(), bytes[5000..5100]);

    let kernel = RustKernel::new(increment, increment, 1);
    let grid = DispatchCall::Threadgroups(Size::linear(1), Size::linear(32));
    run(&device.new_command_queue(), &kernel, &[&part], grid).expect("it runs");
    assert_eq!(part.read::<u8>()[0], bytes[5000] + 1);
    assert_eq!(std::fs::read(&path).expect("the file"), bytes, "the file is as it was");

    assert!(matches!(device.new_buffer_with_file(&path, 5000..10_001), Err(Error::File { .. })));
    assert!(matches!(device.new_buffer_with_file(&path, 10_000..), Err(Error::Usage(_))));
    assert!(matches!(device.new_buffer_with_file(&path, 0..=u64::MAX), Err(Error::File { .. })));
    assert!(usage(device.new_buffer_with_file(&path, 10..10)).contains("is empty"));
    std::fs::remove_file(&path).expect("it is there");
    assert!(matches!(device.new_buffer_with_file(&path, ..), Err(Error::File { .. })));
    assert!(device.new_buffer_with_file(std::env::temp_dir(), ..).is_err(), "a directory");
    assert_eq!(part.read::<u8>()[1], bytes[5001], "a mapping outlives its file");
}

#[test]
fn everything_can_be_shared_by_threads() {
    fn sent<T: Send>() {}
    fn shared<T: Send + Sync>() {}
    shared::<Device>();
    shared::<Buffer>();
    shared::<metalworks_compute::CommandQueue>();
    shared::<CommandBuffer>();
    sent::<ComputeCommandEncoder>();
    shared::<metalworks_compute::ComputePipelineState>();
    shared::<Error>();
    #[cfg(llvm)]
    {
        shared::<metalworks_compute::Library>();
        shared::<metalworks_compute::Function>();
    }
}
