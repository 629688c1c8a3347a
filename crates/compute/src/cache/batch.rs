//! Creates many pipelines in parallel.
//!
//! The compile threads and the thread that waits for the results claim one configuration after the other. So the
//! waiting thread does not depend on a compile thread that has claimed nothing.

use super::{CacheShared, PipelineCache, PipelineConfig, PipelineKey, threads};
use crate::error::{Error, Result};
use crate::pipeline::ComputePipelineState;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

/// Progress of a batch, after one more pipeline is done.
#[derive(Clone, Copy, Debug)]
pub struct PipelineProgress<'a> {
    /// Number of finished pipelines, this one included. Equal configurations count once.
    pub done: usize,
    /// Number of pipelines in the batch.
    pub total: usize,
    /// Number of failed pipelines.
    pub failed: usize,
    /// Key of the finished pipeline.
    pub key: &'a PipelineKey,
    /// Its result.
    pub outcome: &'a Result<ComputePipelineState>,
}

/// The result of each configuration, in their order.
#[derive(Debug)]
pub struct PipelineResults {
    results: Vec<Result<ComputePipelineState>>,
}

/// Pipelines that are being created. Dropping it does not stop the work.
pub struct PendingPipelines {
    batch: Arc<Batch>,
}

struct Batch {
    shared: Arc<CacheShared>,
    /// Distinct configurations.
    configs: Vec<PipelineConfig>,
    /// For each requested configuration, its index in `configs`.
    asked: Vec<usize>,
    outcomes: Vec<OnceLock<Result<ComputePipelineState>>>,
    /// First unclaimed configuration.
    next: AtomicUsize,
    /// Finished configurations, in order of completion.
    done: Mutex<Vec<usize>>,
    one_more: Condvar,
}

impl PipelineCache {
    /// Creates pipelines in parallel on all cores, the calling thread included. Failures are independent, and equal
    /// configurations are created once. The results are in the order of `configs`.
    ///
    /// `progress` is called on this thread, between its own compilations. If it panics, so does this call, but the
    /// pipelines are created. It may use the cache.
    pub fn create_all(
        &self,
        configs: &[PipelineConfig],
        progress: impl FnMut(&PipelineProgress<'_>),
    ) -> PipelineResults {
        // This thread compiles, too.
        let pending = self.start(configs, threads::limit() - 1);
        pending.wait_with_progress(progress)
    }

    /// Starts to create pipelines, without waiting for them.
    pub fn create_all_async(&self, configs: &[PipelineConfig]) -> PendingPipelines {
        self.start(configs, threads::limit())
    }

    fn start(&self, configs: &[PipelineConfig], helpers: usize) -> PendingPipelines {
        let batch = Arc::new(Batch::new(self.shared.clone(), configs));
        for _ in 0..helpers.min(batch.configs.len()) {
            let batch = batch.clone();
            threads::spawn(move || while batch.create_one() {});
        }
        PendingPipelines { batch }
    }
}

impl PendingPipelines {
    /// True if all are done.
    pub fn is_done(&self) -> bool {
        self.done() == self.total()
    }

    /// Number of finished pipelines. Equal configurations count once.
    pub fn done(&self) -> usize {
        self.batch.done().len()
    }

    /// Number of pipelines. Equal configurations count once.
    pub fn total(&self) -> usize {
        self.batch.configs.len()
    }

    /// Waits for all pipelines, and compiles some of them meanwhile.
    pub fn wait(self) -> PipelineResults {
        self.wait_with_progress(|_| {})
    }

    /// Waits for all pipelines, and compiles some of them meanwhile; `progress` is called on this thread, also for
    /// pipelines finished earlier.
    pub fn wait_with_progress(self, mut progress: impl FnMut(&PipelineProgress<'_>)) -> PipelineResults {
        let mut told = Told::default();
        while self.batch.create_one() {
            self.batch.tell(&mut told, &mut progress);
        }
        while told.done < self.total() {
            self.batch.wait_for_more_than(told.done);
            self.batch.tell(&mut told, &mut progress);
        }
        self.batch.shared.flush_archives();
        let result = |index: &usize| match self.batch.outcomes[*index].get() {
            Some(outcome) => outcome.clone(),
            None => Err(Error::Internal("a finished pipeline has no result".into())),
        };
        PipelineResults { results: self.batch.asked.iter().map(result).collect() }
    }
}

/// Progress reported so far.
#[derive(Default)]
struct Told {
    done: usize,
    failed: usize,
}

impl Batch {
    fn new(shared: Arc<CacheShared>, asked: &[PipelineConfig]) -> Batch {
        let mut configs = Vec::new();
        let mut places: HashMap<&PipelineConfig, usize> = HashMap::new();
        let mut place = |config| {
            *places.entry(config).or_insert_with(|| {
                configs.push(config.clone());
                configs.len() - 1
            })
        };
        let asked = asked.iter().map(&mut place).collect();
        Batch {
            shared,
            asked,
            outcomes: configs.iter().map(|_| OnceLock::new()).collect(),
            configs,
            next: AtomicUsize::new(0),
            done: Mutex::default(),
            one_more: Condvar::new(),
        }
    }

    fn done(&self) -> MutexGuard<'_, Vec<usize>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Claims a configuration and creates its pipeline; returns false if none is left.
    fn create_one(&self) -> bool {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(config) = self.configs.get(index) else { return false };
        // Only the claiming thread sets it.
        let _ = self.outcomes[index].set(self.shared.declared(config));
        self.done().push(index);
        self.one_more.notify_all();
        true
    }

    fn wait_for_more_than(&self, known: usize) {
        let done = self.done();
        let more = self.one_more.wait_while(done, |done| done.len() <= known);
        drop(more.unwrap_or_else(PoisonError::into_inner));
    }

    /// Reports pipelines finished since the last call.
    fn tell(&self, told: &mut Told, progress: &mut impl FnMut(&PipelineProgress<'_>)) {
        let news = self.done()[told.done..].to_vec();
        for index in news {
            let Some(outcome) = self.outcomes[index].get() else { continue };
            told.done += 1;
            told.failed += usize::from(outcome.is_err());
            let (total, key) = (self.configs.len(), self.configs[index].key());
            progress(&PipelineProgress { done: told.done, total, failed: told.failed, key, outcome });
        }
    }
}

impl PipelineResults {
    /// The result of each configuration.
    pub fn iter(&self) -> std::slice::Iter<'_, Result<ComputePipelineState>> {
        self.results.iter()
    }

    /// Number of results.
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// True if there are no results.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// The errors.
    pub fn failures(&self) -> impl Iterator<Item = &Error> {
        self.results.iter().filter_map(|result| result.as_ref().err())
    }

    /// All pipelines, or one error with all failures.
    pub fn into_pipelines(self) -> Result<Vec<ComputePipelineState>> {
        let total = self.results.len();
        let failures: Vec<Error> = self.failures().cloned().collect();
        match failures.len() {
            0 => self.results.into_iter().collect(),
            _ => Err(Error::Pipelines { total, failures }),
        }
    }
}

impl IntoIterator for PipelineResults {
    type Item = Result<ComputePipelineState>;
    type IntoIter = std::vec::IntoIter<Result<ComputePipelineState>>;

    fn into_iter(self) -> Self::IntoIter {
        self.results.into_iter()
    }
}

impl<'a> IntoIterator for &'a PipelineResults {
    type Item = &'a Result<ComputePipelineState>;
    type IntoIter = std::slice::Iter<'a, Result<ComputePipelineState>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl std::fmt::Debug for PendingPipelines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PendingPipelines").field("done", &self.done()).field("total", &self.total()).finish()
    }
}
