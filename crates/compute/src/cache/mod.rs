//! The pipeline cache: creates each pipeline once.
//!
//! ```text
//! kernel, constants ── key ── table: append-only lists ─── found: a hit, no lock and no allocation
//!                                └─ missing: obtain ── attempt, one at a time per key ── create (the caller's function)
//! configurations ── batch: many in parallel ── threads: the compile threads
//! ```
//!
//! **Invariant:** no pipeline is created under a lock, and threads wait only for a pipeline that a running thread
//! creates.

mod asynchronous;
mod attempt;
mod batch;
mod config;
mod constants;
mod counters;
mod key;
mod obtain;
mod phase;
mod table;
mod threads;

pub use batch::{PendingPipelines, PipelineProgress, PipelineResults};
pub use config::PipelineConfig;
pub use constants::{ConstantBits, ConstantName, KernelConstants};
pub use counters::PipelineCacheStats;
pub use key::PipelineKey;
pub use phase::LateMisses;
use phase::Phase;

use crate::backend::Simdgroups;
use crate::error::Result;
use crate::pipeline::ComputePipelineState;
use counters::Counters;
use key::Wanted;
use std::sync::{Arc, PoisonError, RwLock};
use table::PipelineTable;

/// Pipelines by kernel and function constants, shared between threads. A clone is the same cache.
///
/// An existing pipeline is found without locks and allocations. A missing one is created once by the thread that needs
/// it, even if many need it at the same time: the others wait, and get the same pipeline or the same error. Errors are
/// not cached: the next lookup tries again.
///
/// Pipelines live as long as the cache, so that a lookup returns a plain reference.
///
/// # Loading and running
///
/// [`create_all`](PipelineCache::create_all) creates the declared pipelines on all cores; after
/// [`seal`](PipelineCache::seal), a lookup of a missing pipeline is a bug of the program.
#[derive(Clone)]
pub struct PipelineCache {
    shared: Arc<CacheShared>,
}

struct CacheShared {
    table: PipelineTable,
    counters: Counters,
    create: Box<Create>,
    phase: Phase,
    on_late_miss: RwLock<Option<Arc<OnLateMiss>>>,
}

type Create = dyn Fn(&PipelineConfig) -> Result<ComputePipelineState> + Send + Sync;
type OnLateMiss = dyn Fn(&PipelineKey) + Send + Sync;

impl PipelineCache {
    /// Creates an empty cache. `create` makes the pipelines, on the thread that needs them; a panic in it counts as a
    /// failure. It may look up other pipelines in the cache, as long as those do not need the first one.
    pub fn new(
        create: impl Fn(&PipelineConfig) -> Result<ComputePipelineState> + Send + Sync + 'static,
    ) -> PipelineCache {
        let shared = CacheShared {
            table: PipelineTable::new(),
            counters: Counters::default(),
            create: Box::new(create),
            phase: Phase::default(),
            on_late_miss: RwLock::new(None),
        };
        PipelineCache { shared: Arc::new(shared) }
    }

    /// Returns the pipeline of a kernel with these constants, and creates it if missing.
    #[inline]
    pub fn get_or_create_pso(
        &self,
        kernel: &str,
        constants: impl KernelConstants,
    ) -> Result<&ComputePipelineState> {
        self.get_or_create_pso_with(kernel, constants, Simdgroups::Any)
    }

    /// As [`get_or_create_pso`](PipelineCache::get_or_create_pso), with a promise about the simdgroups of all
    /// dispatches: on a CPU, rows need less code.
    #[inline]
    pub fn get_or_create_pso_with(
        &self,
        kernel: &str,
        constants: impl KernelConstants,
        simdgroups: Simdgroups,
    ) -> Result<&ComputePipelineState> {
        let wanted = Wanted { kernel, constants, simdgroups };
        match self.shared.hit(self.shared.table.find(wanted.hash(), &wanted)) {
            Some(pipeline) => Ok(pipeline),
            None => self.shared.late_or_first(&PipelineConfig::from(wanted.to_key())),
        }
    }

    /// Returns the pipeline of a configuration, and creates it if missing.
    #[inline]
    pub fn get_or_create(&self, config: &PipelineConfig) -> Result<&ComputePipelineState> {
        match self.shared.hit(self.shared.table.find_key(config.key())) {
            Some(pipeline) => Ok(pipeline),
            None => self.shared.late_or_first(config),
        }
    }

    /// Returns the pipeline of a kernel with these constants, if it exists. Not counted in the statistics.
    pub fn get(&self, kernel: &str, constants: impl KernelConstants) -> Option<&ComputePipelineState> {
        let wanted = Wanted { kernel, constants, simdgroups: Simdgroups::Any };
        self.shared.table.find(wanted.hash(), &wanted)?.pipeline.get()
    }

    /// Keys of all pipelines, sorted by their text.
    pub fn keys(&self) -> Vec<PipelineKey> {
        let ready = self.shared.table.entries().filter(|entry| entry.pipeline.get().is_some());
        let mut keys: Vec<PipelineKey> = ready.map(|entry| entry.key.clone()).collect();
        keys.sort_by_cached_key(PipelineKey::to_string);
        keys
    }

    /// Ends loading: from now on, a lookup of a missing pipeline with
    /// [`get_or_create_pso`](PipelineCache::get_or_create_pso) or [`get_or_create`](PipelineCache::get_or_create) is a
    /// late miss. In debug builds that is an error; otherwise the pipeline is created, counted, and reported to
    /// [`on_late_miss`](PipelineCache::on_late_miss). A dispatch never compiles: a pipeline has all its code when it is
    /// created.
    ///
    /// Declared pipelines ([`create_all`](PipelineCache::create_all) and its relatives) can still be created: one model
    /// may load while another runs.
    pub fn seal(&self) {
        self.seal_with(LateMisses::default());
    }

    /// Ends loading, with a policy for late misses.
    pub fn seal_with(&self, late_misses: LateMisses) {
        self.shared.phase.seal(late_misses);
        self.shared.flush_archives();
    }

    /// Returns to loading: misses are expected again.
    pub fn unseal(&self) {
        self.shared.phase.unseal();
    }

    /// True after [`seal`](PipelineCache::seal), until [`unseal`](PipelineCache::unseal).
    pub fn is_sealed(&self) -> bool {
        self.shared.phase.late_misses().is_some()
    }

    /// Sets the handler of late misses, called once per key. It replaces the previous handler.
    pub fn on_late_miss(&self, handler: impl Fn(&PipelineKey) + Send + Sync + 'static) {
        let mut current = self.shared.on_late_miss.write().unwrap_or_else(PoisonError::into_inner);
        *current = Some(Arc::new(handler));
    }

    /// Statistics so far.
    pub fn stats(&self) -> PipelineCacheStats {
        let mut stats = self.shared.counters.stats();
        for pipeline in self.shared.table.entries().filter_map(|entry| entry.pipeline.get()) {
            stats.pipelines += 1;
            stats.code_bytes += pipeline.code_size() as u64;
        }
        stats
    }
}

impl std::fmt::Debug for PipelineCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PipelineCache").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
