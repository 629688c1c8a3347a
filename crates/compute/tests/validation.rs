//! Every mistake is rejected with a message that names the kernel, the argument, the expected and the given value.
//! Mistakes that could corrupt memory are rejected without validation, too.
#![cfg(llvm)]

mod common;

use abi::{Dispatch, Simdgroup, Threadgroup};
use common::{RustKernel, argument, device, read_only};
use metalworks_compute::reflect::{Access, Argument, ArgumentKind};
use metalworks_compute::{
    Buffer, CommandBuffer, CommandBufferDescriptor, ComputeCommandEncoder, Device, DispatchType, Error, Result,
    Size,
};

unsafe extern "C" fn nothing(_: *const Dispatch, _: *const Threadgroup, _: *const Simdgroup, _: u32) {}

/// A kernel `scale` with the arguments `x` (0, read), `y` (1, written), `p` (3, read; 16 bytes) and threadgroup memory
/// `scratch` (0), and an encoder with everything set correctly.
struct Setup {
    device: Device,
    x: Buffer,
    y: Buffer,
    commands: CommandBuffer,
    encoder: ComputeCommandEncoder,
}

const GRID: (Size, Size) = (Size::linear(4), Size::linear(32));

fn named(name: &str, kind: ArgumentKind, index: u32, access: Access, size: u64) -> Argument {
    Argument { name: name.into(), access, ..argument(kind, index, size) }
}

fn setup(validation: bool) -> Setup {
    let device = device(1);
    device.set_validation(validation);
    let kernel = RustKernel {
        name: "scale",
        arguments: vec![
            named("x", ArgumentKind::Buffer, 0, Access::Read, 4),
            named("y", ArgumentKind::Buffer, 1, Access::ReadWrite, 4),
            Argument {
                element_type: "Parameters".into(),
                ..read_only(named("p", ArgumentKind::Buffer, 3, Access::Read, 16))
            },
            named("scratch", ArgumentKind::ThreadgroupMemory, 0, Access::ReadWrite, 4),
        ],
        max_threads: Some(256),
        ..RustKernel::new(nothing, nothing, 0)
    };
    let pipeline = kernel.pipeline(&device).expect("a pipeline");
    let [x, y] = ["x values", "y values"].map(|label| {
        let buffer = device.new_buffer(256).expect("memory");
        buffer.set_label(label);
        buffer
    });
    let descriptor = CommandBufferDescriptor { label: Some("token 1".into()), profiling: false };
    let commands = device.new_command_queue().new_command_buffer_with_descriptor(&descriptor);
    let mut encoder = commands.compute_command_encoder().expect("an encoder");
    encoder.set_compute_pipeline_state(&pipeline).expect("set");
    kernel.bind(&mut encoder).expect("set");
    encoder.set_buffer(0, &x, 0).expect("set");
    encoder.set_buffer(1, &y, 0).expect("set");
    encoder.set_bytes(3, &[0; 16]).expect("set");
    encoder.set_threadgroup_memory_length(0, 64).expect("set");
    Setup { device, x, y, commands, encoder }
}

fn usage<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result.expect_err("it is refused") {
        Error::Usage(problem) => problem,
        other => panic!("another error: {other}"),
    }
}

/// Makes a mistake in a correct encoder and dispatches, with and without validation.
fn refused(mistake: impl Fn(&mut Setup) -> Result<()>, expected: &str) {
    for validation in [true, false] {
        let mut setup = setup(validation);
        let mistaken = mistake(&mut setup);
        let problem = usage(mistaken.and_then(|()| setup.encoder.dispatch_threadgroups(GRID.0, GRID.1)));
        assert_eq!(problem, expected);
        // The encoder is unchanged, and works once the mistake is corrected.
        let Setup { x, y, commands, mut encoder, .. } = setup;
        if x.is_released() {
            continue;
        }
        encoder.set_buffer(0, &x, 0).expect("set");
        encoder.set_buffer(1, &y, 0).expect("set");
        encoder.set_bytes(3, &[0; 16]).expect("set");
        encoder.set_threadgroup_memory_length(0, 64).expect("set");
        encoder.dispatch_threadgroups(GRID.0, GRID.1).expect("it is right");
        encoder.end_encoding().expect("it ends");
        commands.commit().expect("it commits");
        commands.wait_until_completed().expect("it runs");
    }
}

/// The error of an encoder of the same kernel with only the given bindings.
fn missing(bound: &[usize]) -> String {
    let Setup { device, x, .. } = setup(true);
    let mut kernel = RustKernel::new(nothing, nothing, 2);
    kernel.arguments[0].name = "x".into();
    kernel.arguments[1].name = "y".into();
    let pipeline = kernel.pipeline(&device).expect("a pipeline");
    let commands = device.new_command_queue().new_command_buffer();
    let mut encoder = commands.compute_command_encoder().expect("an encoder");
    encoder.set_compute_pipeline_state(&pipeline).expect("set");
    for &index in bound {
        encoder.set_buffer(index, &x, 0).expect("set");
    }
    usage(encoder.dispatch_threads(GRID.0, GRID.1))
}

#[test]
fn rejects_a_missing_binding() {
    assert_eq!(
        missing(&[0]),
        "dispatch_threads of 'rust': no buffer is bound at index 1 for the argument 'y'; call set_buffer or set_bytes"
    );
    assert_eq!(
        missing(&[0, 2]),
        "dispatch_threads of 'rust': no buffer is bound at index 1 for the argument 'y'; call set_buffer or set_bytes \
         (index 2 is bound, but the kernel has no such argument)"
    );
    assert_eq!(
        missing(&[1, 5, 7, 29]),
        "dispatch_threads of 'rust': no buffer is bound at index 0 for the argument 'x'; call set_buffer or set_bytes \
         (indices 5, 7 and 29 are bound, but the kernel has no such arguments)"
    );
}

#[test]
fn rejects_a_binding_that_is_too_small() {
    refused(
        |setup| setup.encoder.set_buffer(3, &setup.x, 248),
        "dispatch_threadgroups of 'scale': buffer 3 for the argument 'p': 8 bytes from its offset on; one 'Parameters' \
         takes 16 (bound is the buffer 'x values' of 256 bytes from offset 248 on)",
    );
    refused(
        |setup| setup.encoder.set_buffer_range(3, &setup.x, 16..24),
        "dispatch_threadgroups of 'scale': buffer 3 for the argument 'p': 8 bytes from its offset on; one 'Parameters' \
         takes 16 (bound is the buffer 'x values' of 256 bytes from offset 16 on)",
    );
    refused(
        |setup| setup.encoder.set_bytes(3, &[0; 12]).map(|_| ()),
        "dispatch_threadgroups of 'scale': buffer 3 for the argument 'p': 12 bytes from its offset on; one \
         'Parameters' takes 16 (bound is 12 bytes of set_bytes)",
    );
}

#[test]
fn rejects_a_misaligned_binding() {
    refused(
        |setup| setup.encoder.set_buffer(1, &setup.y, 6),
        "dispatch_threadgroups of 'scale': buffer 1 for the argument 'y': it begins at a multiple of 2 only; 'uint' \
         needs a multiple of 4 (bound is the buffer 'y values' of 256 bytes from offset 6 on)",
    );
}

/// Metal requires word alignment of constants, whatever their type.
#[test]
fn rejects_a_misaligned_constant() {
    let Setup { device, x, .. } = setup(true);
    let mut kernel = RustKernel::new(nothing, nothing, 1).reading(0);
    let argument = &mut kernel.arguments[0];
    (argument.element_size, argument.element_align, argument.element_type) = (2, 2, "half".into());
    for (space, is_refused) in [("constant", true), ("device", false)] {
        kernel.arguments[0].address_space = space.into();
        let pipeline = kernel.pipeline(&device).expect("a pipeline");
        let commands = device.new_command_queue().new_command_buffer();
        let mut encoder = commands.compute_command_encoder().expect("an encoder");
        encoder.set_compute_pipeline_state(&pipeline).expect("set");
        kernel.bind(&mut encoder).expect("set");
        encoder
            .set_buffer(0, &x, 8)
            .and_then(|()| encoder.dispatch_threads(GRID.0, GRID.1))
            .expect("it is aligned");
        encoder.set_buffer(0, &x, 6).expect("set");
        match (encoder.dispatch_threads(GRID.0, GRID.1), is_refused) {
            (Ok(()), false) => {}
            (refused, _) => {
                assert!(usage(refused).contains("at a multiple of 2 only; 'constant half' needs a multiple of 4"),)
            }
        }
        encoder.end_encoding().expect("it ends");
    }
}

#[test]
fn rejects_an_index_out_of_range() {
    refused(|setup| setup.encoder.set_buffer(31, &setup.y, 0), "set_buffer: index 31; there are 31, from 0 to 30");
    refused(
        |setup| setup.encoder.set_bytes(usize::MAX, &[0]).map(|_| ()),
        &format!("set_bytes: index {}; there are 31, from 0 to 30", usize::MAX),
    );
}

#[test]
fn rejects_ranges_outside_the_buffer() {
    refused(
        |setup| setup.encoder.set_buffer(1, &setup.y, 256),
        "set_buffer: offset 256 at index 1, the argument 'y' of 'scale' is not inside the buffer 'y values' of 256 bytes",
    );
    for (range, text) in [(0..257, "0..257"), (8..8, "8..8"), (257..usize::MAX, "257..18446744073709551615")] {
        refused(
            |setup| setup.encoder.set_buffer_range(2, &setup.y, range.clone()),
            &format!(
                "set_buffer_range: {text} at index 2 is empty or not inside the buffer 'y values' of 256 bytes"
            ),
        );
    }
}

#[test]
fn rejects_an_index_that_no_kernel_uses() {
    let Setup { y, mut encoder, .. } = setup(true);
    encoder.dispatch_threadgroups(GRID.0, GRID.1).expect("it is right");
    encoder.set_buffer(4, &y, 0).expect("set");
    encoder.set_buffer(9, &y, 0).expect("set");
    encoder.dispatch_threadgroups(GRID.0, GRID.1).expect("it is right");
    encoder.set_buffer(8, &y, 0).expect("nothing is dispatched with it");
    assert_eq!(
        usage(encoder.end_encoding()),
        "end_encoding: indices 4 and 9 are bound, and no dispatch since then has such an argument (the last is of \
         'scale', which has 0, 1, 3 and 30)"
    );

    let Setup { device, y, mut encoder, .. } = setup(false);
    encoder.set_buffer(4, &y, 0).expect("set");
    encoder.dispatch_threadgroups(GRID.0, GRID.1).expect("it is right");
    encoder.end_encoding().expect("it was not bound for a dispatch");

    device.set_validation(true);
    let kernel = RustKernel::new(nothing, nothing, 1);
    let pipeline = kernel.pipeline(&device).expect("a pipeline");
    let mut recorder = device.new_command_recorder(DispatchType::Serial);
    recorder.set_compute_pipeline_state(&pipeline).expect("set");
    kernel.bind(&mut recorder).expect("set");
    recorder.set_buffer(0, &y, 0).expect("set");
    // Another kernel used this index, and this one does not.
    let other = RustKernel::new(nothing, nothing, 2);
    recorder.set_compute_pipeline_state(&other.pipeline(&device).expect("a pipeline")).expect("set");
    recorder.set_buffer(1, &y, 0).expect("set");
    recorder.dispatch_threadgroups(GRID.0, GRID.1).expect("it is right");
    recorder.set_compute_pipeline_state(&pipeline).expect("set");
    recorder.set_bytes(1, &[0]).expect("set");
    recorder.dispatch_threadgroups(GRID.0, GRID.1).expect("it is right");
    assert_eq!(
        usage(recorder.finish()),
        "finish: index 1 is bound, and no dispatch since then has such an argument (the last is of 'rust', which has 0 \
         and 30)"
    );
}

#[test]
fn rejects_writes_to_a_read_only_binding() {
    refused(
        |setup| setup.encoder.set_buffer(1, &setup.y.read_only(), 0),
        "dispatch_threadgroups of 'scale': buffer 1 for the argument 'y': the kernel may write to it, but the \
         binding is read-only (bound is the buffer 'y values' of 256 bytes from offset 0 on)",
    );
    refused(
        |setup| {
            setup.encoder.set_buffer(1, &setup.y.read_only(), 0)?;
            setup.encoder.set_buffer_offset(1, 8)
        },
        "dispatch_threadgroups of 'scale': buffer 1 for the argument 'y': the kernel may write to it, but the \
         binding is read-only (bound is the buffer 'y values' of 256 bytes from offset 8 on)",
    );
    refused(
        |setup| setup.encoder.set_bytes(1, &[0; 4]).map(|_| ()),
        "dispatch_threadgroups of 'scale': buffer 1 for the argument 'y': the kernel may write to it, but set_bytes \
         data is read-only; use a buffer (bound is 4 bytes of set_bytes)",
    );
    let Setup { x, mut encoder, .. } = setup(true);
    encoder.set_buffer(0, &x.read_only(), 0).expect("set");
    encoder.dispatch_threadgroups(GRID.0, GRID.1).expect("it is only read");
    let problem = usage(x.read_only().write(0, &[1u8]));
    assert_eq!(problem, "a write to the buffer 'x values' of 256 bytes, which is read-only");
    assert!(x.read_only().is_read_only() && !x.is_read_only());
}

#[test]
fn rejects_a_released_buffer() {
    refused(
        |setup| {
            setup.x.release();
            setup.encoder.set_buffer(0, &setup.x.clone(), 0)
        },
        "set_buffer: the buffer 'x values' of 256 bytes was released (index 0, the argument 'x' of 'scale')",
    );
}

#[test]
fn rejects_a_buffer_released_after_it_was_bound() {
    for validation in [true, false] {
        let Setup { x, y, commands, mut encoder, .. } = setup(validation);
        y.write(0, &[1u8; 256]).expect("written");
        encoder.dispatch_threadgroups(GRID.0, GRID.1).expect("it is right");
        encoder.end_encoding().expect("it ends");
        x.release();
        assert_eq!(
            usage(commands.commit()),
            "commit: dispatch 0, of 'scale': buffer 0 for the argument 'x': the buffer 'x values' of 256 bytes was \
             released after it was bound"
        );
        assert_eq!(y.read::<u8>(), [1; 256], "other buffers are unchanged");
    }
}

#[test]
fn a_released_buffer_reads_as_zeros() {
    let device = device(1);
    let path = std::env::temp_dir().join(format!("metalworks-released-{}", std::process::id()));
    std::fs::write(&path, vec![7; 100_000]).expect("a file");
    let buffers = [
        device.new_buffer_with_bytes(&vec![7; 100_000]).expect("memory"),
        device.new_buffer_with_file(&path, ..).expect("a mapping"),
        device.new_buffer_with_file(&path, 5001..9000).expect("a mapping"),
        device.new_buffer(16 << 20).expect("memory"),
    ];
    for buffer in &buffers {
        let (clone, view) = (buffer.clone(), buffer.read_only());
        assert!(!buffer.is_released());
        buffer.release();
        buffer.release();
        assert!(clone.is_released() && view.is_released());
        assert!(clone.read::<u8>().iter().all(|&byte| byte == 0));
        // SAFETY: the memory is still mapped, and no other code uses it.
        unsafe { clone.contents().add(clone.len() - 1).write_volatile(1) };
        let len = buffer.len();
        let problem = usage(buffer.write(0, &[1u8]));
        assert_eq!(problem, format!("a write of the buffer of {len} bytes, which was released"));
        assert!(usage(view.read_at::<u8>(0, 1)).contains("which was released"));
    }
    assert_eq!(std::fs::read(&path).expect("the file"), vec![7; 100_000], "the file is unchanged");
    std::fs::remove_file(&path).expect("it is there");
}

#[test]
fn rejects_threadgroups_that_are_too_large() {
    for validation in [true, false] {
        let mut encoder = setup(validation).encoder;
        assert_eq!(
            usage(encoder.dispatch_threadgroups(GRID.0, Size::new(32, 9, 1))),
            "dispatch_threadgroups of 'scale': a threadgroup of 32 × 9 × 1 threads; at most 256 are allowed in all"
        );
        assert_eq!(
            usage(encoder.dispatch_threads(Size::linear(0), GRID.1)),
            "dispatch_threads of 'scale': a dimension is 0 (grid of 0 × 1 × 1 threads in threadgroups of 32 × 1 × 1); \
             each must be at least 1"
        );
        assert_eq!(
            usage(encoder.dispatch_threads(Size::linear(1 << 32), GRID.1)),
            "dispatch_threads of 'scale': a grid of 4294967296 × 1 × 1 threads; positions have 32 bits, sizes 64"
        );
    }
}

#[test]
fn rejects_missing_threadgroup_memory() {
    refused(
        |setup| setup.encoder.set_threadgroup_memory_length(0, 0),
        "dispatch_threadgroups of 'scale': threadgroup memory 0 for the argument 'scratch' has 0 bytes; call \
         set_threadgroup_memory_length with at least 4",
    );
    refused(
        |setup| setup.encoder.set_threadgroup_memory_length(0, 40_000),
        "set_threadgroup_memory_length: 40000 bytes at index 0, the argument 'scratch' of 'scale'; at most 32768 are available",
    );
    refused(
        |setup| setup.encoder.set_threadgroup_memory_length(0, 20),
        "set_threadgroup_memory_length: 20 bytes at index 0, the argument 'scratch' of 'scale'; it must be a multiple of 16",
    );
}

#[test]
fn rejects_too_many_bytes() {
    refused(
        |setup| setup.encoder.set_bytes(3, &[0; 4097]).map(|_| ()),
        "set_bytes: 4097 bytes at index 3, the argument 'p' of 'scale'; it takes 1 to 4096, use a buffer for more",
    );
}

#[test]
fn rejects_encoding_after_the_end_and_a_second_commit() {
    for validation in [true, false] {
        let Setup { y, commands, mut encoder, .. } = setup(validation);
        assert_eq!(
            usage(commands.commit()),
            "commit for the command buffer 'token 1' with an open encoder; call end_encoding first"
        );
        encoder.dispatch_threadgroups(GRID.0, GRID.1).expect("it is right");
        encoder.end_encoding().expect("it ends");
        let ended = "the encoder has ended; create a new one from the command buffer 'token 1'";
        assert_eq!(usage(encoder.set_buffer(1, &y, 0)), format!("set_buffer: {ended}"));
        assert_eq!(usage(encoder.set_buffer_range(1, &y, 0..8)), format!("set_buffer_range: {ended}"));
        assert_eq!(usage(encoder.dispatch_threads(GRID.0, GRID.1)), format!("dispatch_threads: {ended}"));
        commands.commit().expect("it commits");
        assert_eq!(
            usage(commands.commit()),
            "the command buffer 'token 1' was committed twice; create a new one for each submission"
        );
        assert_eq!(
            usage(commands.compute_command_encoder()),
            "an encoder for the command buffer 'token 1' that was committed; create a new command buffer"
        );
        commands.wait_until_completed().expect("it runs");
    }
}

#[test]
fn validation_is_a_switch_of_the_device() {
    let device = device(1);
    for on in [true, false] {
        device.set_validation(on);
        assert_eq!((device.is_validating(), device.clone().is_validating()), (on, on));
    }
}
