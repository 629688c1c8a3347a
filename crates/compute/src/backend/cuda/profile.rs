//! Times of dispatches: each is launched between two events, in a graph, so that the device does not wait for the host
//! between them.

use super::context::{Event, Graph};
use super::encode::{Encoding, add_event, add_kernel, code_of, failure_address};
use super::launch::{LaunchAddresses, Parameters, PatchedBlocks};
use crate::backend::{Block, Step, Table, Work};
use crate::error::Result;
use crate::timing::DispatchTiming;
use std::sync::Arc;
use std::time::Instant;

/// A dispatch between two events.
pub(super) struct TimedDispatch {
    kernel: Arc<str>,
    label: Option<Arc<str>>,
    start: Arc<Event>,
    end: Arc<Event>,
}

impl TimedDispatch {
    /// The times, given an event that happened later, and when.
    pub(super) fn timing(&self, later: &Event, now: Instant) -> Option<DispatchTiming> {
        let end = now.checked_sub(later.since(&self.end)?)?;
        let start = end.checked_sub(self.end.since(&self.start)?)?;
        Some(DispatchTiming { kernel: self.kernel.clone(), label: self.label.clone(), start, end })
    }
}

impl Encoding<'_> {
    /// Encodes all steps, and times their dispatches.
    pub(super) fn timed_work(&mut self, work: &Work) -> Result<()> {
        for step in work.steps() {
            match step {
                Step::Pass(table) => self.timed_table(table, &table.bytes)?,
                Step::Replay { recorded, patches } => {
                    self.timed_table(recorded.table(), &work.patched(recorded, patches))?;
                }
                Step::Copy(_) | Step::Fill(_) => drop(self.transfer(step)?),
            }
        }
        Ok(())
    }

    fn timed_table(&mut self, table: &Table, bytes: &[Block]) -> Result<()> {
        if table.is_empty() {
            return Ok(());
        }
        let context = self.context;
        let watch = self.watch(table)?;
        let patched = PatchedBlocks::default();
        let (slots, bytes_address) = self.device_bytes(table, bytes)?;
        let graph = Graph::new(context)?;
        let mut event = Arc::new(Event::timed(context)?);
        let mut last = add_event(context, &graph, &[], &event)?;
        for number in 0..table.len() {
            let (executable, code) = (table.executable(number), code_of(table, number)?);
            let failure = failure_address(&watch, number);
            let addresses = LaunchAddresses { slots: &slots, bytes: bytes_address, failure };
            let mut parameters = Parameters::default();
            let launch = code.signature.launch(table, number, bytes, &patched, addresses, &mut parameters)?;
            let function = code.function(launch.entry);
            let kernel = add_kernel(context, &graph, &[last], function, &launch, &mut parameters)?;
            let end = Arc::new(Event::timed(context)?);
            last = add_event(context, &graph, &[kernel], &end)?;
            self.held.timed.push(TimedDispatch {
                kernel: executable.name.clone(),
                label: executable.label.clone(),
                start: std::mem::replace(&mut event, end.clone()),
                end,
            });
        }
        self.launch_once(&graph)
    }
}
