//! Tables of dispatches: recorded once, replayed with a few values patched.
//!
//! ```text
//! Tracer: operations of a part of the plan ── declare: add its pipelines to a set
//!                                          └─ Table::record ── Table ── replay(Values)
//! ```

use crate::cases::Case;
use crate::error::{Error, Result};
use crate::metal::dispatch::{Encoding, PatchedParameter};
use crate::metal::{MetalDevice, PipelineSet};
use crate::profile::DispatchWork;
use compute::{BytesLocation, CommandBuffer, Patch, Recording};

/// Value that changes between replays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quantity {
    /// Position of the first token of the chunk.
    First,
    /// Number of positions up to the end of the chunk.
    Length,
    /// Row of the last token in the chunk.
    Row,
    /// Number of tokens in the sequence.
    End,
    /// Number of tokens in the chunk, without padding.
    Count,
    /// The sequence.
    Sequence,
    /// Index of its first token in the history.
    Offset,
}

impl Quantity {
    /// Letter of the quantity in the sizes of operations, if their work depends on it.
    fn letter(self) -> Option<char> {
        match self {
            Quantity::First => Some('P'),
            Quantity::Length => Some('L'),
            Quantity::Row | Quantity::End | Quantity::Count | Quantity::Sequence | Quantity::Offset => None,
        }
    }
}

/// Values of the quantities.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Values {
    pub(super) first: usize,
    pub(super) length: usize,
    pub(super) row: usize,
    pub(super) end: usize,
    pub(super) count: usize,
    pub(super) sequence: usize,
    pub(super) offset: usize,
}

impl Values {
    /// The values, in the order of [`Quantity`].
    fn all(&self) -> [usize; 7] {
        [self.first, self.length, self.row, self.end, self.count, self.sequence, self.offset]
    }
}

/// Encodes operations, and collects the parameters that replays patch.
pub(super) struct Tracer<'a> {
    pub(super) encoding: Encoding<'a>,
    /// Rows are tokens of several sequences, one of each. Otherwise they follow one another in one sequence.
    pub(super) each: bool,
    spots: Vec<(usize, PatchedParameter, Quantity)>,
}

impl Tracer<'_> {
    /// Has every replay write `quantity` to a parameter of the next dispatch.
    pub(super) fn patch(&mut self, parameter: PatchedParameter, quantity: Quantity) {
        self.spots.push((self.encoding.dispatch_count(), parameter, quantity));
    }
}

/// Adds the pipelines of a part of the plan to a set, without encoding it.
pub(super) fn declare(
    device: &MetalDevice,
    pipelines: &mut PipelineSet,
    encode: impl FnOnce(&mut Tracer<'_>) -> Result<()>,
) -> Result<()> {
    encode(&mut Tracer { encoding: Encoding::declaring(device, pipelines), each: false, spots: Vec::new() })
}

/// Recorded part of the plan.
pub(super) struct Table {
    recording: Recording,
    spots: Vec<Spot>,
    works: Vec<RecordedWork>,
}

/// Work of a dispatch.
struct RecordedWork {
    case: Option<Case>,
    /// Size that replays change.
    patched: Option<(char, Quantity)>,
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
        let encoding = Encoding::new(device, &mut recorder).collecting_works();
        let mut tracer = Tracer { encoding, each: false, spots: Vec::new() };
        encode(&mut tracer)?;
        let cases = tracer.encoding.take_works();
        let spots = tracer.spots;
        let works = cases.into_iter().enumerate().map(|(number, case)| {
            let mut quantities = spots.iter().filter(|spot| spot.0 == number).map(|spot| spot.2);
            RecordedWork { case, patched: quantities.find_map(|quantity| Some((quantity.letter()?, quantity))) }
        });
        let works = works.collect();
        let recording = recorder.finish()?;
        let spot = |(dispatch, parameter, quantity): (usize, PatchedParameter, Quantity)| {
            let location = recording.bytes_location(dispatch, parameter.index).ok_or_else(|| {
                let problem = format!("dispatch {dispatch} of a plan has no bytes at {}", parameter.index);
                Error::Device(compute::Error::Internal(problem))
            })?;
            Ok(Spot { location, offset: parameter.offset, quantity })
        };
        let spots = spots.into_iter().map(spot).collect::<Result<_>>()?;
        Ok(Table { recording, spots, works })
    }

    /// Replays the dispatches into a command buffer with these values.
    pub(super) fn replay(&self, command_buffer: &CommandBuffer, values: &Values) -> Result<()> {
        let bytes = values.all().map(|value| (value as u32).to_ne_bytes());
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

    /// Work of each dispatch in a replay with these values.
    pub(super) fn works(&self, values: &Values) -> Vec<Option<DispatchWork>> {
        let work = |work: &RecordedWork| {
            let (mut case, mut sizes) = (work.case.clone()?, work.case.as_ref()?.shape.clone());
            if let Some((letter, quantity)) = work.patched {
                case.shape.replace(letter, values.all()[quantity as usize]);
                sizes.remove(letter);
            }
            Some(DispatchWork { sizes: sizes.to_string().into(), bytes: case.bytes(), flops: case.flops() })
        };
        self.works.iter().map(work).collect()
    }

    pub(super) fn dispatch_count(&self) -> usize {
        self.recording.dispatch_count()
    }

    /// Number of dispatches that wait for earlier ones.
    pub(super) fn barrier_count(&self) -> usize {
        self.recording.barrier_count()
    }
}
