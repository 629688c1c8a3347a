//! How the same work fares with more threads, on a machine that may have fewer free cores. Run it with
//! `cargo test --release -p metalworks-compute --test threads -- --ignored --nocapture`.

mod common;

use abi::{Dispatch, Simdgroup, Threadgroup};
use common::{RustKernel, device};
use compute::Size;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Computes for as many steps as buffer 0 says.
unsafe extern "C" fn work(d: *const Dispatch, _: *const Threadgroup, _: *const Simdgroup, _: u32) {
    let steps = unsafe { *common::numbers(d, 0) };
    let mut sums = [1.0f32; 16];
    for _ in 0..steps {
        for sum in &mut sums {
            *sum = black_box(*sum * 0.5 + 1.0);
        }
    }
    black_box(sums);
}

/// The time of one command buffer with `dispatches` dispatches of `groups` threadgroups: the best and the median of many.
fn time(threads: usize, dispatches: usize, groups: usize, steps: u32) -> (Duration, Duration) {
    let device = device(threads);
    let kernel = RustKernel::new(work, work, 1);
    let pipeline = kernel.pipeline(&device).expect("a pipeline");
    let queue = device.new_command_queue();
    let mut times: Vec<Duration> = (0..40)
        .map(|_| {
            let commands = queue.new_command_buffer();
            let mut encoder = commands.compute_command_encoder().expect("an encoder");
            encoder.set_compute_pipeline_state(&pipeline).expect("set");
            kernel.bind(&mut encoder).expect("set");
            encoder.set_bytes(0, &steps.to_ne_bytes()).expect("set");
            for _ in 0..dispatches {
                encoder.dispatch_threadgroups(Size::linear(groups), Size::linear(32)).expect("it is right");
            }
            encoder.end_encoding().expect("it ends");
            let start = Instant::now();
            commands.commit().expect("it commits");
            commands.wait_until_completed().expect("it runs");
            start.elapsed()
        })
        .collect();
    times.sort();
    (times[0], times[times.len() / 2])
}

#[test]
#[ignore = "a benchmark: it prints and compares nothing"]
#[allow(clippy::print_stdout, reason = "its result is what it prints")]
fn more_threads_are_not_slower() {
    println!("best and median in µs               1 thread            2           4           8");
    for (name, dispatches, groups, steps) in [
        ("1 tiny dispatch", 1, 1, 1),
        ("1 dispatch of 20 ms", 1, 20_000, 30),
        ("10 dispatches of 1 ms", 10, 1000, 30),
        ("100 dispatches of 100 µs", 100, 100, 30),
        ("300 dispatches of 40 µs", 300, 40, 30),
        ("300 dispatches of 10 µs", 300, 10, 30),
        ("1000 dispatches of 1 µs", 1000, 1, 30),
    ] {
        print!("{name:30}");
        for threads in [1, 2, 4, 8] {
            let (best, median) = time(threads, dispatches, groups, steps);
            print!("  {:7.0} {:7.0}", best.as_nanos() as f64 / 1e3, median.as_nanos() as f64 / 1e3);
        }
        println!();
    }
}
