//! Command buffers run once and in order, whichever thread executes them.
#![cfg(llvm)]

mod common;

use abi::{Dispatch, Simdgroup, Threadgroup};
use common::{RustKernel, device, numbers};
use metalworks_compute::{
    Buffer, CommandBuffer, CommandBufferDescriptor, CommandBufferStatus, CommandQueue, ComputePipelineState,
    DispatchType, Size,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// Appends the number in buffer 1 to the list in buffer 0, whose first number is its length.
unsafe extern "C" fn append(d: *const Dispatch, _: *const Threadgroup, _: *const Simdgroup, _: u32) {
    unsafe {
        let list = numbers(d, 0);
        let len = *list as usize;
        *list.add(len + 1) = *numbers(d, 1);
        *list = len as u32 + 1;
    }
}

/// A list, and command buffers that append to it.
struct List {
    kernel: RustKernel,
    pipeline: ComputePipelineState,
    buffer: Buffer,
    queue: CommandQueue,
}

impl List {
    fn new(threads: usize) -> List {
        let device = device(threads);
        let kernel = RustKernel::new(append, append, 2).reading(1);
        List {
            pipeline: kernel.pipeline(&device).expect("a pipeline"),
            kernel,
            buffer: device.new_buffer(64 << 10).expect("memory"),
            queue: device.new_command_queue(),
        }
    }

    /// A command buffer that appends these numbers, one dispatch each.
    fn appending(&self, numbers: impl IntoIterator<Item = u32>) -> CommandBuffer {
        let descriptor = CommandBufferDescriptor { label: None, profiling: true };
        let commands = self.queue.new_command_buffer_with_descriptor(&descriptor);
        let mut encoder = commands.compute_command_encoder().expect("an encoder");
        encoder.set_compute_pipeline_state(&self.pipeline).expect("set");
        self.kernel.bind(&mut encoder).expect("set");
        encoder.set_buffer(0, &self.buffer, 0).expect("set");
        for number in numbers {
            encoder.set_bytes(1, &number.to_ne_bytes()).expect("set");
            encoder.dispatch_threadgroups(Size::linear(1), Size::linear(32)).expect("it is right");
        }
        encoder.end_encoding().expect("it ends");
        commands
    }

    fn contents(&self) -> Vec<u32> {
        let len = self.buffer.read_at::<u32>(0, 1).expect("it is there")[0];
        self.buffer.read_at::<u32>(4, len as usize).expect("it is there")
    }
}

#[test]
fn dispatches_run_in_order() {
    let list = List::new(4);
    let commands = list.appending(0..1000);
    commands.commit().expect("it commits");
    commands.wait_until_completed().expect("it runs");
    assert_eq!(list.contents(), (0..1000).collect::<Vec<u32>>());
    assert_eq!(commands.dispatch_timings().len(), 1000);
}

#[test]
fn command_buffers_run_in_the_order_of_their_commits() {
    let list = List::new(2);
    let commands: Vec<_> = (0..500).map(|i| list.appending([2 * i, 2 * i + 1])).collect();
    for commands in &commands {
        commands.commit().expect("it commits");
    }
    commands[250].wait_until_completed().expect("it runs");
    assert!(list.contents().len() >= 502);
    commands[499].wait_until_completed().expect("it runs");
    assert_eq!(list.contents(), (0..1000).collect::<Vec<u32>>());
    assert!(commands.iter().all(|commands| commands.status() == CommandBufferStatus::Completed));
}

#[test]
fn command_buffers_run_without_a_waiting_thread() {
    let list = List::new(1);
    let (sender, receiver) = mpsc::channel();
    let commands = list.appending([7]);
    commands
        .add_completed_handler(move |commands| sender.send(commands.status()).expect("somebody listens"))
        .expect("it is added");
    commands.commit().expect("it commits");
    drop(commands);
    let status = receiver.recv_timeout(Duration::from_secs(60)).expect("the handler is called");
    assert_eq!(status, CommandBufferStatus::Completed);
    assert_eq!(list.contents(), [7]);
}

#[test]
fn committed_work_runs_after_the_queue_is_dropped() {
    let List { kernel, pipeline, buffer, queue } = List::new(1);
    let list = List { kernel, pipeline, buffer: buffer.clone(), queue };
    let (sender, receiver) = mpsc::channel();
    for i in 0..50 {
        let commands = list.appending([i]);
        let sender = sender.clone();
        commands.add_completed_handler(move |_| sender.send(i).expect("somebody listens")).expect("it is added");
        commands.commit().expect("it commits");
    }
    drop(list);
    for i in 0..50 {
        assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(i));
    }
    assert_eq!(buffer.read_at::<u32>(0, 1).expect("it is there"), [50]);
}

#[test]
fn handlers_run_once_and_before_waiting_ends() {
    let list = List::new(2);
    let count = Arc::new(AtomicUsize::new(0));
    for i in 0..200 {
        let commands = list.appending([i]);
        for _ in 0..2 {
            let count = count.clone();
            commands
                .add_completed_handler(move |commands| {
                    assert_eq!(commands.status(), CommandBufferStatus::Completed);
                    count.fetch_add(1, Ordering::Relaxed);
                })
                .expect("it is added");
        }
        commands.commit().expect("it commits");
        commands.wait_until_completed().expect("it runs");
        assert_eq!(count.load(Ordering::Relaxed), 2 * (i as usize + 1));
    }
}

#[test]
fn a_panicking_handler_does_not_affect_others() {
    let list = List::new(1);
    let calls = Arc::new(AtomicUsize::new(0));
    let commands = list.appending([1]);
    commands.add_completed_handler(|_| std::panic::resume_unwind(Box::new("on purpose"))).expect("it is added");
    let own = calls.clone();
    let count = move |_: &CommandBuffer| {
        own.fetch_add(1, Ordering::Relaxed);
    };
    commands.add_completed_handler(count).expect("it is added");
    commands.commit().expect("it commits");
    commands.wait_until_completed().expect("it runs");
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    let next = list.appending([2]);
    next.commit().expect("it commits");
    next.wait_until_completed().expect("it runs");
    assert_eq!(list.contents(), [1, 2]);
}

#[test]
fn a_handler_may_commit_and_wait() {
    let list = List::new(1);
    let (outer, inner) = (list.appending([1]), list.appending([2]));
    let seen = Arc::new(Mutex::new(None));
    let (next, result) = (inner.clone(), seen.clone());
    let handler = move |own: &CommandBuffer| {
        let own = own.wait_until_completed();
        next.commit().expect("it commits");
        *result.lock().expect("not poisoned") = Some((own, next.wait_until_completed()));
    };
    outer.add_completed_handler(handler).expect("it is added");
    outer.commit().expect("it commits");
    outer.wait_until_completed().expect("it runs");
    inner.wait_until_completed().expect("it runs");
    assert_eq!(*seen.lock().expect("not poisoned"), Some((Ok(()), Ok(()))));
    assert_eq!(list.contents(), [1, 2]);
}

#[test]
fn many_threads_commit_and_wait() {
    let list = List::new(3);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let list = &list;
            scope.spawn(move || {
                for i in 0..100 {
                    let commands = list.appending([thread * 1000 + i]);
                    commands.commit().expect("it commits");
                    if i % 3 != 0 {
                        commands.wait_until_completed().expect("it runs");
                    }
                }
            });
        }
    });
    let last = list.appending([]);
    last.commit().expect("it commits");
    last.wait_until_completed().expect("it runs");
    let contents = list.contents();
    assert_eq!(contents.len(), 800);
    for thread in 0..8 {
        let own: Vec<u32> = contents.iter().copied().filter(|number| number / 1000 == thread).collect();
        assert_eq!(own, (0..100).map(|i| thread * 1000 + i).collect::<Vec<u32>>());
    }
}

/// Increments its threadgroup's number.
unsafe extern "C" fn count(d: *const Dispatch, t: *const Threadgroup, _: *const Simdgroup, _: u32) {
    unsafe { *numbers(d, 0).add((*t).position[0] as usize) += 1 };
}

#[test]
fn concurrent_dispatches_all_run_and_barriers_separate_them() {
    let device = device(4);
    let kernel = RustKernel::new(count, count, 1);
    let pipeline = kernel.pipeline(&device).expect("a pipeline");
    let buffers: Vec<_> = (1..40).map(|groups| device.new_buffer(groups * 4).expect("memory")).collect();
    let queue = device.new_command_queue();
    let descriptor = CommandBufferDescriptor { label: None, profiling: true };
    let commands = queue.new_command_buffer_with_descriptor(&descriptor);
    let encoder = commands.compute_command_encoder_with_dispatch_type(DispatchType::Concurrent);
    let mut encoder = encoder.expect("an encoder");
    encoder.set_compute_pipeline_state(&pipeline).expect("set");
    kernel.bind(&mut encoder).expect("set");
    for _ in 0..50 {
        for buffer in &buffers {
            encoder.set_buffer(0, buffer, 0).expect("set");
            encoder.dispatch_threadgroups(Size::linear(buffer.len() / 4), Size::linear(32)).expect("it is right");
        }
        // The next round adds to the same numbers.
        encoder.memory_barrier().expect("recorded");
    }
    encoder.end_encoding().expect("it ends");
    commands.commit().expect("it commits");
    commands.wait_until_completed().expect("it runs");
    for buffer in &buffers {
        assert!(buffer.read::<u32>().iter().all(|&number| number == 50));
    }
    let timings = commands.dispatch_timings();
    assert_eq!(timings.len(), 50 * buffers.len());
    let (start, end) = (commands.gpu_start_time().expect("it began"), commands.gpu_end_time().expect("it ended"));
    for timing in &timings {
        assert!(start <= timing.start && timing.start <= timing.end && timing.end <= end);
        assert_eq!(&*timing.kernel, "rust");
    }
    // Dispatches before a barrier end before those after it begin.
    for rounds in timings.chunks(buffers.len()).collect::<Vec<_>>().windows(2) {
        let ended = rounds[0].iter().map(|timing| timing.end).max();
        let begun = rounds[1].iter().map(|timing| timing.start).min();
        assert!(ended <= begun);
    }
}

#[test]
fn threads_may_wait_during_the_commit() {
    let list = List::new(1);
    for i in 0..300 {
        let commands = list.appending([i]);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                // Waiting too early is an error; afterwards it is executed or waited for.
                scope.spawn(|| while commands.wait_until_completed().is_err() {});
            }
            scope.spawn(|| commands.commit().expect("it commits"));
        });
        assert_eq!(commands.status(), CommandBufferStatus::Completed);
    }
    assert_eq!(list.contents().len(), 300);
}
