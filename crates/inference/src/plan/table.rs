//! Tables of dispatches: recorded once, and replayed with a few numbers changed.
//!
//! ```text
//! Tracer: operations of a part of the plan ── declare: the pipelines that it needs
//!                                          └─ Table::record ── Table ── replay(Values)
//! ```

use crate::error::{Error, Result};
use crate::metal::dispatch::{Changing, Encoding};
use crate::metal::{MetalDevice, PipelineSet};
use compute::{BytesLocation, CommandBuffer, Patch, Recording};

/// A number that changes from one replay to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quantity {
    /// The position of the first token that is computed.
    First,
    /// Positions up to the last token that is computed.
    Length,
    /// Which of the tokens that were computed is the last of the sequence.
    Row,
    /// Tokens in the sequence.
    End,
}

/// The values of the quantities.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Values {
    pub(super) first: usize,
    pub(super) length: usize,
    pub(super) row: usize,
    pub(super) end: usize,
}

/// Encodes operations, and remembers where they have what changes.
pub(super) struct Tracer<'a> {
    pub(super) encoding: Encoding<'a>,
    spots: Vec<(usize, Changing, Quantity)>,
}

impl Tracer<'_> {
    /// In the next dispatch, a number changes.
    pub(super) fn changing(&mut self, number: Changing, quantity: Quantity) {
        self.spots.push((self.encoding.dispatch_count(), number, quantity));
    }
}

/// Adds the pipelines of a part of the plan, which is not encoded.
pub(super) fn declare(
    device: &MetalDevice,
    pipelines: &mut PipelineSet,
    encode: impl FnOnce(&mut Tracer<'_>) -> Result<()>,
) -> Result<()> {
    encode(&mut Tracer { encoding: Encoding::declaring(device, pipelines), spots: Vec::new() })
}

/// A part of the plan, ready to run.
pub(super) struct Table {
    recording: Recording,
    spots: Vec<Spot>,
}

struct Spot {
    location: BytesLocation,
    offset: usize,
    quantity: Quantity,
}

impl Table {
    pub(super) fn record(
        device: &MetalDevice,
        encode: impl FnOnce(&mut Tracer<'_>) -> Result<()>,
    ) -> Result<Table> {
        let mut recorder = device.device().new_command_recorder(device.tuning().dispatch);
        let mut tracer = Tracer { encoding: Encoding::new(device, &mut recorder), spots: Vec::new() };
        encode(&mut tracer)?;
        let spots = tracer.spots;
        let recording = recorder.finish()?;
        let spot = |(dispatch, changing, quantity): (usize, Changing, Quantity)| {
            let location = recording.bytes_location(dispatch, changing.index).ok_or_else(|| {
                let problem = format!("dispatch {dispatch} of a plan has no bytes at {}", changing.index);
                Error::Device(compute::Error::Internal(problem))
            })?;
            Ok(Spot { location, offset: changing.offset, quantity })
        };
        let spots = spots.into_iter().map(spot).collect::<Result<_>>()?;
        Ok(Table { recording, spots })
    }

    /// Adds the dispatches to a command buffer.
    pub(super) fn replay(&self, command_buffer: &CommandBuffer, values: &Values) -> Result<()> {
        let Values { first, length, row, end } = *values;
        let bytes = [first, length, row, end].map(|value| (value as u32).to_ne_bytes());
        let patches: Vec<Patch<'_>> = self
            .spots
            .iter()
            .map(|spot| Patch {
                location: spot.location,
                offset: spot.offset,
                bytes: &bytes[spot.quantity as usize],
            })
            .collect();
        Ok(command_buffer.replay(&self.recording, &patches)?)
    }

    pub(super) fn dispatch_count(&self) -> usize {
        self.recording.dispatch_count()
    }

    /// Dispatches that wait for those before them.
    pub(super) fn barrier_count(&self) -> usize {
        self.recording.barrier_count()
    }
}
