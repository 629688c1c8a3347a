//! Cache statistics.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Statistics of a [`crate::PipelineCache`].
///
/// Every lookup is a hit, a miss or a wait; every miss ends with a compiled pipeline, one from an archive, or a
/// failure.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct PipelineCacheStats {
    /// Pipelines in the cache.
    pub pipelines: u64,
    /// Lookups of existing pipelines.
    pub hits: u64,
    /// Lookups of missing pipelines, which the looking thread creates. Misses refused after
    /// [`crate::PipelineCache::seal`] count as failures.
    pub misses: u64,
    /// Lookups while another thread was creating the pipeline.
    pub waits: u64,
    /// Misses served by an archive alone.
    pub from_archive: u64,
    /// Misses that ended with an error.
    pub failures: u64,
    /// Misses after [`crate::PipelineCache::seal`].
    pub late_misses: u64,
    /// Time spent compiling, summed over all threads, failures included.
    pub compile_time: Duration,
    /// Time spent loading pipelines from archives, summed over all threads.
    pub archive_time: Duration,
    /// Bytes of machine code.
    pub code_bytes: u64,
}

impl PipelineCacheStats {
    /// Misses served by the compiler.
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

    /// All statistics except the current contents.
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

/// Adds to a counter.
pub(super) fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Relaxed);
}

/// A counter without contention: each thread has its own cache line, as long as there are no more threads than lines.
#[derive(Default)]
struct Spread {
    lines: [Line; 32],
}

/// Two lines of 64 bytes: CPUs prefetch them in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Line(AtomicU64);

thread_local! {
    /// Index of this thread's line; out of range before its first use.
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
