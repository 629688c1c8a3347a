//! Benchmarks the same work with more threads, on a machine that may have fewer free cores: elapsed time, and CPU time
//! of all threads. Run it with `cargo test --release -p metalworks-compute --test threads -- --ignored --nocapture`.
#![cfg(llvm)]

mod common;

use abi::{Dispatch, Simdgroup, Threadgroup};
use common::{DispatchCall, RustKernel, device, run};
use metalworks_compute::Size;
use std::hint::black_box;
use std::time::{Duration, Instant};

const RUNS: usize = 40;

/// Computes for the number of steps in buffer 0.
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

/// CPU time of this process.
fn cpu_time() -> Duration {
    // SAFETY: the function fills this structure, which may be all zeros before.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let time = |time: libc::timeval| Duration::from_micros(time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64);
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// Times in microseconds.
struct Times {
    best: f64,
    median: f64,
    /// Average CPU time of all threads together.
    cpu: f64,
}

/// Times of command buffers with `dispatches` dispatches of `groups` threadgroups.
fn time(threads: usize, dispatches: usize, groups: usize, steps: u32) -> Times {
    let device = device(threads);
    let kernel = RustKernel::new(work, work, 1).reading(0);
    let pipeline = kernel.pipeline(&device).expect("a pipeline");
    let queue = device.new_command_queue();
    let before = cpu_time();
    let mut times: Vec<Duration> = (0..RUNS)
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
    let microseconds = |time: Duration| time.as_nanos() as f64 / 1e3;
    Times {
        best: microseconds(times[0]),
        median: microseconds(times[RUNS / 2]),
        cpu: microseconds(cpu_time() - before) / RUNS as f64,
    }
}

#[test]
#[ignore = "a benchmark: it prints and compares nothing"]
#[allow(clippy::print_stdout, reason = "its result is what it prints")]
fn more_threads_are_not_slower() {
    println!("{:26}{:>24}{:>24}{:>24}{:>24}", "µs: best, median, CPU", "1 thread", 2, 4, 8);
    for (name, dispatches, groups, steps) in [
        ("1 tiny dispatch", 1, 1, 1),
        ("1 dispatch of 20 ms", 1, 20_000, 150),
        ("10 dispatches of 1 ms", 10, 1000, 150),
        ("100 dispatches of 100 µs", 100, 100, 150),
        ("300 dispatches of 40 µs", 300, 40, 150),
        ("300 dispatches of 10 µs", 300, 10, 150),
        ("1000 dispatches of 1 µs", 1000, 1, 150),
        ("1000 empty dispatches", 1000, 1, 0),
    ] {
        print!("{name:26}");
        for threads in [1, 2, 4, 8] {
            let Times { best, median, cpu } = time(threads, dispatches, groups, steps);
            print!("{best:8.0}{median:8.0}{cpu:8.0}");
        }
        println!();
    }
}

/// Waits at the number of barriers in buffer 0.
unsafe extern "C" fn wait(d: *const Dispatch, t: *const Threadgroup, s: *const Simdgroup, _: u32) {
    unsafe { (0..*common::numbers(d, 0)).for_each(|_| ((*t).barrier)(s)) };
}

#[test]
#[ignore = "a benchmark: it prints and compares nothing"]
#[allow(clippy::print_stdout, reason = "its result is what it prints")]
fn cost_of_a_barrier() {
    let device = device(1);
    let kernel = RustKernel { has_barrier: true, ..RustKernel::new(wait, wait, 1) };
    let queue = device.new_command_queue();
    for simdgroups in [1, 2, 8, 32] {
        for barriers in [0u32, 1, 100] {
            let number = device.new_buffer_with_bytes(&barriers.to_ne_bytes()).expect("memory");
            let grid = DispatchCall::Threadgroups(Size::linear(1000), Size::linear(32 * simdgroups));
            let times = (0..20).map(|_| {
                let start = Instant::now();
                run(&queue, &kernel, &[&number], grid).expect("it runs");
                start.elapsed()
            });
            let each = times.min().unwrap_or_default().as_nanos() as f64 / 1e3 / simdgroups as f64;
            println!("{simdgroups:2} simdgroups, {barriers:3} barriers: {each:6.0} ns for each simdgroup");
        }
    }
}

#[test]
fn idle_threads_cost_nothing() {
    let device = device(8);
    let kernel = RustKernel::new(work, work, 1).reading(0);
    let steps = device.new_buffer_with_bytes(&10_000u32.to_ne_bytes()).expect("memory");
    let grid = DispatchCall::Threadgroups(Size::linear(100), Size::linear(32));
    run(&device.new_command_queue(), &kernel, &[&steps], grid).expect("it runs");
    // Threads may still be falling asleep, and a shared machine counts time given to others. Threads that stay awake
    // leave no interval quiet.
    let is_quiet = |_| {
        let before = cpu_time();
        std::thread::sleep(Duration::from_millis(300));
        cpu_time() - before < Duration::from_millis(30)
    };
    assert!((0..10).any(is_quiet), "30 ms of CPU time and more in each 300 ms without work");
}
