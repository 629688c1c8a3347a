//! Times of a command buffer whose dispatches run as separate command buffers.
//!
//! Parts begin while the work is encoded, and end on any thread, in any order. The last to end, the encoding included,
//! completes the whole.

use crate::backend::{Outcome, Table};
use crate::error::{Error, Result};
use crate::timing::DispatchTiming;
use std::sync::Arc;
use std::time::Instant;

/// The parts of one command buffer.
pub struct Profile {
    parts: Vec<Part>,
    /// Parts that have not ended, plus one for the encoding.
    running: usize,
    error: Option<Error>,
}

struct Part {
    /// `None` for steps that are not dispatches.
    dispatch: Option<Timed>,
    start: Option<Instant>,
    end: Option<Instant>,
}

/// A profiled dispatch.
pub struct Timed {
    kernel: Arc<str>,
    label: Option<Arc<str>>,
}

impl Timed {
    /// The dispatch with this number in a table.
    pub fn new(table: &Table, number: usize) -> Timed {
        let pipeline = table.executable(number);
        Timed { kernel: pipeline.name.clone(), label: pipeline.label.clone() }
    }
}

impl Default for Profile {
    fn default() -> Profile {
        Profile { parts: Vec::new(), running: 1, error: None }
    }
}

impl Profile {
    /// Adds a part that is about to be committed; returns its number.
    pub fn begin(&mut self, dispatch: Option<Timed>) -> usize {
        self.parts.push(Part { dispatch, start: None, end: None });
        self.running += 1;
        self.parts.len() - 1
    }

    /// The kernel of a part.
    pub fn kernel(&self, number: usize) -> Option<Arc<str>> {
        self.parts[number].dispatch.as_ref().map(|timed| timed.kernel.clone())
    }

    /// Ends a part; returns true if it was the last.
    pub fn end(
        &mut self,
        number: usize,
        (start, end): (Option<Instant>, Option<Instant>),
        executed: Result<()>,
    ) -> bool {
        let part = &mut self.parts[number];
        (part.start, part.end) = (start, end);
        self.finish(executed)
    }

    /// Ends the encoding; returns true if all parts have ended.
    pub fn end_encoding(&mut self, encoded: Result<()>) -> bool {
        self.finish(encoded)
    }

    fn finish(&mut self, executed: Result<()>) -> bool {
        if let Err(error) = executed {
            self.error.get_or_insert(error);
        }
        self.running -= 1;
        self.running == 0
    }

    /// The outcome of the whole. Dispatches without times, because they failed, are left out.
    pub fn outcome(&mut self) -> Outcome {
        let parts = std::mem::take(&mut self.parts);
        let start = parts.iter().filter_map(|part| part.start).min();
        let end = parts.iter().filter_map(|part| part.end).max();
        let timings = parts.into_iter().filter_map(|part| {
            let Timed { kernel, label } = part.dispatch?;
            Some(DispatchTiming { kernel, label, start: part.start?, end: part.end? })
        });
        let timings = timings.collect();
        Outcome { executed: self.error.take().map_or(Ok(()), Err), start, end, timings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn timed(kernel: &str) -> Option<Timed> {
        Some(Timed { kernel: kernel.into(), label: None })
    }

    #[test]
    fn the_last_part_completes_in_any_order() {
        let now = Instant::now();
        let at =
            |start: u64, end: u64| (Some(now + Duration::from_secs(start)), Some(now + Duration::from_secs(end)));
        let mut profile = Profile::default();
        let (a, copy) = (profile.begin(timed("a")), profile.begin(None));
        assert!(!profile.end(copy, at(2, 3), Ok(())) && !profile.end(a, at(1, 2), Ok(())));
        let b = profile.begin(timed("b"));
        assert_eq!(profile.kernel(b).as_deref(), Some("b"));
        assert!(!profile.end_encoding(Ok(())));
        assert!(profile.end(b, at(3, 7), Ok(())));
        let outcome = profile.outcome();
        assert_eq!((outcome.start, outcome.end), at(1, 7));
        let timings: Vec<_> = outcome.timings.iter().map(|t| (&*t.kernel, t.duration().as_secs())).collect();
        assert_eq!((outcome.executed, timings), (Ok(()), vec![("a", 1), ("b", 4)]));
    }

    #[test]
    fn the_first_error_wins() {
        let mut profile = Profile::default();
        let (a, b) = (profile.begin(timed("a")), profile.begin(timed("b")));
        let error = |what: &str| Err(Error::Internal(what.into()));
        assert!(!profile.end(b, (None, None), error("b failed")));
        assert!(!profile.end_encoding(error("no encoder")));
        assert!(profile.end(a, (None, None), Ok(())));
        let outcome = profile.outcome();
        assert_eq!((outcome.executed, outcome.timings.len(), outcome.start), (error("b failed"), 0, None));
    }

    #[test]
    fn completes_without_parts() {
        let mut profile = Profile::default();
        assert!(profile.end_encoding(Ok(())));
        assert_eq!(profile.outcome().executed, Ok(()));
    }
}
