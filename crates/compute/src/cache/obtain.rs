//! Obtaining a pipeline: it exists, another thread creates it, it is created now, or the miss is refused.

use super::attempt::NextStep;
use super::counters::add;
use super::table::CachedPipeline;
use super::{CacheShared, LateMisses, PipelineConfig, PipelineKey};
use crate::backend::PipelineOrigin;
use crate::error::{Error, Result};
use crate::pipeline::ComputePipelineState;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant;

impl CacheShared {
    /// Returns an existing pipeline and counts the hit.
    #[inline]
    pub(super) fn hit<'a>(&self, entry: Option<&'a CachedPipeline>) -> Option<&'a ComputePipelineState> {
        let pipeline = entry?.pipeline.get()?;
        self.counters.hit();
        Some(pipeline)
    }

    /// For lookups: a late miss once the cache is sealed.
    #[cold]
    pub(super) fn late_or_first(&self, config: &PipelineConfig) -> Result<&ComputePipelineState> {
        self.obtain(config, self.phase.late_misses())
    }

    /// For declared pipelines.
    pub(super) fn declared(&self, config: &PipelineConfig) -> Result<ComputePipelineState> {
        self.obtain(config, None).cloned()
    }

    fn obtain(&self, config: &PipelineConfig, late: Option<LateMisses>) -> Result<&ComputePipelineState> {
        let key = config.key();
        let entry = self.table.entry(key);
        let may_create = late != Some(LateMisses::Refuse);
        match entry.attempts.turn(may_create, || entry.pipeline.get().is_some()) {
            NextStep::Ready => self.counters.hit(),
            NextStep::Wait(attempt) => {
                add(&self.counters.waits, 1);
                attempt.wait().map_err(|error| match error {
                    Error::Pipeline { .. } => error,
                    cause => failed(key, cause),
                })?;
            }
            NextStep::Create(attempt) => {
                add(&self.counters.misses, 1);
                let outcome = self.create(config, entry);
                entry.attempts.end(&attempt, outcome.clone());
                if late.is_some() {
                    self.tell_late_miss(entry);
                }
                outcome?;
            }
            NextStep::Missing => {
                add(&self.counters.misses, 1);
                add(&self.counters.failures, 1);
                self.tell_late_miss(entry);
                return Err(failed(key, Error::Usage(refusal(key))));
            }
        }
        entry.pipeline.get().ok_or_else(|| failed(key, Error::Internal("it was created and then lost".into())))
    }

    /// Creates a pipeline and stores it in its entry.
    fn create(&self, config: &PipelineConfig, entry: &CachedPipeline) -> Result<()> {
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
                // No other thread sets it: there is one attempt at a time, and none after a success.
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

    /// Lets the archives of all pipelines write pending code.
    pub(super) fn flush_archives(&self) {
        self.table
            .entries()
            .filter_map(|entry| entry.pipeline.get())
            .for_each(ComputePipelineState::flush_archives);
    }

    /// Counts a late miss, and reports the first one of each key.
    fn tell_late_miss(&self, entry: &CachedPipeline) {
        add(&self.counters.late_misses, 1);
        if entry.told.swap(true, Ordering::Relaxed) {
            return;
        }
        let handler = self.on_late_miss.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(handler) = handler {
            // A panic in the handler must not reach the caller.
            let _ = catch_unwind(AssertUnwindSafe(|| handler(&entry.key)));
        }
    }
}

/// Adds the pipeline to an error.
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

/// Converts panics to errors.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(text), _) => (*text).to_owned(),
            (None, Some(text)) => text.clone(),
            (None, None) => "no message".into(),
        };
        // A panic payload may itself panic when it is dropped.
        let _ = catch_unwind(AssertUnwindSafe(move || drop(panic)));
        Err(Error::Internal(format!("the compiler panicked: {text}")))
    })
}
