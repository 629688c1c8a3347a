//! The work of a command buffer: tables, replays, copies and fills, in order.

use super::{Block, Memory, Table, block_bytes_mut};
use crate::message::LogHandler;
use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The work of a command buffer.
#[derive(Default)]
pub struct Work {
    pub(crate) steps: Vec<Step>,
    patches: Vec<ReplayPatch>,
    /// The bytes of all patches.
    bytes: Vec<u8>,
    /// Takes messages of its kernels, in place of the device's handler.
    pub(crate) log_handler: Option<LogHandler>,
}

/// A step of the work. Each begins when the one before has ended.
pub enum Step {
    /// Dispatches.
    Pass(Box<Table>),
    /// Dispatches recorded before.
    Replay {
        /// The recording.
        recorded: Arc<Recorded>,
        /// Bytes patched in this replay.
        patches: Patches,
    },
    /// A copy.
    Copy(Copy),
    /// A fill.
    Fill(Fill),
}

/// A recording, as back ends see it.
pub struct Recorded {
    pub(crate) table: Box<Table>,
    pub(crate) prepared: Box<dyn Any + Send + Sync>,
}

impl Recorded {
    /// Its dispatches.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The result of [`super::Device::record`].
    pub fn prepared(&self) -> &dyn Any {
        &*self.prepared
    }
}

/// A copy between buffers, already validated.
pub struct Copy {
    /// The source buffer.
    pub source: Arc<Memory>,
    /// The bytes to copy.
    pub range: Range<usize>,
    /// The destination buffer.
    pub destination: Arc<Memory>,
    /// The offset in the destination.
    pub offset: usize,
}

/// A fill of a buffer, already validated.
pub struct Fill {
    /// The buffer.
    pub buffer: Arc<Memory>,
    /// The bytes to fill.
    pub range: Range<usize>,
    /// The value of each byte.
    pub value: u8,
}

/// The patches of one replay.
#[derive(Clone)]
pub struct Patches(Range<usize>);

struct ReplayPatch {
    /// The replaced bytes, counted from the start of the first block.
    target: Range<usize>,
    /// Start of the new bytes in [`Work::bytes`].
    source: usize,
}

impl Work {
    /// The steps in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Adds a step.
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Adds a replay. Each patch is the range of bytes that it replaces, counted from the start of the first block, and
    /// the new bytes.
    pub fn replay<'a>(
        &mut self,
        recorded: &Arc<Recorded>,
        patches: impl Iterator<Item = (Range<usize>, &'a [u8])>,
    ) {
        let first = self.patches.len();
        for (target, bytes) in patches {
            self.patches.push(ReplayPatch { target, source: self.bytes.len() });
            self.bytes.extend_from_slice(bytes);
        }
        let patches = Patches(first..self.patches.len());
        self.steps.push(Step::Replay { recorded: recorded.clone(), patches });
    }

    /// The patches of a replay: replaced range and new bytes.
    pub fn patches(&self, patches: &Patches) -> impl Iterator<Item = (Range<usize>, &[u8])> + Clone {
        self.patches[patches.0.clone()].iter().map(|patch| {
            let len = patch.target.end - patch.target.start;
            (patch.target.clone(), &self.bytes[patch.source..patch.source + len])
        })
    }

    /// The bytes of a recording with the patches of one replay applied.
    pub fn patched<'a>(&'a self, recorded: &'a Recorded, patches: &Patches) -> Cow<'a, [Block]> {
        let mut blocks = Cow::Borrowed(&*recorded.table.bytes);
        for (target, bytes) in self.patches(patches) {
            block_bytes_mut(blocks.to_mut())[target].copy_from_slice(bytes);
        }
        blocks
    }

    /// Clears the work and its tables, and keeps their allocations.
    pub(crate) fn clear(&mut self) -> impl Iterator<Item = Box<Table>> + use<> {
        self.patches.clear();
        self.bytes.clear();
        self.log_handler = None;
        let mut tables = Vec::new();
        for step in self.steps.drain(..) {
            if let Step::Pass(mut table) = step {
                table.clear();
                tables.push(table);
            }
        }
        tables.into_iter()
    }
}
