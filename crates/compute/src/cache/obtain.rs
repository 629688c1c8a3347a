//! What becomes of asking for a pipeline: it is there, somebody is creating it, it is created now, or that is refused.

use super::attempt::NextStep;
use super::counters::add;
use super::table::CachedPipeline;
use super::{LateMisses, PipelineConfig, PipelineKey, Shared};
use crate::backend::PipelineOrigin;
use crate::error::{Error, Result};
use crate::pipeline::ComputePipelineState;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant;

impl Shared {
    /// Counts a hit, if it is one.
    #[inline]
    pub(super) fn hit<'a>(&self, entry: Option<&'a CachedPipeline>) -> Option<&'a ComputePipelineState> {
        let pipeline = entry?.pipeline.get()?;
        self.counters.hit();
        Some(pipeline)
    }

    /// Asked for where it is used: a late miss once the cache is sealed.
    #[cold]
    pub(super) fn late_or_first(&self, config: &PipelineConfig) -> Result<&ComputePipelineState> {
        self.obtain(config, self.phase.late_misses())
    }

    /// Asked for where it is declared.
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
        entry.pipeline.get().ok_or_else(|| failed(key, Error::Internal("it was created, and is gone".into())))
    }

    /// Creates a pipeline; it is in its entry when that has succeeded.
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

    /// The loading is over, or a part of it: has archives write what they have not written yet.
    pub(super) fn flush_archives(&self) {
        self.table
            .entries()
            .filter_map(|entry| entry.pipeline.get())
            .for_each(ComputePipelineState::flush_archives);
    }

    /// Counts a late miss, and tells about the first one of a key.
    fn tell_late_miss(&self, entry: &CachedPipeline) {
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

/// Does work; a panic in it is an error.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
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
