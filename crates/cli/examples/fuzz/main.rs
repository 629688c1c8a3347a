//! Gives damaged inputs to every reader of files, and to chat templates: `make fuzz`.
//!
//! ```text
//! fuzz TARGET COUNT [SEED]      fuzz all COUNT
//! ```
//!
//! An input is a seed with some mutations; the same number gives the same input, so that a finding can be repeated with
//! `fuzz TARGET 1 SEED`. Seeds are made here, or are files of `corpus`, in which inputs that once failed are kept.
//! Counts panics, inputs that take longer than [`SLOW`], and single allocations of more than a gigabyte; a finding is
//! printed and fails the run. An input that never ends is named after that time.

#![allow(clippy::print_stdout, reason = "its results")]

#[cfg(llvm)]
mod mutate;
#[cfg(llvm)]
mod targets;

#[cfg(llvm)]
fn main() -> std::process::ExitCode {
    fuzz::main()
}

#[cfg(not(llvm))]
fn main() {}

#[cfg(llvm)]
#[allow(dead_code, reason = "the program uses more of it")]
#[path = "../../src/npy/mod.rs"]
mod npy;
#[cfg(llvm)]
#[allow(dead_code, reason = "the program uses more of it")]
#[path = "../../src/scalar.rs"]
mod scalar;

#[cfg(llvm)]
mod fuzz {
    use super::mutate::Random;
    use super::targets::{self, FuzzTarget};
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::panic::catch_unwind;
    use std::process::ExitCode;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    /// Far more than any input needs.
    const SLOW: Duration = Duration::from_secs(20);
    /// Most bytes of one allocation.
    const LARGE: usize = 1 << 30;

    /// The largest allocation of the current input.
    static LARGEST: AtomicUsize = AtomicUsize::new(0);

    struct Counting;

    // SAFETY: the system's allocator does the work.
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
            // SAFETY: as required of the caller.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            // SAFETY: as required of the caller.
            unsafe { System.dealloc(pointer, layout) }
        }
    }

    #[global_allocator]
    static ALLOCATOR: Counting = Counting;

    #[derive(Default)]
    struct Findings {
        panics: u64,
        slow: u64,
        large: u64,
    }

    pub(super) fn main() -> ExitCode {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let number = |index: usize| arguments.get(index).and_then(|text| text.parse::<u64>().ok());
        let targets = targets::all();
        let known = || targets.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
        let (Some(name), Some(count)) = (arguments.first(), number(1)) else {
            println!("usage: fuzz TARGET|all COUNT [SEED]; targets: {}", known());
            return ExitCode::from(2);
        };
        let chosen: Vec<&FuzzTarget> = targets.iter().filter(|one| name == "all" || one.name == name).collect();
        if chosen.is_empty() {
            println!("no target '{name}': {}", known());
            return ExitCode::from(2);
        }
        let findings: u64 = chosen.iter().map(|target| run(target, count, number(2).unwrap_or(0))).sum();
        ExitCode::from(u8::from(findings > 0))
    }

    /// Runs a target on `count` inputs; returns the number of findings.
    fn run(target: &FuzzTarget, count: u64, first: u64) -> u64 {
        let (mut findings, start) = (Findings::default(), Instant::now());
        for seed in first..first.saturating_add(count) {
            let input = target.input(&mut Random::new(seed));
            LARGEST.store(0, Ordering::Relaxed);
            let began = Instant::now();
            let watch = Watch::new(target.name, seed);
            let panicked = catch_unwind(|| (target.read)(&input)).is_err();
            drop(watch);
            let is_slow = began.elapsed() > SLOW;
            let is_large = LARGEST.load(Ordering::Relaxed) > LARGE;
            if panicked || is_slow || is_large {
                println!(
                    "{} {seed}: panicked {panicked}, {:.1} s, largest allocation {} bytes",
                    target.name,
                    began.elapsed().as_secs_f64(),
                    LARGEST.load(Ordering::Relaxed)
                );
            }
            findings.panics += u64::from(panicked);
            findings.slow += u64::from(is_slow);
            findings.large += u64::from(is_large);
        }
        let Findings { panics, slow, large } = findings;
        println!(
            "{}: {count} inputs from {first} in {:.0} s: {panics} panics, {slow} slow, {large} large allocations",
            target.name,
            start.elapsed().as_secs_f64()
        );
        panics + slow + large
    }

    /// Says which input does not end.
    struct Watch(std::sync::mpsc::Sender<()>);

    impl Watch {
        fn new(target: &'static str, seed: u64) -> Watch {
            let (sender, receiver) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                if let Err(std::sync::mpsc::RecvTimeoutError::Timeout) = receiver.recv_timeout(SLOW) {
                    println!("{target} {seed}: takes longer than {} s", SLOW.as_secs());
                }
            });
            Watch(sender)
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
}
