//! Copies, fills, and private buffers.
#![cfg(llvm)]

mod common;

use abi::{Dispatch, Simdgroup, Threadgroup};
use common::{RustKernel, device, numbers};
use metalworks_compute::{
    Buffer, CommandBuffer, CommandBufferDescriptor, CommandQueue, ComputePipelineState, Device, DispatchType,
    Error, Patch, Recording, Result, Size, StorageMode,
};
use std::ptr::NonNull;
use std::sync::mpsc::channel;

/// Adds the number in buffer 1 to the eight numbers in buffer 0.
unsafe extern "C" fn add(d: *const Dispatch, _: *const Threadgroup, _: *const Simdgroup, _: u32) {
    unsafe {
        for i in 0..8 {
            *numbers(d, 0).add(i) += *numbers(d, 1);
        }
    }
}

struct Setup {
    device: Device,
    queue: CommandQueue,
    kernel: RustKernel,
    pipeline: ComputePipelineState,
}

impl Setup {
    fn new() -> Setup {
        let device = device(2);
        let kernel = RustKernel::new(add, add, 2).reading(1);
        Setup {
            queue: device.new_command_queue(),
            pipeline: kernel.pipeline(&device).expect("a pipeline"),
            kernel,
            device,
        }
    }

    fn private(&self) -> Buffer {
        self.device.new_buffer_with_storage_mode(32, StorageMode::Private).expect("memory")
    }

    fn shared(&self, first: u32) -> Buffer {
        let numbers: Vec<u32> = (first..first + 8).collect();
        self.device.new_buffer_with_bytes(bytemuck::cast_slice(&numbers)).expect("memory")
    }

    fn encode(&self, commands: &CommandBuffer, buffer: &Buffer, step: u32) {
        let mut encoder =
            commands.compute_command_encoder_with_dispatch_type(DispatchType::Concurrent).expect("an encoder");
        encoder.set_compute_pipeline_state(&self.pipeline).expect("set");
        self.kernel.bind(&mut encoder).expect("set");
        encoder.set_buffer(0, buffer, 0).expect("set");
        encoder.set_bytes(1, &step.to_ne_bytes()).expect("set");
        encoder.dispatch_threadgroups(Size::linear(1), Size::linear(32)).expect("it is right");
        encoder.end_encoding().expect("it ends");
    }

    fn record(&self, buffer: &Buffer, step: u32) -> (Recording, metalworks_compute::BytesLocation) {
        let mut recorder = self.device.new_command_recorder(DispatchType::Concurrent);
        recorder.set_compute_pipeline_state(&self.pipeline).expect("set");
        self.kernel.bind(&mut recorder).expect("set");
        recorder.set_buffer(0, buffer, 0).expect("set");
        let location = recorder.set_bytes(1, &step.to_ne_bytes()).expect("set");
        recorder.dispatch_threadgroups(Size::linear(1), Size::linear(32)).expect("it is right");
        (recorder.finish().expect("a recording"), location)
    }
}

fn run(commands: &CommandBuffer) {
    commands.commit().expect("it commits");
    commands.wait_until_completed().expect("it runs");
}

fn usage<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result.expect_err("it is refused") {
        Error::Usage(problem) => problem,
        other => panic!("another error: {other}"),
    }
}

#[test]
fn a_private_buffer_is_filled_used_and_read() {
    let setup = Setup::new();
    let (input, private, output) = (setup.shared(0), setup.private(), setup.shared(100));
    let commands =
        setup.queue.new_command_buffer_with_descriptor(&CommandBufferDescriptor { label: None, profiling: true });
    commands.copy_buffer(&input, 0..32, &private, 0).expect("a copy");
    setup.encode(&commands, &private, 10);
    commands.copy_buffer(&private, 8..32, &output, 4).expect("a copy");
    setup.encode(&commands, &private, 1000);
    run(&commands);
    assert_eq!(output.read::<u32>(), [100, 12, 13, 14, 15, 16, 17, 107]);
    assert_eq!(commands.dispatch_timings().len(), 2, "copies are not dispatches");

    // The next command buffer sees the results of this one.
    let commands = setup.queue.new_command_buffer();
    commands.copy_buffer(&private, 0..8, &output, 24).expect("a copy");
    run(&commands);
    assert_eq!(output.read::<u32>()[6..], [1010, 1011]);
}

#[test]
fn copies_and_replays_keep_their_order() {
    let setup = Setup::new();
    let (input, private, outputs) = (setup.shared(0), setup.private(), [(); 4].map(|()| setup.shared(0)));
    let (recording, location) = setup.record(&private, 1);
    let commands = setup.queue.new_command_buffer();
    commands.copy_buffer(&input, 0..32, &private, 0).expect("a copy");
    for (output, step) in outputs.iter().zip([1u32, 20, 300, 4000]) {
        let bytes = step.to_ne_bytes();
        commands.replay(&recording, &[Patch { location, offset: 0, bytes: &bytes }]).expect("a replay");
        commands.copy_buffer(&private, 0..32, output, 0).expect("a copy");
    }
    setup.encode(&commands, &private, 50_000);
    commands.copy_buffer(&private, 0..4, &outputs[0], 28).expect("a copy");
    run(&commands);
    assert_eq!(outputs[0].read::<u32>(), [1, 2, 3, 4, 5, 6, 7, 54_321]);
    for (output, sum) in outputs[1..].iter().zip([21, 321, 4321]) {
        assert_eq!(output.read::<u32>(), (sum..sum + 8).collect::<Vec<u32>>());
    }
}

#[test]
fn copies_within_one_buffer() {
    let setup = Setup::new();
    let buffer = setup.shared(0);
    let commands = setup.queue.new_command_buffer();
    commands.copy_buffer(&buffer, 0..8, &buffer, 8).expect("they only touch");
    commands.copy_buffer(&buffer, 0..16, &buffer, 16).expect("they only touch");
    commands.copy_buffer(&buffer.read_only(), 28..32, &buffer, 0).expect("a view can be read");
    run(&commands);
    assert_eq!(buffer.read::<u32>(), [1, 1, 0, 1, 0, 1, 0, 1]);
}

#[test]
fn the_host_cannot_access_private_memory() {
    let buffer = Setup::new().private();
    buffer.set_label("kept");
    let problem = "of the buffer 'kept' of 32 bytes, which is private to its device; \
                   copy it to or from a shared one (copy_buffer)";
    assert_eq!(usage(buffer.write(0, &[1u32])), format!("a write {problem}"));
    assert_eq!(usage(buffer.read_at::<u32>(0, 1)), format!("a read {problem}"));
    assert_eq!(usage(buffer.read_into(0, &mut [0u32])), format!("a read {problem}"));
    assert!(buffer.contents().is_null() && buffer.read::<u8>().is_empty());
    assert_eq!((buffer.storage_mode(), buffer.len()), (StorageMode::Private, 32));
    assert_eq!(Setup::new().shared(0).storage_mode(), StorageMode::Shared);
}

#[test]
fn addresses_overlap_where_memory_does() {
    let setup = Setup::new();
    let buffers = [setup.private(), setup.private(), setup.shared(0)];
    for (i, one) in buffers.iter().enumerate() {
        for (j, other) in buffers.iter().enumerate() {
            let (a, b) = (one.addresses(0..32), other.read_only().addresses(16..32));
            assert_eq!(a.start < b.end && b.start < a.end, i == j, "{i} {j}");
        }
        assert_eq!(one.addresses(4..12).end - one.addresses(0..1).start, 12);
    }
}

#[test]
fn rejects_wrong_copies() {
    let setup = Setup::new();
    let (a, b) = (setup.shared(0), setup.private());
    b.set_label("b");
    let commands = setup.queue.new_command_buffer();
    let refused = |from: &Buffer, start: usize, end: usize, to: &Buffer, offset: usize| {
        usage(commands.copy_buffer(from, start..end, to, offset))
    };
    let source = "is empty or not inside the buffer of 32 bytes, the source";
    assert_eq!(refused(&a, 4, 4, &b, 0), format!("copy_buffer: 4..4 {source}"));
    assert_eq!(refused(&a, 8, 4, &b, 0), format!("copy_buffer: 8..4 {source}"));
    assert_eq!(refused(&a, 0, 36, &b, 0), format!("copy_buffer: 0..36 {source}"));
    assert_eq!(refused(&a, 0, usize::MAX, &b, 0), format!("copy_buffer: 0..{} {source}", usize::MAX));
    let destination = "are not inside the buffer 'b' of 32 bytes, the destination";
    assert_eq!(refused(&a, 0, 8, &b, 28), format!("copy_buffer: 8 bytes at offset 28 {destination}"));
    assert_eq!(
        refused(&a, 0, 8, &b, usize::MAX - 3),
        format!("copy_buffer: 8 bytes at offset {} {destination}", usize::MAX - 3)
    );
    assert_eq!(
        refused(&a, 0, 8, &b.read_only(), 0),
        "copy_buffer: the buffer 'b' of 32 bytes, the destination, is read-only"
    );
    assert_eq!(
        refused(&b, 0, 12, &b, 8),
        "copy_buffer: 0..12 and 8..20 of the buffer 'b' of 32 bytes overlap; copy through another buffer"
    );
    for (start, end, offset, what) in
        [(1, 9, 0, "the source begins at"), (0, 8, 2, "the destination begins at"), (0, 7, 0, "the length is")]
    {
        let divisor = if offset == 2 { 2 } else { 1 };
        assert_eq!(
            refused(&a, start, end, &b, offset),
            format!("copy_buffer: {what} a multiple of {divisor} only; Metal needs one of 4")
        );
    }

    let encoder = commands.compute_command_encoder().expect("an encoder");
    assert!(refused(&a, 0, 4, &b, 0).contains("a copy for a command buffer with an open encoder"));
    drop(encoder);
    assert!(refused(&a, 0, 4, &b, 0).contains("dropped without end_encoding"));

    let commands = setup.queue.new_command_buffer();
    run(&commands);
    assert!(usage(commands.copy_buffer(&a, 0..4, &b, 0)).contains("that was committed"));
}

#[test]
fn rejects_copies_of_released_buffers() {
    let setup = Setup::new();
    let (a, b) = (setup.shared(0), setup.private());
    let commands = setup.queue.new_command_buffer();
    commands.copy_buffer(&a, 0..4, &b, 0).expect("a copy");
    b.release();
    let problem = "a copy from or to the buffer of 32 bytes, which was released";
    assert_eq!(usage(commands.commit()), format!("commit: {problem}"));
    let commands = setup.queue.new_command_buffer();
    assert_eq!(usage(commands.copy_buffer(&b, 0..4, &a, 0)), format!("copy_buffer: {problem}"));
}

#[test]
fn fills_set_bytes_of_private_and_shared_buffers() {
    let setup = Setup::new();
    let (shared, private, output) = (setup.shared(0), setup.private(), setup.shared(0));
    let commands = setup.queue.new_command_buffer();
    commands.fill_buffer(&shared, 4..16, 0xab).expect("a part");
    commands.fill_buffer(&shared, 28..32, 0).expect("the end");
    commands.fill_buffer(&private, 0..32, 0xff).expect("all of it");
    commands.fill_buffer(&private, 8..12, 1).expect("a part");
    commands.copy_buffer(&private, 0..32, &output, 0).expect("a copy");
    assert_eq!(shared.read::<u32>(), [0, 1, 2, 3, 4, 5, 6, 7], "nothing happens before the commit");
    run(&commands);
    let filled = 0xabab_abab;
    assert_eq!(shared.read::<u32>(), [0, filled, filled, filled, 4, 5, 6, 0]);
    let mut expected = [u32::MAX; 8];
    expected[2] = 0x0101_0101;
    assert_eq!(output.read::<u32>(), expected);
}

#[test]
fn fills_keep_their_order_with_dispatches_replays_and_copies() {
    let setup = Setup::new();
    let (private, outputs) = (setup.private(), [(); 3].map(|()| setup.shared(100)));
    let (recording, _) = setup.record(&private, 5);
    let descriptor = CommandBufferDescriptor { label: None, profiling: true };
    let commands = setup.queue.new_command_buffer_with_descriptor(&descriptor);
    commands.fill_buffer(&private, 0..32, 0).expect("a fill");
    setup.encode(&commands, &private, 7);
    commands.copy_buffer(&private, 0..32, &outputs[0], 0).expect("a copy");
    commands.fill_buffer(&private, 0..16, 0).expect("a fill");
    commands.replay(&recording, &[]).expect("a replay");
    commands.copy_buffer(&private, 0..32, &outputs[1], 0).expect("a copy");
    commands.fill_buffer(&private, 0..32, 1).expect("a fill");
    commands.fill_buffer(&outputs[2], 0..4, 0).expect("a fill");
    commands.copy_buffer(&private, 0..4, &outputs[2], 4).expect("a copy");
    commands.fill_buffer(&private, 0..32, 2).expect("a fill");
    run(&commands);
    assert_eq!(outputs[0].read::<u32>(), [7; 8]);
    assert_eq!(outputs[1].read::<u32>(), [5, 5, 5, 5, 12, 12, 12, 12]);
    assert_eq!(outputs[2].read::<u32>()[..3], [0, 0x0101_0101, 102]);
    assert_eq!(commands.dispatch_timings().len(), 2, "fills are not dispatches");

    // The next command buffer sees the results of this one.
    let commands = setup.queue.new_command_buffer();
    commands.copy_buffer(&private, 0..4, &outputs[2], 8).expect("a copy");
    run(&commands);
    assert_eq!(outputs[2].read::<u32>()[2], 0x0202_0202);
}

#[test]
fn rejects_wrong_fills() {
    let setup = Setup::new();
    for buffer in [setup.shared(0), setup.private()] {
        buffer.set_label("b");
        let commands = setup.queue.new_command_buffer();
        let refused = |start: usize, end: usize| usage(commands.fill_buffer(&buffer, start..end, 1));
        let outside = "is empty or not inside the buffer 'b' of 32 bytes";
        for (start, end) in
            [(4, 4), (8, 4), (0, 36), (28, 36), (32, 36), (0, usize::MAX), (usize::MAX - 3, usize::MAX)]
        {
            assert_eq!(refused(start, end), format!("fill_buffer: {start}..{end} {outside}"));
        }
        for (start, end, what, divisor) in
            [(1, 5, "the range begins at", 1), (2, 6, "the range begins at", 2), (0, 7, "the length is", 1)]
        {
            let problem = format!("fill_buffer: {what} a multiple of {divisor} only; Metal needs one of 4");
            assert_eq!(refused(start, end), problem);
        }
        assert_eq!(
            usage(commands.fill_buffer(&buffer.read_only(), 0..4, 1)),
            "fill_buffer: the buffer 'b' of 32 bytes is read-only"
        );
        let encoder = commands.compute_command_encoder().expect("an encoder");
        assert!(refused(0, 4).contains("a fill for a command buffer with an open encoder"));
        drop(encoder);
        assert!(refused(0, 4).contains("dropped without end_encoding"));
        let commands = setup.queue.new_command_buffer();
        run(&commands);
        assert!(
            usage(commands.fill_buffer(&buffer, 0..4, 1))
                .contains("a fill for a command buffer that was committed")
        );
    }
}

#[test]
fn a_refused_fill_leaves_nothing_behind() {
    let setup = Setup::new();
    let buffer = setup.shared(0);
    let commands = setup.queue.new_command_buffer();
    commands.fill_buffer(&buffer, 0..4, 9).expect("a fill");
    assert!(commands.fill_buffer(&buffer, 4..7, 9).is_err());
    run(&commands);
    assert_eq!(buffer.read::<u32>(), [0x0909_0909, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn rejects_fills_of_released_buffers() {
    let setup = Setup::new();
    for buffer in [setup.shared(0), setup.private()] {
        let commands = setup.queue.new_command_buffer();
        commands.fill_buffer(&buffer, 0..4, 1).expect("a fill");
        buffer.release();
        let problem = "a fill of the buffer of 32 bytes, which was released";
        assert_eq!(usage(commands.commit()), format!("commit: {problem}"));
        let commands = setup.queue.new_command_buffer();
        assert_eq!(usage(commands.fill_buffer(&buffer, 0..4, 1)), format!("fill_buffer: {problem}"));
    }
}

#[test]
fn a_fill_keeps_its_buffer_alive() {
    let setup = Setup::new();
    let (output, private) = (setup.shared(0), setup.private());
    let commands = setup.queue.new_command_buffer();
    commands.fill_buffer(&private, 0..32, 3).expect("a fill");
    commands.copy_buffer(&private, 0..32, &output, 0).expect("a copy");
    drop(private);
    run(&commands);
    assert_eq!(output.read::<u8>(), [3; 32]);
}

#[test]
fn the_callers_memory_is_not_copied() {
    let setup = Setup::new();
    let mut memory: Box<[u32]> = (0..8).collect();
    let bytes = NonNull::slice_from_raw_parts(NonNull::from(&mut memory[0]).cast(), 32);
    let address = memory.as_ptr().addr();
    let (sender, is_gone) = channel::<()>();
    // SAFETY: the owner has the memory, and no other code accesses it.
    let owner = std::sync::Mutex::new((memory, sender));
    let buffer = unsafe { setup.device.new_buffer_with_bytes_no_copy(bytes, owner) }.expect("a buffer");
    assert_eq!((buffer.contents().addr(), buffer.len()), (address, 32));
    let commands = setup.queue.new_command_buffer();
    setup.encode(&commands, &buffer, 5);
    run(&commands);
    assert_eq!(buffer.read::<u32>(), [5, 6, 7, 8, 9, 10, 11, 12]);
    buffer.release();
    assert_eq!(buffer.read::<u32>()[0], 0, "a released buffer reads as zeros");
    // SAFETY: the owner still has the memory.
    assert_eq!(unsafe { bytes.cast::<u32>().read() }, 5, "it is the caller's memory");
    assert!(is_gone.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty));
    drop(buffer);
    drop(commands);
    assert!(is_gone.try_recv() == Err(std::sync::mpsc::TryRecvError::Disconnected), "the owner was dropped");
    let nothing = NonNull::slice_from_raw_parts(NonNull::dangling(), 0);
    // SAFETY: no bytes are accessed.
    assert!(usage(unsafe { setup.device.new_buffer_with_bytes_no_copy(nothing, ()) }).contains("0 bytes"));
}
