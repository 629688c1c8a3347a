//! Memory of recurrent layers: their states and activations, and snapshots of all states.
//!
//! A KV cache can be cut at any position, but a recurrent state is that after the last token: it cannot be cut back. So
//! a plan copies all states from time to time. To shorten the sequence, it restores the last snapshot before the new
//! end, and evaluates the tokens after that one again.
//!
//! ```text
//! prompt ── chunk ── chunk ──┬── last chunk ──┬── 64 tokens ──┬── …
//!                      Snapshot::Prompt  Snapshot::Turn   Snapshot::Decode
//! ```
//!
//! `Prompt` is for another answer to the same prompt, or one whose end is rendered differently; `Turn` and `Decode` are
//! for answers that are cut, and conversations that continue after them.
//!
//! **Invariant:** a snapshot with a position is the state after exactly the tokens before that position.

use crate::arch::{DeltaNetLayer, Hyperparameters, Mixer};
use crate::error::{Error, Result};
use crate::metal::library::BufferSlice;
use crate::metal::operations::{CausalConv, DeltaNet};
use compute::{Buffer, CommandBuffer};

/// Decoded tokens from one snapshot to the next.
const DECODE_INTERVAL: usize = 64;

/// Alignment of states in their buffer.
const ALIGNMENT: usize = 256;

/// Snapshots that a plan keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Snapshot {
    /// Before the last chunk of a prompt.
    Prompt,
    /// After a prompt.
    Turn,
    /// While decoding.
    Decode,
}

const SNAPSHOTS: usize = 3;

/// Activations and states of recurrent layers.
pub(super) struct Recurrent {
    /// Queries, keys and values, before and after the convolution: `[chunk, channels]`.
    pub(super) mixed: Buffer,
    pub(super) convolved: Buffer,
    /// Gates: `[chunk, width]`.
    pub(super) z: Buffer,
    /// Outputs: `[chunk, width]`.
    pub(super) output: Buffer,
    /// Decays and rates: `[chunk, heads]`.
    pub(super) alpha: Buffer,
    pub(super) beta: Buffer,
    /// Width of the outputs.
    pub(super) width: usize,
    /// States of all layers, for one sequence after the other.
    states: Buffer,
    /// Bytes from the states of a sequence to those of the next.
    pub(super) stride: usize,
    layers: Vec<Option<StateRanges>>,
    snapshots: [Buffer; SNAPSHOTS],
}

/// Offsets and sizes of the states of a layer.
#[derive(Clone, Copy)]
struct StateRanges {
    conv: (usize, usize),
    delta: (usize, usize),
}

impl Recurrent {
    /// Allocates the memory, if the model has recurrent layers. `activations` makes a buffer with rows of a width for a
    /// chunk, `private` one of some bytes.
    pub(super) fn new(
        model: &Hyperparameters,
        sequences: usize,
        activations: impl Fn(&str, usize) -> Result<Buffer>,
        private: impl Fn(&str, usize) -> Result<Buffer>,
    ) -> Result<Option<Recurrent>> {
        let shape = |mixer: &Mixer| match mixer {
            Mixer::DeltaNet(shape) => Some(*shape),
            Mixer::Attention(_) => None,
        };
        let shapes: Vec<Option<DeltaNetLayer>> = model.layers.iter().map(|layer| shape(&layer.mixer)).collect();
        let widest = |width: fn(&DeltaNetLayer) -> usize| shapes.iter().flatten().map(width).max();
        let widths = (widest(DeltaNetLayer::channels), widest(DeltaNetLayer::width), widest(|shape| shape.heads));
        let (Some(channels), Some(width), Some(heads)) = widths else { return Ok(None) };
        let mut end = 0usize;
        let mut place = |bytes: usize| {
            let offset = end;
            end = offset.saturating_add(bytes).next_multiple_of(ALIGNMENT);
            (offset, bytes)
        };
        let ranges = shapes.iter().map(|shape| {
            shape.map(|shape| StateRanges {
                conv: place(CausalConv::state_bytes(shape.channels())),
                delta: place(DeltaNet::state_bytes(shape.heads, shape.head_dim)),
            })
        });
        let layers = ranges.collect();
        let (stride, bytes) = (end, end.saturating_mul(sequences));
        Ok(Some(Recurrent {
            mixed: activations("mixed", channels)?,
            convolved: activations("convolved", channels)?,
            z: activations("z", width)?,
            output: activations("recurrent_output", width)?,
            alpha: activations("alpha", heads)?,
            beta: activations("beta", heads)?,
            width,
            states: private("states", bytes)?,
            stride,
            layers,
            snapshots: [
                private("snapshot_prompt", bytes)?,
                private("snapshot_turn", bytes)?,
                private("snapshot_decode", bytes)?,
            ],
        }))
    }

    /// States of a layer, from those of the first sequence on: of the convolution, and of the delta rule.
    pub(super) fn layer(&self, index: usize) -> Result<[BufferSlice<'_>; 2]> {
        let Some(StateRanges { conv, delta }) = self.layers.get(index).copied().flatten() else {
            return Err(Error::Device(compute::Error::Internal(format!("layer {index} has no recurrent state"))));
        };
        let others = self.states.len() - self.stride;
        Ok([conv, delta].map(|(offset, bytes)| BufferSlice::new(&self.states, offset, others + bytes)))
    }

    /// Bytes of the states, without snapshots.
    pub(super) fn state_bytes(&self) -> usize {
        self.states.len()
    }

    /// Private buffers.
    #[cfg(test)]
    pub(super) fn buffers(&self) -> impl Iterator<Item = &Buffer> {
        let Recurrent { mixed, convolved, z, output, alpha, beta, states, snapshots, .. } = self;
        [mixed, convolved, z, output, alpha, beta, states].into_iter().chain(snapshots)
    }

    fn save(&self, command_buffer: &CommandBuffer, sequence: usize, snapshot: Snapshot) -> Result<()> {
        let (offset, to) = (sequence * self.stride, &self.snapshots[snapshot as usize]);
        Ok(command_buffer.copy_buffer(&self.states, offset..offset + self.stride, to, offset)?)
    }

    fn restore(&self, command_buffer: &CommandBuffer, sequence: usize, snapshot: Snapshot) -> Result<()> {
        let (offset, from) = (sequence * self.stride, &self.snapshots[snapshot as usize]);
        Ok(command_buffer.copy_buffer(from, offset..offset + self.stride, &self.states, offset)?)
    }
}

/// A chunk of a sequence.
#[derive(Clone, Copy)]
pub(super) struct SequenceChunk {
    pub(super) sequence: usize,
    /// Position of its first token.
    pub(super) first: usize,
    /// Number of tokens, without padding.
    pub(super) count: usize,
    /// It is part of a prompt: of several tokens.
    pub(super) is_prompt: bool,
    /// No tokens are pending after it.
    pub(super) is_last: bool,
}

/// Positions of the snapshots of a sequence.
#[derive(Default, Debug)]
pub(super) struct SnapshotPositions {
    saved: [Option<usize>; SNAPSHOTS],
    /// Snapshot to restore before the next chunk.
    restored: Option<Snapshot>,
}

impl SnapshotPositions {
    /// Forgets all snapshots.
    pub(super) fn clear(&mut self) {
        *self = SnapshotPositions::default();
    }

    /// Forgets the snapshots after a position, from which on tokens may change.
    pub(super) fn truncate(&mut self, len: usize) {
        for saved in &mut self.saved {
            *saved = saved.filter(|&position| position <= len);
        }
        self.restored = self.restored.filter(|&snapshot| self.saved[snapshot as usize].is_some());
    }

    /// The last snapshot up to a position.
    pub(super) fn last_up_to(&self, position: usize) -> Option<(usize, Snapshot)> {
        let all = [Snapshot::Prompt, Snapshot::Turn, Snapshot::Decode];
        let saved = all.into_iter().filter_map(|snapshot| Some((self.saved[snapshot as usize]?, snapshot)));
        saved.filter(|&(saved, _)| saved <= position).max_by_key(|&(saved, _)| saved)
    }

    /// Goes back to the last snapshot up to a position, or to the beginning. Returns its position.
    pub(super) fn rewind(&mut self, position: usize) -> usize {
        let last = self.last_up_to(position);
        self.restored = last.map(|(_, snapshot)| snapshot);
        last.map_or(0, |(position, _)| position)
    }

    /// Encodes the copies before a chunk.
    pub(super) fn before_chunk(
        &mut self,
        command_buffer: &CommandBuffer,
        state: &Recurrent,
        chunk: SequenceChunk,
    ) -> Result<()> {
        let SequenceChunk { sequence, first, is_prompt, is_last, .. } = chunk;
        if let Some(snapshot) = self.restored.take() {
            state.restore(command_buffer, sequence, snapshot)?;
        }
        let latest = self.saved.iter().flatten().max().copied().unwrap_or(0);
        let snapshot = match is_prompt {
            true if is_last && first > 0 => Snapshot::Prompt,
            false if first >= latest + DECODE_INTERVAL => Snapshot::Decode,
            _ => return Ok(()),
        };
        state.save(command_buffer, sequence, snapshot)?;
        self.saved[snapshot as usize] = Some(first);
        Ok(())
    }

    /// Encodes the copy after a chunk.
    pub(super) fn after_chunk(
        &mut self,
        command_buffer: &CommandBuffer,
        state: &Recurrent,
        chunk: SequenceChunk,
    ) -> Result<()> {
        if chunk.is_prompt && chunk.is_last {
            state.save(command_buffer, chunk.sequence, Snapshot::Turn)?;
            self.saved[Snapshot::Turn as usize] = Some(chunk.first + chunk.count);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_back_to_the_last_snapshot_before_a_cut() {
        let mut positions = SnapshotPositions { saved: [Some(512), Some(600), Some(664)], restored: None };
        assert_eq!((positions.rewind(700), positions.restored), (664, Some(Snapshot::Decode)));
        positions.truncate(650);
        assert_eq!(positions.restored, None, "its tokens are gone");
        assert_eq!((positions.rewind(650), positions.restored), (600, Some(Snapshot::Turn)));
        assert_eq!((positions.rewind(599), positions.restored), (512, Some(Snapshot::Prompt)));
        assert_eq!((positions.rewind(511), positions.restored), (0, None), "the beginning needs no snapshot");
        positions.clear();
        assert_eq!((positions.rewind(700), positions.restored), (0, None));
    }
}
