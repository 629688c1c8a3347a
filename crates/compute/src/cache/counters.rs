//! What a cache has counted.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// What a [`crate::PipelineCache`] has done so far.
///
/// Every time that a pipeline is asked for is one hit, one miss or one wait; every miss ends with a pipeline that was
/// compiled, one from an archive, or a failure.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PipelineCacheStats {
    /// Pipelines that are there.
    pub pipelines: u64,
    /// Asked for, and there.
    pub hits: u64,
    /// Asked for, and created by who asked. Refused misses after [`crate::PipelineCache::seal`] are among the failures.
    pub misses: u64,
    /// Asked for while another thread was creating it.
    pub waits: u64,
    /// Misses that an archive had all the code for.
    pub from_archive: u64,
    /// Misses that ended with an error.
    pub failures: u64,
    /// Misses after [`crate::PipelineCache::seal`].
    pub late_misses: u64,
    /// Time spent compiling, of all threads together, failures included.
    pub compile_time: Duration,
    /// Time spent taking pipelines from archives, of all threads together.
    pub archive_time: Duration,
    /// Bytes of machine code.
    pub code_bytes: u64,
}

impl PipelineCacheStats {
    /// Misses that were compiled.
    pub fn compiled(&self) -> u64 {
        self.misses.saturating_sub(self.from_archive).saturating_sub(self.failures)
    }
}

impl fmt::Display for PipelineCacheStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PipelineCacheStats { pipelines, hits, misses, waits, from_archive, failures, .. } = self;
        let (compiled, plural) = (self.compiled(), if *pipelines == 1 { "" } else { "s" });
        write!(f, "{pipelines} pipeline{plural}, {} bytes of code; ", self.code_bytes)?;
        write!(f, "{hits} hits, {misses} misses ({compiled} compiled in {:.1?}, ", self.compile_time)?;
        write!(f, "{from_archive} from archives in {:.1?}, {failures} failed), {waits} waits", self.archive_time)?;
        match self.late_misses {
            0 => Ok(()),
            late => write!(f, "; {late} misses after loading"),
        }
    }
}

/// The counters of a cache.
#[derive(Default)]
pub(super) struct Counters {
    hits: Spread,
    pub(super) misses: AtomicU64,
    pub(super) waits: AtomicU64,
    pub(super) from_archive: AtomicU64,
    pub(super) failures: AtomicU64,
    pub(super) late_misses: AtomicU64,
    pub(super) compile_nanos: AtomicU64,
    pub(super) archive_nanos: AtomicU64,
}

impl Counters {
    #[inline]
    pub(super) fn hit(&self) {
        self.hits.add_one();
    }

    /// All but what there is now.
    pub(super) fn stats(&self) -> PipelineCacheStats {
        PipelineCacheStats {
            pipelines: 0,
            code_bytes: 0,
            hits: self.hits.sum(),
            misses: self.misses.load(Relaxed),
            waits: self.waits.load(Relaxed),
            from_archive: self.from_archive.load(Relaxed),
            failures: self.failures.load(Relaxed),
            late_misses: self.late_misses.load(Relaxed),
            compile_time: Duration::from_nanos(self.compile_nanos.load(Relaxed)),
            archive_time: Duration::from_nanos(self.archive_nanos.load(Relaxed)),
        }
    }
}

/// Adds one where there is something to add.
pub(super) fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Relaxed);
}

/// A counter that threads add to without getting in each other's way: each has a cache line, as long as there are no more
/// threads than lines.
#[derive(Default)]
struct Spread {
    lines: [Line; 32],
}

/// Two lines of 64 bytes, because processors fetch them in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Line(AtomicU64);

thread_local! {
    /// The line of this thread; there is no such line before it counts the first time.
    static LINE: Cell<usize> = const { Cell::new(usize::MAX) };
}

impl Spread {
    #[inline]
    fn add_one(&self) {
        let line = match LINE.get() {
            usize::MAX => choose_line(),
            line => line,
        };
        self.lines[line % self.lines.len()].0.fetch_add(1, Relaxed);
    }

    fn sum(&self) -> u64 {
        self.lines.iter().map(|line| line.0.load(Relaxed)).sum()
    }
}

#[cold]
fn choose_line() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let line = NEXT.fetch_add(1, Relaxed) % 32;
    LINE.set(line);
    line
}
