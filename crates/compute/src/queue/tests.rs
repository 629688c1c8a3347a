//! Tests with a device that completes work on demand: before the commit returns, late, in any order, with errors, or
//! never.

use super::CommandQueue;
use crate::backend::registry::CpuOptions;
use crate::backend::{Outcome, Queue, Submission, Submit};
use crate::buffer::Buffer;
use crate::command::{CommandBuffer, CommandBufferStatus};
use crate::device::Device;
use crate::error::Error;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Instant;

/// Completes everything before the commit returns.
struct AtOnce;

impl Submit for AtOnce {
    fn submit(&self, submission: Submission) {
        run(submission);
    }
}

/// Passes every submission to the test.
struct HeldSubmissions(Mutex<Sender<Submission>>);

impl Submit for HeldSubmissions {
    fn submit(&self, submission: Submission) {
        self.0.lock().unwrap().send(submission).expect("the test takes it");
    }
}

fn run(submission: Submission) {
    let start = Instant::now();
    let executed = device().new_command_queue().queue().execute(submission.work(), None);
    submission.complete(Outcome { executed, start: Some(start), end: Some(Instant::now()), timings: Vec::new() });
}

fn device() -> Device {
    Device::cpu_with_options(&CpuOptions { threads: Some(1) }).expect("a CPU")
}

fn at_once() -> CommandQueue {
    CommandQueue::new(device(), Queue::Submits(Box::new(AtOnce)))
}

fn held() -> (CommandQueue, Receiver<Submission>) {
    let (sender, receiver) = channel();
    (CommandQueue::new(device(), Queue::Submits(Box::new(HeldSubmissions(Mutex::new(sender))))), receiver)
}

/// A queue with a thread that completes submissions one after the other, as a driver does.
fn driven() -> CommandQueue {
    let (queue, receiver) = held();
    thread::spawn(move || receiver.into_iter().for_each(run));
    queue
}

fn buffer(values: &[u32]) -> Buffer {
    device().new_buffer_with_bytes(bytemuck::cast_slice(values)).expect("a buffer")
}

/// A command buffer that copies a number.
fn copy(queue: &CommandQueue, from: &Buffer, to: &Buffer) -> CommandBuffer {
    let commands = queue.new_command_buffer();
    commands.copy_buffer(from, 0..4, to, 0).expect("a copy");
    commands
}

#[test]
fn completes_before_the_commit_returns() {
    let (queue, from, to) = (at_once(), buffer(&[7]), buffer(&[0]));
    let commands = copy(&queue, &from, &to);
    let calls = Arc::new(AtomicUsize::new(0));
    let count = calls.clone();
    commands.add_completed_handler(move |_| _ = count.fetch_add(1, Ordering::SeqCst)).unwrap();
    commands.commit().unwrap();
    assert_eq!(commands.status(), CommandBufferStatus::Completed);
    commands.wait_until_completed().unwrap();
    assert_eq!((to.read::<u32>(), calls.load(Ordering::SeqCst)), (vec![7], 1));
    assert!(commands.gpu_start_time().unwrap() <= commands.gpu_end_time().unwrap());
    assert!(commands.commit().is_err(), "committed twice");
}

#[test]
fn wakes_waiting_threads() {
    let (queue, submissions) = held();
    let (from, to) = (buffer(&[3]), buffer(&[0]));
    let commands = copy(&queue, &from, &to);
    commands.commit().unwrap();
    assert_eq!((commands.status(), commands.gpu_start_time()), (CommandBufferStatus::Committed, None));
    let waiters: Vec<_> = (0..4)
        .map(|_| {
            let commands = commands.clone();
            thread::spawn(move || commands.wait_until_completed())
        })
        .collect();
    run(submissions.recv().unwrap());
    waiters.into_iter().for_each(|waiter| waiter.join().unwrap().unwrap());
    assert_eq!(to.read::<u32>(), [3]);
}

#[test]
fn completes_in_any_order() {
    let (queue, submissions) = held();
    let (from, to) = (buffer(&[1]), buffer(&[0]));
    let all: Vec<CommandBuffer> = (0..3).map(|_| copy(&queue, &from, &to)).collect();
    all.iter().for_each(|commands| commands.commit().unwrap());
    let mut submissions: Vec<Submission> = submissions.iter().take(3).collect();
    for last in (0..3).rev() {
        run(submissions.pop().unwrap());
        all[last].wait_until_completed().unwrap();
        assert!(all[..last].iter().all(|commands| commands.status() == CommandBufferStatus::Committed));
    }
}

#[test]
fn reports_errors_and_runs_the_next_one() {
    let (queue, submissions) = held();
    let (from, to) = (buffer(&[9]), buffer(&[0]));
    let (bad, good) = (copy(&queue, &from, &to), copy(&queue, &from, &to));
    let (sender, seen) = channel();
    bad.add_completed_handler(move |commands| sender.send((commands.status(), commands.error())).unwrap()).unwrap();
    bad.commit().unwrap();
    good.commit().unwrap();
    let failure = Error::Driver { what: "it".into(), domain: "D".into(), code: 3, description: "a fault\n".into() };
    submissions.recv().unwrap().fail(failure.clone());
    run(submissions.recv().unwrap());
    assert_eq!(bad.wait_until_completed(), Err(failure.clone()));
    assert_eq!(failure.to_string(), "it: a fault (D 3)");
    assert_eq!(seen.recv().unwrap(), (CommandBufferStatus::Error, Some(failure)));
    good.wait_until_completed().unwrap();
    assert_eq!(to.read::<u32>(), [9]);
}

#[test]
fn a_dropped_submission_is_an_error() {
    let (queue, submissions) = held();
    let commands = copy(&queue, &buffer(&[1]), &buffer(&[2]));
    commands.commit().unwrap();
    drop(submissions.recv().unwrap());
    assert!(matches!(commands.wait_until_completed(), Err(Error::Internal(_))));
}

/// The handler of the first command buffer commits and waits for the second, whose handler does the same for the third,
/// and so on; each also waits for its own and the one before. The device has one thread, which must not be the waiting
/// one.
fn chain(queue: CommandQueue) {
    fn link(
        queue: &CommandQueue,
        left: usize,
        before: Option<CommandBuffer>,
        done: Sender<usize>,
    ) -> CommandBuffer {
        let (from, to) = (buffer(&[left as u32]), buffer(&[u32::MAX]));
        let commands = copy(queue, &from, &to);
        let queue = queue.clone();
        let handler = move |own: &CommandBuffer| {
            own.wait_until_completed().unwrap();
            if let Some(before) = &before {
                before.wait_until_completed().unwrap();
            }
            assert_eq!(to.read::<u32>(), [left as u32]);
            if left > 0 {
                let next = link(&queue, left - 1, Some(own.clone()), done.clone());
                next.commit().unwrap();
                next.wait_until_completed().unwrap();
                assert_eq!(next.status(), CommandBufferStatus::Completed);
            }
            done.send(left).unwrap();
        };
        commands.add_completed_handler(handler).unwrap();
        commands
    }
    let (sender, receiver) = channel();
    let first = link(&queue, 5, None, sender);
    first.commit().unwrap();
    first.wait_until_completed().unwrap();
    drop((first, queue));
    assert_eq!(receiver.iter().collect::<Vec<usize>>(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn handlers_commit_and_wait_on_an_immediate_device() {
    chain(at_once());
}

#[test]
fn handlers_commit_and_wait_on_a_single_threaded_device() {
    chain(driven());
}

#[test]
fn handlers_commit_and_wait_on_the_cpu() {
    chain(device().new_command_queue());
}

#[test]
fn handlers_do_not_run_on_the_completing_thread() {
    let (queue, submissions) = held();
    let (first, second) = (copy(&queue, &buffer(&[1]), &buffer(&[2])), copy(&queue, &buffer(&[1]), &buffer(&[2])));
    let waited_for = second.clone();
    first.add_completed_handler(move |_| waited_for.wait_until_completed().unwrap()).unwrap();
    first.commit().unwrap();
    second.commit().unwrap();
    // This thread completes both; it must return from the first, whose handler waits for the second.
    run(submissions.recv().unwrap());
    run(submissions.recv().unwrap());
    first.wait_until_completed().unwrap();
}

#[test]
fn a_panicking_handler_does_not_affect_others() {
    let queue = driven();
    let commands = copy(&queue, &buffer(&[1]), &buffer(&[2]));
    let (sender, receiver) = channel();
    commands.add_completed_handler(|_| std::panic::resume_unwind(Box::new("on purpose"))).unwrap();
    commands.add_completed_handler(move |_| sender.send(1).unwrap()).unwrap();
    commands.commit().unwrap();
    commands.wait_until_completed().unwrap();
    assert_eq!(receiver.recv(), Ok(1));
}

/// Drops everything while the work is in flight: it completes anyway, its buffers live until then, and nothing leaks.
#[test]
fn work_in_flight_survives_drops() {
    for has_handler in [false, true] {
        let (queue, submissions) = held();
        let (owner, is_gone) = channel::<()>();
        let memory: &'static [u32; 1] = Box::leak(Box::new([5]));
        let memory = NonNull::slice_from_raw_parts(NonNull::from(memory).cast(), 4);
        // SAFETY: the memory is never freed, and only read.
        let from =
            unsafe { device().new_buffer_with_bytes_no_copy(memory, Mutex::new(owner)) }.unwrap().read_only();
        let to = buffer(&[0]);
        let commands = copy(&queue, &from, &to);
        let (sender, handled) = channel();
        if has_handler {
            commands.add_completed_handler(move |commands| sender.send(commands.status()).unwrap()).unwrap();
        } else {
            drop(sender);
        }
        commands.commit().unwrap();
        drop((commands, queue, from));
        assert!(is_gone.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty), "the work keeps its buffers");
        let submission = submissions.recv().unwrap();
        thread::spawn(move || run(submission)).join().unwrap();
        assert_eq!(to.read::<u32>(), [5]);
        // The channel closes when all owners are dropped: the buffer's owner, the handler, the queue.
        assert_eq!(is_gone.recv().ok(), None);
        assert_eq!(handled.iter().collect::<Vec<_>>(), vec![CommandBufferStatus::Completed; has_handler.into()]);
        assert!(submissions.recv().is_err(), "the queue is gone");
    }
}

#[test]
fn many_threads_share_a_queue() {
    let (queue, calls) = (driven(), Arc::new(AtomicUsize::new(0)));
    let barrier = Arc::new(Barrier::new(4));
    let threads: Vec<_> = (0..4u32)
        .map(|number| {
            let (queue, calls, barrier) = (queue.clone(), calls.clone(), barrier.clone());
            thread::spawn(move || {
                barrier.wait();
                for turn in 0..50u32 {
                    let (from, to) = (buffer(&[number * 100 + turn]), buffer(&[u32::MAX]));
                    let commands = copy(&queue, &from, &to);
                    if turn % 2 == 0 {
                        let calls = calls.clone();
                        commands.add_completed_handler(move |_| _ = calls.fetch_add(1, Ordering::SeqCst)).unwrap();
                    }
                    commands.commit().unwrap();
                    commands.wait_until_completed().unwrap();
                    assert_eq!(to.read::<u32>(), [number * 100 + turn]);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(calls.load(Ordering::SeqCst), 100);
}
