//! Runs a target on a part of the numbers, in a process of its own.
//!
//! Before each input, the process notes its number and the counts so far in a file, from which [`super::jobs`] knows what a
//! crash was about. A thread ends the process if an input takes too long.

use super::mutate::Random;
use super::targets::{self, FuzzTarget};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// First argument of such a process.
pub(crate) const PART: &str = "--part";
/// Exit status after an input that takes too long.
pub(crate) const HUNG: u8 = 3;
/// Far more than any input needs.
pub(crate) const SLOW: Duration = Duration::from_secs(20);
/// Most bytes of one allocation.
const LARGE: usize = 1 << 30;
/// Growth of the resident memory that is reported: an input that needs much in small pieces.
const GROWTH_KIB: u64 = 1 << 18;

/// The largest allocation of the current input.
static LARGEST: AtomicUsize = AtomicUsize::new(0);

/// Notes the size of allocations.
pub(crate) struct Counting;

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: as required of the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: as required of the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Ordering::Relaxed);
        // SAFETY: as required of the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as required of the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Counts of a part so far.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Tally {
    /// Number of the current input.
    pub(crate) number: u64,
    pub(crate) inputs: u64,
    pub(crate) panics: u64,
    pub(crate) large: u64,
    /// Largest resident memory of the process in KiB.
    pub(crate) peak: u64,
}

impl Tally {
    const LEN: usize = 40;

    fn write(&self, file: &File) {
        let Tally { number, inputs, panics, large, peak } = *self;
        let mut bytes = [0; Tally::LEN];
        for (to, from) in bytes.chunks_mut(8).zip([number, inputs, panics, large, peak]) {
            to.copy_from_slice(&from.to_le_bytes());
        }
        file.write_all_at(&bytes, 0).expect("the notes can be written");
    }

    pub(crate) fn read(file: &File) -> Option<Tally> {
        let mut bytes = [0; Tally::LEN];
        file.read_exact_at(&mut bytes, 0).ok()?;
        let mut numbers = bytes.as_chunks::<8>().0.iter().map(|&bytes| u64::from_le_bytes(bytes));
        let mut next = || numbers.next();
        Some(Tally { number: next()?, inputs: next()?, panics: next()?, large: next()?, peak: next()? })
    }
}

/// Runs `--part TARGET FIRST COUNT NOTES MILLISECONDS CORPUS`, until the time is over.
pub(crate) fn part(arguments: &[String]) -> ExitCode {
    let [name, first, count, notes, milliseconds, corpus] = arguments else { return ExitCode::from(2) };
    let number = |text: &String| text.parse::<u64>().expect("a number");
    let (first, count, end) =
        (number(first), number(count), Instant::now() + Duration::from_millis(number(milliseconds)));
    let target = targets::find(name).expect("a target");
    let seeds = target.seeds(corpus.as_ref());
    let notes = File::options().write(true).open(notes).expect("the notes are there");
    let mut tally = Tally { peak: peak_kib(), ..Tally::default() };
    let clock = Clock::start(target.name);
    for number in first..first.saturating_add(count) {
        tally.number = number;
        tally.write(&notes);
        if Instant::now() > end {
            break;
        }
        clock.begin(number);
        let input = target.input(&seeds, &mut Random::new(number));
        let finding = read(target, &input, &format!("{} {number}", target.name));
        clock.end();
        let peak = peak_kib();
        if peak > tally.peak + GROWTH_KIB {
            println!(
                "{} {number}: resident memory grew from {} to {} MB",
                target.name,
                tally.peak >> 10,
                peak >> 10
            );
        }
        let is_large = finding.is_large || peak > tally.peak + (LARGE >> 10) as u64;
        tally.peak = peak;
        tally.inputs += 1;
        tally.panics += u64::from(finding.panicked);
        tally.large += u64::from(is_large);
    }
    tally.write(&notes);
    ExitCode::SUCCESS
}

/// Result of reading an input.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Finding {
    pub(crate) panicked: bool,
    pub(crate) is_large: bool,
}

/// Gives an input to a reader. Prints `name` with what it finds.
pub(crate) fn read(target: &FuzzTarget, input: &[u8], name: &str) -> Finding {
    LARGEST.store(0, Ordering::Relaxed);
    let panicked = catch_unwind(|| (target.read)(input)).is_err();
    let largest = LARGEST.load(Ordering::Relaxed);
    let finding = Finding { panicked, is_large: largest > LARGE };
    if finding != Finding::default() {
        println!("{name}: panicked {panicked}, largest allocation {largest} bytes");
    }
    finding
}

/// Largest resident memory of this process; 0 where the system does not tell.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Watches the time of inputs.
struct Clock {
    since: Instant,
    /// Milliseconds at which the current input began, plus 1; 0 between inputs.
    began: AtomicU64,
    number: AtomicU64,
}

impl Clock {
    fn start(target: &'static str) -> &'static Clock {
        let clock: &Clock = Box::leak(Box::new(Clock {
            since: Instant::now(),
            began: AtomicU64::new(0),
            number: AtomicU64::new(0),
        }));
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(500));
                let began = clock.began.load(Ordering::Relaxed);
                if began > 0 && clock.milliseconds() > began + SLOW.as_millis() as u64 {
                    let number = clock.number.load(Ordering::Relaxed);
                    println!("{target} {number}: takes longer than {} s", SLOW.as_secs());
                    std::process::exit(i32::from(HUNG));
                }
            }
        });
        clock
    }

    fn milliseconds(&self) -> u64 {
        self.since.elapsed().as_millis() as u64
    }

    fn begin(&self, number: u64) {
        self.number.store(number, Ordering::Relaxed);
        self.began.store(self.milliseconds() + 1, Ordering::Relaxed);
    }

    fn end(&self) {
        self.began.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mutations of each seed.
    const MUTATIONS: u64 = 4;

    #[test]
    fn readers_take_all_seeds_and_some_mutations() {
        // No proxy is between this machine and itself.
        // SAFETY: no other test of this program uses the environment.
        unsafe { std::env::set_var("no_proxy", "*") };
        for target in targets::all() {
            let seeds = target.seeds(&targets::corpus());
            let is_valid = seeds.iter().any(|seed| (target.read)(seed));
            assert!(is_valid, "{}: no seed is valid, so that mutations reach little", target.name);
            for (index, seed) in seeds.iter().enumerate() {
                let name = format!("{}, seed {index}", target.name);
                assert_eq!(read(target, seed, &name), Finding::default(), "{name}");
                for number in 0..MUTATIONS {
                    let input = target.input(std::slice::from_ref(seed), &mut Random::new(number));
                    let name = format!("{name}, mutation {number}");
                    assert_eq!(read(target, &input, &name), Finding::default(), "{name}");
                }
            }
        }
    }
}
