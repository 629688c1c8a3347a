//! The cache of pipelines: each is created once and found ever after.
//!
//! ```text
//! kernel, constants ── key ── table: lists that only grow ─── found: a hit, no lock and no allocation
//!                                └─ not there: obtain ── attempt, one at a time for each key ── create (given to the cache)
//! configurations ── batch: many at once ── threads: the few that compile
//! ```
//!
//! **Invariant:** nothing is created under a lock, and nobody waits but for a pipeline that a running thread is creating.

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
    table: PipelineTable,
    counters: Counters,
    create: Box<Create>,
    phase: Phase,
    on_late_miss: RwLock<Option<Arc<OnLateMiss>>>,
}

type Create = dyn Fn(&PipelineConfig) -> Result<ComputePipelineState> + Send + Sync;
type OnLateMiss = dyn Fn(&PipelineKey) + Send + Sync;

impl PipelineCache {
    /// An empty cache. `create` makes the pipelines, on whatever thread asks; where it panics, it has failed. It may ask
    /// the cache for other pipelines, as long as those do not ask for the first one.
    pub fn new(
        create: impl Fn(&PipelineConfig) -> Result<ComputePipelineState> + Send + Sync + 'static,
    ) -> PipelineCache {
        let shared = Shared {
            table: PipelineTable::new(),
            counters: Counters::default(),
            create: Box::new(create),
            phase: Phase::default(),
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
        self.get_or_create_pso_with(kernel, constants, Simdgroups::Any)
    }

    /// The same with a promise about the simdgroups of all its dispatches: on a CPU, there is less to compile for rows.
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
        let wanted = Wanted { kernel, constants, simdgroups: Simdgroups::Any };
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
    /// [`on_late_miss`](PipelineCache::on_late_miss). Dispatches never compile: a pipeline has all its code when it is created.
    ///
    /// Creating what is declared ([`create_all`](PipelineCache::create_all) and kin) stays possible: one model may be
    /// loaded while another one runs.
    pub fn seal(&self) {
        self.seal_with(LateMisses::default());
    }

    /// Ends the loading, and says what becomes of late misses.
    pub fn seal_with(&self, late_misses: LateMisses) {
        self.shared.phase.seal(late_misses);
        self.shared.flush_archives();
    }

    /// Begins another loading: misses are expected again.
    pub fn unseal(&self) {
        self.shared.phase.unseal();
    }

    /// Whether [`seal`](PipelineCache::seal) was called, and no [`unseal`](PipelineCache::unseal) since.
    pub fn is_sealed(&self) -> bool {
        self.shared.phase.late_misses().is_some()
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

impl std::fmt::Debug for PipelineCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PipelineCache").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
