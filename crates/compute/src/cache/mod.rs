//! The cache of pipelines: each is created once and found ever after.
//!
//! ```text
//! kernel, constants ── key ── table: lists that only grow ─── found: a hit, no lock and no allocation
//!                                └─ not there: attempt, one at a time for each key ── create (given to the cache)
//! configurations ── batch: many at once ── threads: the few that compile
//! ```
//!
//! **Invariant:** nothing is created under a lock, and nobody waits but for a pipeline that a running thread is creating.

mod asynchronous;
mod attempt;
mod batch;
mod constants;
mod counters;
mod key;
mod table;
mod threads;

pub use batch::{PendingPipelines, PipelineProgress, PipelineResults};
pub use constants::{ConstantBits, ConstantName, KernelConstants};
pub use counters::PipelineCacheStats;
pub use key::{PipelineConfig, PipelineKey};

use crate::error::{Error, Result, usage};
use crate::pipeline::{ComputePipelineState, PipelineOrigin};
use crate::size::Size;
use attempt::Turn;
use counters::{Counters, add};
use key::Wanted;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;
use table::{Entry, Table};

/// Pipelines by kernel and function constants, shared between threads. A clone is the same cache.
///
/// A pipeline that is there is found without a lock and without an allocation. One that is not is created by the thread
/// that asks for it, once however many ask at the same moment: the others wait, and get the same pipeline or the same
/// error. An error is not kept: who asks next tries again.
///
/// Pipelines stay for as long as the cache does, so that finding one is no more than a reference to it.
///
/// # Loading and running
///
/// [`create_all`](PipelineCache::create_all) creates what will be needed, on all cores; after
/// [`seal`](PipelineCache::seal), asking for a pipeline that is not there is a mistake of the program.
#[derive(Clone)]
pub struct PipelineCache {
    shared: Arc<Shared>,
}

struct Shared {
    table: Table,
    counters: Counters,
    create: Box<Create>,
    /// What becomes of a miss: a [`LateMisses`], or [`LOADING`].
    phase: AtomicU8,
    on_late_miss: RwLock<Option<Arc<OnLateMiss>>>,
}

type Create = dyn Fn(&PipelineConfig) -> Result<ComputePipelineState> + Send + Sync;
type OnLateMiss = dyn Fn(&PipelineKey) + Send + Sync;

/// What becomes of asking for a pipeline that is not there after [`PipelineCache::seal`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LateMisses {
    /// It is an error.
    Refuse,
    /// The pipeline is created.
    Create,
}

impl Default for LateMisses {
    /// An error in debug builds; otherwise the user rather waits.
    fn default() -> LateMisses {
        if cfg!(debug_assertions) { LateMisses::Refuse } else { LateMisses::Create }
    }
}

/// The phase in which misses are expected.
const LOADING: u8 = u8::MAX;

impl PipelineCache {
    /// An empty cache. `create` makes the pipelines, on whatever thread asks; where it panics, it has failed. It may ask
    /// the cache for other pipelines, as long as those do not ask for the first one.
    pub fn new(
        create: impl Fn(&PipelineConfig) -> Result<ComputePipelineState> + Send + Sync + 'static,
    ) -> PipelineCache {
        let shared = Shared {
            table: Table::new(),
            counters: Counters::default(),
            create: Box::new(create),
            phase: AtomicU8::new(LOADING),
            on_late_miss: RwLock::new(None),
        };
        PipelineCache { shared: Arc::new(shared) }
    }

    /// The pipeline of a kernel with these constants, created now if it is not there.
    #[inline]
    pub fn get_or_create_pso(
        &self,
        kernel: &str,
        constants: impl KernelConstants,
    ) -> Result<&ComputePipelineState> {
        let wanted = Wanted { kernel, constants, full_simdgroups: false };
        match self.shared.hit(self.shared.table.find(wanted.hash(), &wanted)) {
            Some(pipeline) => Ok(pipeline),
            None => self.shared.late_or_first(&PipelineConfig::from(wanted.to_key())),
        }
    }

    /// The pipeline of a configuration, created now if it is not there.
    #[inline]
    pub fn get_or_create(&self, config: &PipelineConfig) -> Result<&ComputePipelineState> {
        match self.shared.hit(self.shared.table.find_key(config.key())) {
            Some(pipeline) => Ok(pipeline),
            None => self.shared.late_or_first(config),
        }
    }

    /// The pipeline of a kernel with these constants, if it is there. This counts as nothing.
    pub fn get(&self, kernel: &str, constants: impl KernelConstants) -> Option<&ComputePipelineState> {
        let wanted = Wanted { kernel, constants, full_simdgroups: false };
        self.shared.table.find(wanted.hash(), &wanted)?.pipeline.get()
    }

    /// The keys of all pipelines that are there, sorted by how they read.
    pub fn keys(&self) -> Vec<PipelineKey> {
        let ready = self.shared.table.entries().filter(|entry| entry.pipeline.get().is_some());
        let mut keys: Vec<PipelineKey> = ready.map(|entry| entry.key.clone()).collect();
        keys.sort_by_cached_key(PipelineKey::to_string);
        keys
    }

    /// Ends the loading: from now on, [`get_or_create_pso`](PipelineCache::get_or_create_pso) and
    /// [`get_or_create`](PipelineCache::get_or_create) of a pipeline that is not there are late misses. In debug builds
    /// that is an error; otherwise it is created, counted, and told to
    /// [`on_late_miss`](PipelineCache::on_late_miss).
    ///
    /// Creating what is declared ([`create_all`](PipelineCache::create_all) and kin) stays possible: one model may be
    /// loaded while another one runs.
    pub fn seal(&self) {
        self.seal_with(LateMisses::default());
    }

    /// Ends the loading, and says what becomes of late misses.
    pub fn seal_with(&self, late_misses: LateMisses) {
        self.shared.phase.store(late_misses as u8, Ordering::Release);
    }

    /// Begins another loading: misses are expected again.
    pub fn unseal(&self) {
        self.shared.phase.store(LOADING, Ordering::Release);
    }

    /// Whether [`seal`](PipelineCache::seal) was called, and no [`unseal`](PipelineCache::unseal) since.
    pub fn is_sealed(&self) -> bool {
        self.shared.late_misses().is_some()
    }

    /// Whom to tell about late misses, once for each key. It replaces who was told before.
    pub fn on_late_miss(&self, handler: impl Fn(&PipelineKey) + Send + Sync + 'static) {
        let mut current = self.shared.on_late_miss.write().unwrap_or_else(PoisonError::into_inner);
        *current = Some(Arc::new(handler));
    }

    /// What was counted so far.
    pub fn stats(&self) -> PipelineCacheStats {
        let mut stats = self.shared.counters.stats();
        for pipeline in self.shared.table.entries().filter_map(|entry| entry.pipeline.get()) {
            stats.pipelines += 1;
            stats.code_bytes += pipeline.code_size() as u64;
        }
        stats
    }
}

impl Shared {
    /// Counts a hit, if it is one.
    #[inline]
    fn hit<'a>(&self, entry: Option<&'a Entry>) -> Option<&'a ComputePipelineState> {
        let pipeline = entry?.pipeline.get()?;
        self.counters.hit();
        Some(pipeline)
    }

    fn late_misses(&self) -> Option<LateMisses> {
        const REFUSE: u8 = LateMisses::Refuse as u8;
        const CREATE: u8 = LateMisses::Create as u8;
        match self.phase.load(Ordering::Acquire) {
            REFUSE => Some(LateMisses::Refuse),
            CREATE => Some(LateMisses::Create),
            _ => None,
        }
    }

    /// Asked for where it is used: a late miss once the cache is sealed.
    #[cold]
    fn late_or_first(&self, config: &PipelineConfig) -> Result<&ComputePipelineState> {
        self.obtain(config, self.late_misses())
    }

    /// Asked for where it is declared.
    fn declared(&self, config: &PipelineConfig) -> Result<ComputePipelineState> {
        let pipeline = self.obtain(config, None)?;
        if let Some(threads) = config.threads_per_threadgroup() {
            let prepared = check_size(pipeline, threads).and_then(|()| guarded(|| pipeline.prepare(threads)));
            prepared.map_err(|cause| failed(config.key(), cause))?;
        }
        Ok(pipeline.clone())
    }

    fn obtain(&self, config: &PipelineConfig, late: Option<LateMisses>) -> Result<&ComputePipelineState> {
        let key = config.key();
        let entry = self.table.entry(key);
        let may_create = late != Some(LateMisses::Refuse);
        match entry.attempts.turn(may_create, || entry.pipeline.get().is_some()) {
            Turn::Ready => self.counters.hit(),
            Turn::Wait(attempt) => {
                add(&self.counters.waits, 1);
                attempt.wait().map_err(|error| match error {
                    Error::Pipeline { .. } => error,
                    cause => failed(key, cause),
                })?;
            }
            Turn::Create(attempt) => {
                add(&self.counters.misses, 1);
                let outcome = self.create(config, entry);
                entry.attempts.end(&attempt, outcome.clone());
                if late.is_some() {
                    self.tell_late_miss(entry);
                }
                outcome?;
            }
            Turn::Missing => {
                add(&self.counters.misses, 1);
                add(&self.counters.failures, 1);
                self.tell_late_miss(entry);
                return Err(failed(key, Error::Usage(refusal(key))));
            }
        }
        entry.pipeline.get().ok_or_else(|| failed(key, Error::Internal("it was created, and is gone".into())))
    }

    /// Creates a pipeline; it is in its entry when that has succeeded.
    fn create(&self, config: &PipelineConfig, entry: &Entry) -> Result<()> {
        let start = Instant::now();
        let created = guarded(|| (self.create)(config));
        let nanos = start.elapsed().as_nanos() as u64;
        let counters = &self.counters;
        match created {
            Ok(pipeline) => {
                match pipeline.origin() {
                    PipelineOrigin::Compiled => add(&counters.compile_nanos, nanos),
                    PipelineOrigin::Archive => {
                        add(&counters.from_archive, 1);
                        add(&counters.archive_nanos, nanos);
                    }
                }
                // Nobody else sets it: there is one attempt at a time, and none after one that succeeded.
                let _ = entry.pipeline.set(pipeline);
                Ok(())
            }
            Err(cause) => {
                add(&counters.compile_nanos, nanos);
                add(&counters.failures, 1);
                Err(failed(config.key(), cause))
            }
        }
    }

    /// Counts a late miss, and tells about the first one of a key.
    fn tell_late_miss(&self, entry: &Entry) {
        add(&self.counters.late_misses, 1);
        if entry.told.swap(true, Ordering::Relaxed) {
            return;
        }
        let handler = self.on_late_miss.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(handler) = handler {
            // Who is told must not harm who asked.
            let _ = catch_unwind(AssertUnwindSafe(|| handler(&entry.key)));
        }
    }
}

/// An error with the pipeline that it is about.
fn failed(key: &PipelineKey, cause: Error) -> Error {
    Error::Pipeline {
        pipeline: key.to_string(),
        kernel: key.kernel().to_string(),
        constants: key.constants_text(),
        cause: Box::new(cause),
    }
}

fn refusal(key: &PipelineKey) -> String {
    let constants = match key.constants_text() {
        text if text.is_empty() => "without constants".into(),
        text => format!("with {text}"),
    };
    format!(
        "it is not among the pipelines that were created while loading; declare kernel '{}' {constants} in the plan, \
         or call `unseal` before it is first used",
        key.kernel()
    )
}

/// Whether a pipeline can run with threadgroups of this size.
fn check_size(pipeline: &ComputePipelineState, threads: Size) -> Result<()> {
    let most = pipeline.max_total_threads_per_threadgroup();
    match threads.volume() {
        Some(volume) if (1..=most).contains(&volume) => Ok(()),
        _ => usage(format!("threadgroups of {threads}: they must have 1 to {most} threads")),
    }
}

/// Does work; a panic in it is an error.
fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(text), _) => (*text).to_owned(),
            (None, Some(text)) => text.clone(),
            (None, None) => "no message".into(),
        };
        // What was thrown may throw when it is dropped.
        let _ = catch_unwind(AssertUnwindSafe(move || drop(panic)));
        Err(Error::Internal(format!("the compiler panicked: {text}")))
    })
}

impl std::fmt::Debug for PipelineCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PipelineCache").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
