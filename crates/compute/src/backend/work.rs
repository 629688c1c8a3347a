//! Everything that a command buffer hands to the device: tables, replays, copies and fills, one after the other.

use super::{Block, Memory, Table, block_bytes_mut};
use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Everything that a command buffer has to do.
#[derive(Default)]
pub struct Work {
    pub(crate) steps: Vec<Step>,
    patches: Vec<ReplayPatch>,
    /// The bytes of all patches.
    bytes: Vec<u8>,
}

/// A part of the work. Each begins when the one before has ended.
pub enum Step {
    /// Dispatches.
    Pass(Box<Table>),
    /// Dispatches that were recorded before.
    Replay {
        /// The recording.
        recorded: Arc<Recorded>,
        /// Bytes that it has this time.
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

/// Bytes that are copied from one buffer to another. All of it was validated.
pub struct Copy {
    /// Where from.
    pub source: Arc<Memory>,
    /// Which bytes.
    pub range: Range<usize>,
    /// Where to.
    pub destination: Arc<Memory>,
    /// The first byte there.
    pub offset: usize,
}

/// Bytes of a buffer that are set to a value. All of it was validated.
pub struct Fill {
    /// The buffer.
    pub buffer: Arc<Memory>,
    /// Which bytes.
    pub range: Range<usize>,
    /// The value of each.
    pub value: u8,
}

/// The patches of one replay.
#[derive(Clone)]
pub struct Patches(Range<usize>);

struct ReplayPatch {
    /// Which bytes it replaces, counted from the first block's first.
    target: Range<usize>,
    /// Where its own begin, in [`Work::bytes`].
    source: usize,
}

impl Work {
    /// Its steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Adds a step.
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Adds a replay. Each patch is the bytes that it replaces, counted from the first block's first, and others for them.
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

    /// The bytes that a replay replaces, and those for them.
    pub fn patches(&self, patches: &Patches) -> impl Iterator<Item = (Range<usize>, &[u8])> + Clone {
        self.patches[patches.0.clone()].iter().map(|patch| {
            let len = patch.target.end - patch.target.start;
            (patch.target.clone(), &self.bytes[patch.source..patch.source + len])
        })
    }

    /// The bytes of a recording with those of one replay in their places.
    pub fn patched<'a>(&'a self, recorded: &'a Recorded, patches: &Patches) -> Cow<'a, [Block]> {
        let mut blocks = Cow::Borrowed(&*recorded.table.bytes);
        for (target, bytes) in self.patches(patches) {
            block_bytes_mut(blocks.to_mut())[target].copy_from_slice(bytes);
        }
        blocks
    }

    /// Forgets everything but the memory that it has; the tables are cleared, too.
    pub(crate) fn clear(&mut self) -> impl Iterator<Item = Box<Table>> + use<> {
        self.patches.clear();
        self.bytes.clear();
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
