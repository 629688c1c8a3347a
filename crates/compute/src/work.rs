//! What a command buffer hands to the device: passes, replays and copies, one after the other.

use crate::buffer::Buffer;
use crate::error::Result;
use crate::pass::Pass;
use crate::recording::{Patch, Recording};
use crate::validate;
use std::ops::Range;

/// All that a command buffer has to do.
#[derive(Default)]
pub(crate) struct Work {
    pub(crate) steps: Vec<Step>,
    patches: Vec<Patched>,
    /// The bytes of all patches.
    bytes: Vec<u8>,
}

/// A part of the work. Each begins when the one before has ended.
pub(crate) enum Step {
    Pass(Box<Pass>),
    Replay {
        recording: Recording,
        /// In [`Work::patches`].
        patches: Range<usize>,
    },
    Copy(Copy),
}

/// Bytes that are copied from one buffer to another. All of it was validated.
pub(crate) struct Copy {
    pub(crate) source: Buffer,
    pub(crate) range: Range<usize>,
    pub(crate) destination: Buffer,
    pub(crate) offset: usize,
}

/// A patch that was checked.
struct Patched {
    /// Which bytes it replaces, counted from the first block's first.
    target: Range<usize>,
    /// Where its own begin, in [`Work::bytes`].
    source: usize,
}

impl Work {
    pub(crate) fn encode(&mut self, pass: Box<Pass>) {
        self.steps.push(Step::Pass(pass));
    }

    pub(crate) fn replay(&mut self, recording: &Recording, patches: &[Patch]) -> Result<()> {
        let (first, source) = (self.patches.len(), self.bytes.len());
        for patch in patches {
            match recording.patched(patch) {
                Ok(target) => self.patches.push(Patched { target, source: self.bytes.len() }),
                Err(error) => {
                    self.patches.truncate(first);
                    self.bytes.truncate(source);
                    return Err(error);
                }
            }
            self.bytes.extend_from_slice(patch.bytes);
        }
        self.steps.push(Step::Replay { recording: recording.clone(), patches: first..self.patches.len() });
        Ok(())
    }

    pub(crate) fn copy(&mut self, copy: Copy) {
        self.steps.push(Step::Copy(copy));
    }

    /// The bytes that a replay replaces, and what by.
    pub(crate) fn patches(&self, patches: &Range<usize>) -> impl Iterator<Item = (Range<usize>, &[u8])> + Clone {
        self.patches[patches.clone()].iter().map(|patch| {
            let len = patch.target.end - patch.target.start;
            (patch.target.clone(), &self.bytes[patch.source..patch.source + len])
        })
    }

    /// Whether it can be executed now.
    pub(crate) fn check(&self, call: &str) -> Result<()> {
        self.steps.iter().try_for_each(|step| match step {
            Step::Pass(pass) => validate::stale(call, pass),
            Step::Replay { recording, .. } => recording.check(call),
            Step::Copy(copy) => validate::copy_released(call, copy),
        })
    }

    /// Forgets everything but the memory that it has; the passes are cleared, too.
    pub(crate) fn clear(&mut self) -> impl Iterator<Item = Box<Pass>> + use<> {
        self.patches.clear();
        self.bytes.clear();
        let mut passes = Vec::new();
        for step in self.steps.drain(..) {
            if let Step::Pass(mut pass) = step {
                pass.clear();
                passes.push(pass);
            }
        }
        passes.into_iter()
    }
}
