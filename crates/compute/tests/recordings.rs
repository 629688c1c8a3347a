//! Recordings are replayed many times, each time with their own bytes.
#![cfg(llvm)]

mod common;

use abi::{Dispatch, Lanes, Simdgroup, Threadgroup};
use common::{RustKernel, device, numbers};
use metalworks_compute::{
    Buffer, BytesLocation, CommandBufferDescriptor, CommandBufferStatus, CommandQueue, ComputePipelineDescriptor,
    ComputePipelineState, Device, DispatchType, Error, Patch, Recording, Result, Size,
};
use std::sync::{Arc, Mutex};

/// Appends the number in buffer 1 to the list in buffer 0, whose first number is its length.
unsafe extern "C" fn append(d: *const Dispatch, _: *const Threadgroup, _: *const Simdgroup, _: u32) {
    unsafe {
        let list = numbers(d, 0);
        let len = *list as usize;
        *list.add(len + 1) = *numbers(d, 1);
        *list = len as u32 + 1;
    }
}

struct List {
    device: Device,
    queue: CommandQueue,
    kernel: RustKernel,
    pipeline: ComputePipelineState,
    buffer: Buffer,
}

impl List {
    fn new() -> List {
        List::with_kernel(RustKernel::new(append, append, 2).reading(1))
    }

    fn with_kernel(kernel: RustKernel) -> List {
        let device = device(2);
        List {
            pipeline: kernel.pipeline(&device).expect("a pipeline"),
            kernel,
            buffer: device.new_buffer(64 << 10).expect("memory"),
            queue: device.new_command_queue(),
            device,
        }
    }

    /// Records dispatches that append these numbers; returns the locations of the numbers.
    fn record(&self, numbers: &[u32]) -> Result<(Recording, Vec<BytesLocation>)> {
        self.record_into(&self.buffer, numbers)
    }

    fn record_into(&self, buffer: &Buffer, numbers: &[u32]) -> Result<(Recording, Vec<BytesLocation>)> {
        let mut recorder = self.device.new_command_recorder(DispatchType::Serial);
        recorder.set_compute_pipeline_state(&self.pipeline)?;
        self.kernel.bind(&mut recorder)?;
        recorder.set_buffer(0, buffer, 0)?;
        let mut locations = Vec::new();
        for number in numbers {
            locations.push(recorder.set_bytes(1, &number.to_ne_bytes())?);
            recorder.dispatch_threadgroups(Size::linear(1), Size::linear(32))?;
        }
        Ok((recorder.finish()?, locations))
    }

    fn run(&self, replays: &[(&Recording, &[Patch])]) -> Result<()> {
        let commands = self.queue.new_command_buffer();
        for (recording, patches) in replays {
            commands.replay(recording, patches)?;
        }
        commands.commit()?;
        commands.wait_until_completed()
    }

    fn contents(&self) -> Vec<u32> {
        contents(&self.buffer)
    }
}

fn contents(buffer: &Buffer) -> Vec<u32> {
    let len = buffer.read_at::<u32>(0, 1).expect("it is there")[0];
    buffer.read_at::<u32>(4, len as usize).expect("it is there")
}

fn usage<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result.expect_err("it is refused") {
        Error::Usage(problem) => problem,
        other => panic!("another error: {other}"),
    }
}

#[test]
fn a_recording_runs_once_per_replay() {
    let list = List::new();
    let (recording, _) = list.record(&[1, 2, 3]).expect("a recording");
    assert_eq!((recording.dispatch_count(), recording.barrier_count()), (3, 2));
    assert!(list.contents().is_empty(), "recording runs nothing");
    list.run(&[(&recording, &[])]).expect("it runs");
    list.run(&[(&recording, &[]), (&recording, &[])]).expect("it runs");
    assert_eq!(list.contents(), [1, 2, 3, 1, 2, 3, 1, 2, 3]);
}

#[test]
fn patches_apply_to_one_replay() {
    let list = List::new();
    let (recording, at) = list.record(&[1, 2, 3]).expect("a recording");
    let patch = |location, bytes| Patch { location, offset: 0, bytes };
    let (seven, eight) = (7u32.to_ne_bytes(), 8u32.to_ne_bytes());
    list.run(&[(&recording, &[patch(at[1], &seven)]), (&recording, &[]), (&recording, &[patch(at[0], &eight)])])
        .expect("it runs");
    list.run(&[(&recording, &[])]).expect("it runs");
    // The later of two patches of the same bytes counts, and a part of the bytes can be patched.
    let half = Patch { location: at[2], offset: 1, bytes: &[1] };
    list.run(&[(&recording, &[patch(at[0], &eight), patch(at[0], &seven), half])]).expect("it runs");
    list.run(&[(&recording, &[])]).expect("it runs");
    let third = u32::from_ne_bytes({
        let mut bytes = 3u32.to_ne_bytes();
        bytes[1] = 1;
        bytes
    });
    assert_eq!(list.contents(), [1, 7, 3, 1, 2, 3, 8, 2, 3, 1, 2, 3, 7, 2, third, 1, 2, 3]);
}

#[test]
fn the_bytes_of_patches_are_copied() {
    let list = List::new();
    let (recording, at) = list.record(&[1]).expect("a recording");
    let commands = list.queue.new_command_buffer();
    for number in 10..20u32 {
        let bytes = number.to_ne_bytes();
        commands.replay(&recording, &[Patch { location: at[0], offset: 0, bytes: &bytes }]).expect("added");
    }
    commands.commit().expect("it commits");
    commands.wait_until_completed().expect("it runs");
    assert_eq!(list.contents(), (10..20).collect::<Vec<u32>>());
}

#[test]
fn replays_and_encoders_run_in_order() {
    let list = List::new();
    let (recording, _) = list.record(&[1, 2]).expect("a recording");
    let commands = list.queue.new_command_buffer();
    for number in [10u32, 20] {
        let mut encoder = commands.compute_command_encoder().expect("an encoder");
        encoder.set_compute_pipeline_state(&list.pipeline).expect("set");
        list.kernel.bind(&mut encoder).expect("set");
        encoder.set_buffer(0, &list.buffer, 0).expect("set");
        encoder.set_bytes(1, &number.to_ne_bytes()).expect("set");
        encoder.dispatch_threadgroups(Size::linear(1), Size::linear(32)).expect("it is right");
        assert!(usage(commands.replay(&recording, &[])).contains("open encoder"));
        encoder.end_encoding().expect("it ends");
        commands.replay(&recording, &[]).expect("added");
    }
    commands.commit().expect("it commits");
    assert!(usage(commands.replay(&recording, &[])).contains("a replay for a command buffer that was committed"));
    commands.wait_until_completed().expect("it runs");
    assert_eq!(list.contents(), [10, 1, 2, 20, 1, 2]);
}

#[test]
fn locations_are_found_by_dispatch_and_index() {
    let list = List::new();
    let (recording, at) = list.record(&[1, 2, 3]).expect("a recording");
    for (dispatch, location) in at.iter().enumerate() {
        assert_eq!(recording.bytes_location(dispatch, 1), Some(*location));
    }
    assert_eq!(recording.bytes_location(0, 0), None, "a buffer");
    assert_eq!(recording.bytes_location(0, 2), None, "nothing");
    assert_eq!(recording.bytes_location(3, 1), None, "no such dispatch");
}

#[test]
fn rejects_patches_that_do_not_fit() {
    let list = List::new();
    let (recording, at) = list.record(&[1]).expect("a recording");
    let (_, others) = list.record(&[1]).expect("a recording");
    let commands = list.queue.new_command_buffer();
    let replay = |patch: Patch| {
        let good = Patch { location: at[0], offset: 0, bytes: &[9, 9, 9, 9] };
        usage(commands.replay(&recording, &[good, patch]))
    };
    let expected = "replay: a patch of 4 bytes at offset 1; set_bytes recorded 4 there";
    assert_eq!(replay(Patch { location: at[0], offset: 1, bytes: &[0; 4] }), expected);
    let expected = format!("replay: a patch of 1 bytes at offset {}; set_bytes recorded 4 there", usize::MAX);
    assert_eq!(replay(Patch { location: at[0], offset: usize::MAX, bytes: &[0] }), expected);
    let expected = "replay: a patch has a location of another recording or command buffer";
    assert_eq!(replay(Patch { location: others[0], offset: 0, bytes: &[0] }), expected);
    let mut encoder = commands.compute_command_encoder().expect("an encoder");
    let location = encoder.set_bytes(0, &[1]).expect("set");
    encoder.end_encoding().expect("it ends");
    assert_eq!(replay(Patch { location, offset: 0, bytes: &[0] }), expected);

    commands.replay(&recording, &[]).expect("added");
    commands.commit().expect("it commits");
    commands.wait_until_completed().expect("it runs");
    assert_eq!(list.contents(), [1], "only what was accepted, with nothing of what was not");
}

#[test]
fn a_recording_is_ended_by_finish() {
    let list = List::new();
    let mut recorder = list.device.new_command_recorder(DispatchType::Serial);
    assert_eq!(usage(recorder.end_encoding()), "end_encoding: call finish to end a recording");
    let empty = recorder.finish().expect("nothing is something");
    assert_eq!((empty.dispatch_count(), empty.barrier_count()), (0, 0));
    list.run(&[(&empty, &[]), (&empty, &[])]).expect("it runs");
    drop(list.device.new_command_recorder(DispatchType::Concurrent));
}

#[test]
fn recordings_are_for_one_device() {
    let list = List::new();
    let (recording, _) = list.record(&[1]).expect("a recording");
    let commands = device(1).new_command_queue().new_command_buffer();
    assert_eq!(usage(commands.replay(&recording, &[])), "replay: the recording belongs to another device");
}

#[test]
fn finish_fails_if_code_is_missing() {
    let list = List::new();
    let (rows, descriptor) = ([list.kernel.artifact(Lanes::Row)], ComputePipelineDescriptor::default());
    let pipeline = list.kernel.pipeline_with_artifacts(&list.device, &rows, &descriptor).expect("a pipeline");
    let record = |threads: usize| {
        let mut recorder = list.device.new_command_recorder(DispatchType::Serial);
        recorder.set_compute_pipeline_state(&pipeline).expect("set");
        list.kernel.bind(&mut recorder).expect("set");
        recorder.set_buffer(0, &list.buffer, 0).expect("set");
        recorder.set_bytes(1, &[0; 4]).expect("set");
        recorder.dispatch_threads(Size::linear(threads), Size::linear(32)).expect("it is right");
        recorder.finish()
    };
    record(64).expect("rows are there");
    let error = record(33).expect_err("the other code is not there");
    assert!(matches!(&error, Error::Library(problem) if problem.contains("kernel 'rust'")), "{error}");
}

#[test]
fn a_recording_keeps_its_buffers_alive() {
    let list = List::new();
    let buffer = list.device.new_buffer(4096).expect("memory");
    let (recording, _) = list.record_into(&buffer, &[5, 6]).expect("a recording");
    let List { device, queue, kernel, pipeline, .. } = list;
    drop((device, kernel, pipeline));
    let commands = queue.new_command_buffer();
    commands.replay(&recording, &[]).expect("added");
    drop(recording);
    commands.commit().expect("it commits");
    commands.wait_until_completed().expect("it runs");
    assert_eq!(contents(&buffer), [5, 6]);
}

/// Buffer 0 = (the number in buffer 1) + 1, after a while in which buffer 1 must not change.
unsafe extern "C" fn slow_successor(d: *const Dispatch, _: *const Threadgroup, _: *const Simdgroup, _: u32) {
    unsafe {
        let number = numbers(d, 1);
        let before = number.read_volatile();
        std::thread::yield_now();
        let same = number.read_volatile() == before;
        *numbers(d, 0) = if same { before + 1 } else { u32::MAX };
    }
}

#[test]
fn queues_may_replay_the_same_recording_concurrently() {
    let list = List::with_kernel(RustKernel::new(slow_successor, slow_successor, 2).reading(1));
    // Each queue checks its own patch only: all write the shared buffer.
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (recording, at) = list.record(&[0; 20]).expect("a recording");
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let (list, recording, at, seen) = (&list, &recording, &at, seen.clone());
            scope.spawn(move || {
                let queue = list.device.new_command_queue();
                for round in 0..50 {
                    let bytes = (thread * 1000 + round).to_ne_bytes();
                    let patches: Vec<Patch> =
                        at.iter().map(|&location| Patch { location, offset: 0, bytes: &bytes }).collect();
                    let commands = queue.new_command_buffer();
                    commands.replay(recording, &patches).expect("added");
                    commands.commit().expect("it commits");
                    commands.wait_until_completed().expect("it runs");
                    seen.lock().expect("not poisoned").push(list.buffer.read_at::<u32>(0, 1).expect("there")[0]);
                }
            });
        }
    });
    let seen = seen.lock().expect("not poisoned");
    assert_eq!(seen.len(), 200);
    for &number in seen.iter() {
        assert!((1..=50).contains(&(number % 1000)) && number / 1000 < 4, "{number}: not a patch of any queue");
    }
}

#[test]
fn released_buffers_are_detected() {
    let list = List::new();
    let buffer = list.device.new_buffer(4096).expect("memory");
    buffer.set_label("list");
    let (recording, _) = list.record_into(&buffer, &[1, 2]).expect("a recording");
    let (other, _) = list.record(&[3]).expect("a recording");
    let early = list.queue.new_command_buffer();
    early.replay(&recording, &[]).expect("added");
    buffer.release();
    let expected = |call: &str| {
        format!(
            "{call}: dispatch 0, of 'rust': buffer 0 for the argument 'argument_0': the buffer 'list' of 4096 bytes was \
             released after it was bound"
        )
    };
    assert_eq!(usage(early.commit()), expected("commit"));
    assert_eq!(usage(list.queue.new_command_buffer().replay(&recording, &[])), expected("replay"));
    list.run(&[(&other, &[])]).expect("others are as they were");
    assert_eq!(list.contents(), [3]);
}

#[test]
fn errors_of_replays_are_independent() {
    // Its private arrays do not fit in memory, which shows at run time.
    let kernel = RustKernel { private_memory: u64::MAX / 4, ..RustKernel::new(append, append, 2).reading(1) };
    let bad = List::with_kernel(kernel);
    let (failing, at) = bad.record(&[1]).expect("a recording");
    let good = List { device: bad.device.clone(), queue: bad.queue.clone(), ..List::new() };
    let good = List { pipeline: good.kernel.pipeline(&good.device).expect("a pipeline"), ..good };
    let (recording, _) = good.record(&[1]).expect("a recording");

    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut all = Vec::new();
    for fails in [false, true, false, true, false] {
        let label = Some(if fails { "bad" } else { "good" }.into());
        let descriptor = CommandBufferDescriptor { label, profiling: fails };
        let commands = good.queue.new_command_buffer_with_descriptor(&descriptor);
        commands.replay(&recording, &[]).expect("added");
        if fails {
            commands.replay(&failing, &[Patch { location: at[0], offset: 0, bytes: &[9] }]).expect("added");
            commands.replay(&recording, &[]).expect("added");
        }
        let seen = seen.clone();
        let handler = move |commands: &metalworks_compute::CommandBuffer| {
            seen.lock().expect("not poisoned").push((commands.status(), commands.error().is_some()));
        };
        commands.add_completed_handler(handler).expect("added");
        commands.commit().expect("it commits");
        all.push((fails, commands));
    }
    for (fails, commands) in &all {
        let result = commands.wait_until_completed();
        assert_eq!(result.is_err(), *fails);
        if *fails {
            assert!(matches!(result, Err(Error::OutOfMemory { .. })), "{result:?}");
            assert_eq!(commands.error(), result.err());
            assert_eq!(commands.status(), CommandBufferStatus::Error);
        }
    }
    let (ok, failed) = ((CommandBufferStatus::Completed, false), (CommandBufferStatus::Error, true));
    assert_eq!(*seen.lock().expect("not poisoned"), [ok, failed, ok, failed, ok]);
    assert_eq!(good.contents(), [1; 5], "what comes after a failure is not executed, what comes before it is");
}

#[test]
fn profiling_times_replays() {
    let list = List::new();
    let (recording, _) = list.record(&[1, 2, 3]).expect("a recording");
    for profiling in [false, true] {
        let descriptor = CommandBufferDescriptor { label: Some("token 1".into()), profiling };
        let commands = list.queue.new_command_buffer_with_descriptor(&descriptor);
        assert_eq!(commands.label(), Some("token 1"));
        commands.replay(&recording, &[]).expect("added");
        commands.replay(&recording, &[]).expect("added");
        commands.commit().expect("it commits");
        commands.wait_until_completed().expect("it runs");
        let timings = commands.dispatch_timings();
        assert_eq!(timings.len(), if profiling { 6 } else { 0 });
        for two in timings.windows(2) {
            assert!(two[0].start <= two[0].end && two[0].end <= two[1].start);
        }
    }
}

#[test]
fn recordings_can_be_shared_by_threads() {
    fn sent<T: Send>() {}
    fn shared<T: Send + Sync>() {}
    shared::<Recording>();
    shared::<BytesLocation>();
    sent::<metalworks_compute::CommandRecorder>();
}
