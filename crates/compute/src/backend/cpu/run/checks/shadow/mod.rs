//! The shadow of memory: the last write and two reads of each location.
//!
//! Two accesses race if at least one writes, not both are atomic, and nothing orders them: no barrier of the threadgroup
//! between threads of one, none of either kind between lanes of one simdgroup, with the flag of their memory. Nothing orders
//! the threadgroups of a dispatch. Writes of the same value are no race: the order does not matter.
//!
//! ```text
//! Shadow ── a page for 4096 bytes ── lines of 32 to 128 bytes ── one record for all of it, or one for each granule
//!   periods   the time between two barriers, to which accesses refer
//!   accessed  a record: the last accesses, and their order
//! ```
//!
//! Lanes that access consecutive elements make one record for each line that they fill.

mod accessed;
mod periods;
#[cfg(test)]
mod tests;

use super::barriers::Epochs;
use abi::{LANES, Site, Threadgroup};
use accessed::{Accessed, Judge, MOST_LINE_BITS, Moment};
use periods::Periods;
pub(super) use periods::{GroupInfo, PeriodNumber};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::Arc;

/// Indices of what is kept for both kinds of memory.
pub(super) const DEVICE: usize = 0;
pub(super) const THREADGROUP: usize = 1;

/// The accesses of a simdgroup by one instruction.
#[derive(Clone, Copy)]
pub(super) struct Accesses<'a> {
    pub(super) is_threadgroup: bool,
    pub(super) is_read: bool,
    pub(super) is_atomic: bool,
    /// It writes a value that depends on the one before.
    pub(super) is_update: bool,
    /// Threadgroups may order their accesses themselves.
    pub(super) has_fence: bool,
    /// Bytes of each lane.
    pub(super) bytes: u64,
    pub(super) period: PeriodNumber,
    pub(super) sequence: u32,
    pub(super) site: u32,
    /// A hash of each lane's value, if they are known.
    pub(super) values: Option<&'a [u64; LANES]>,
}

/// A mistake in the order of accesses.
pub(super) enum Problem {
    /// Nothing was written there before.
    NeverWritten,
    /// Another access that nothing orders.
    Unordered(Other),
}

/// The other access of a race.
pub(super) struct Other {
    /// Its number in the threadgroup.
    pub(super) thread: u32,
    pub(super) site: u32,
    pub(super) sequence: u32,
    pub(super) is_read: bool,
    /// The threadgroup of the other access; none if it is the same.
    pub(super) group: Option<GroupInfo>,
}

const PAGE: u64 = 4096;

/// Bytes of the smallest line, as a power of two: 32 lanes that access bytes fill one.
const LEAST_LINE_BITS: u32 = 5;

/// Pages beyond this number are not followed: a shadow takes several times the memory that it is for.
const MOST_PAGES: usize = 1 << 16;

/// The shadow of some bytes.
#[derive(Clone, Default)]
struct ShadowLine {
    whole: Accessed,
    /// If parts of it were accessed: the accesses to each granule.
    parts: Option<Box<[Accessed]>>,
}

/// The shadow of 4096 bytes.
struct Page {
    /// Bytes of a granule, as a power of two: the smallest access so far.
    granule: u32,
    /// Bytes of a line, as a power of two.
    line: u32,
    lines: Box<[ShadowLine]>,
    /// A hash of the value last written to each granule.
    values: Vec<u32>,
}

/// The shadow of one kind of memory.
#[derive(Default)]
struct Space {
    numbers: FxHashMap<u64, usize>,
    pages: Vec<Page>,
    /// The page that was used last, and its number.
    last: Option<(u64, usize)>,
}

#[derive(Default)]
pub(crate) struct Shadow {
    stage: u64,
    periods: Periods,
    spaces: [Space; 2],
}

impl Shadow {
    /// Begins a stage, unless it has begun. Dispatches of one may overlap.
    pub(super) fn begin(&mut self, stage: u64) {
        if self.stage == stage {
            return;
        }
        self.stage = stage;
        self.periods.begin_stage();
        // Other stages may have other buffers.
        if self.spaces[DEVICE].pages.len() >= MOST_PAGES / 2 || self.periods.are_many() {
            (self.periods, self.spaces) = Default::default();
        }
    }

    /// Begins a threadgroup.
    pub(super) fn group(
        &mut self,
        dispatch: usize,
        kernel: &Arc<str>,
        sites: &Arc<[Site]>,
        threadgroup: &Threadgroup,
    ) {
        self.periods.begin_group(dispatch, kernel, sites, threadgroup);
    }

    /// Begins a period of a simdgroup.
    pub(super) fn period(&mut self, simdgroup: u32, epochs: Epochs) -> PeriodNumber {
        self.periods.begin(simdgroup, epochs)
    }

    /// True if the threadgroup wrote a location of its memory in the same epoch as the access of a period, before or after
    /// it.
    pub(super) fn is_written_near(&self, offset: u64, period: PeriodNumber) -> bool {
        let space = &self.spaces[THREADGROUP];
        let Some(page) = space.numbers.get(&(offset / PAGE)).map(|&number| &space.pages[number]) else {
            return false;
        };
        let line = &page.lines[((offset % PAGE) >> page.line) as usize];
        let accessed = match &line.parts {
            None => &line.whole,
            Some(parts) => &parts[((offset % (1 << page.line)) >> page.granule) as usize],
        };
        let epoch = |number: PeriodNumber| {
            let period = self.periods.get(number).filter(|_| number > self.periods.before_group);
            period.map(|period| period.epochs.threadgroup_all)
        };
        epoch(accessed.write.period).is_some_and(|written| Some(written) == epoch(period))
    }

    /// Notes accesses of consecutive lanes to consecutive elements, and adds mistakes with their lanes.
    pub(super) fn note(
        &mut self,
        accesses: &Accesses,
        address: u64,
        lanes: Range<u32>,
        problems: &mut Vec<(u32, Problem)>,
    ) {
        let bytes = accesses.bytes.max(1);
        let end = address + bytes * u64::from(lanes.end - lanes.start);
        let is_regular = bytes.is_power_of_two() && address.is_multiple_of(bytes.min(1 << MOST_LINE_BITS));
        let span = bytes.trailing_zeros().min(MOST_LINE_BITS);
        let Some(judge) = Judge::new(accesses, &self.periods) else { return };
        let space = &mut self.spaces[if accesses.is_threadgroup { THREADGROUP } else { DEVICE }];
        let mut at = address;
        while at < end {
            let page_end = end.min((at / PAGE + 1) * PAGE);
            let Some(page) = space.page(at / PAGE) else { return };
            page.refine(address | bytes);
            if is_regular {
                page.fit_lines(at, page_end);
            }
            let line = 1 << page.line;
            while at < page_end {
                let line_end = page_end.min((at / line + 1) * line);
                let lane = lanes.start + ((at - address) / bytes) as u32;
                if is_regular && line_end - at == line {
                    page.note_line(at % PAGE, Moment::new(accesses, lane, span), &judge, problems);
                    at = line_end;
                    continue;
                }
                let lane_end = line_end.min(address + u64::from(lane - lanes.start + 1) * bytes);
                let part = at % PAGE..at % PAGE + (lane_end - at);
                page.note_part(part, Moment::new(accesses, lane, MOST_LINE_BITS), &judge, problems);
                at = lane_end;
            }
        }
        // One mistake of a lane is enough.
        problems.dedup_by_key(|(lane, _)| *lane);
    }
}

impl Space {
    /// The page with this number; none if there are too many.
    fn page(&mut self, key: u64) -> Option<&mut Page> {
        let number = match self.last {
            Some((last, number)) if last == key => number,
            _ => {
                let number = match self.numbers.entry(key) {
                    Entry::Occupied(entry) => *entry.get(),
                    Entry::Vacant(_) if self.pages.len() >= MOST_PAGES => return None,
                    Entry::Vacant(entry) => {
                        self.pages.push(Page::new());
                        *entry.insert(self.pages.len() - 1)
                    }
                };
                self.last = Some((key, number));
                number
            }
        };
        self.pages.get_mut(number)
    }
}

impl Page {
    fn new() -> Page {
        const GRANULE: u32 = 2;
        let line = MOST_LINE_BITS;
        let lines = vec![ShadowLine::default(); PAGE as usize >> line].into_boxed_slice();
        Page { granule: GRANULE, line, lines, values: vec![0; PAGE as usize >> GRANULE] }
    }

    /// Makes lines so small that accesses to consecutive bytes fill some, if they have enough.
    fn fit_lines(&mut self, start: u64, end: u64) {
        let is_filled = |bits: u32| (start | end).trailing_zeros() >= bits || end - start < 1 << LEAST_LINE_BITS;
        while self.line > LEAST_LINE_BITS && !is_filled(self.line) {
            self.line -= 1;
            let half = 1 << self.line;
            let halves = |line: &ShadowLine| {
                let parts = |which: usize| {
                    let parts = line.parts.as_ref()?;
                    parts.chunks(parts.len() / 2).nth(which).map(Into::into)
                };
                [0, 1].map(|which| ShadowLine { whole: line.whole.from(which * half), parts: parts(which) })
            };
            self.lines = self.lines.iter().flat_map(halves).collect();
        }
    }

    /// Makes granules small enough for addresses and sizes with these bits.
    fn refine(&mut self, bits: u64) {
        fn twice<T: Copy>(granules: &[T]) -> Vec<T> {
            granules.iter().flat_map(|granule| [*granule; 2]).collect()
        }
        while bits.trailing_zeros() < self.granule {
            self.granule -= 1;
            self.values = twice(&self.values);
            for parts in self.lines.iter_mut().filter_map(|line| line.parts.as_mut()) {
                *parts = twice(parts).into();
            }
        }
    }

    /// Notes an access to a whole line.
    fn note_line(&mut self, start: u64, moment: Moment, judge: &Judge, problems: &mut Vec<(u32, Problem)>) {
        let granule = self.granule;
        let line = &mut self.lines[(start >> self.line) as usize];
        let first = start as usize >> granule;
        let values = &mut self.values[first..first + (1 << (self.line - granule))];
        match &mut line.parts {
            None => line.whole.note(moment, granule, values, judge, problems),
            Some(parts) => {
                for (index, (part, value)) in parts.iter_mut().zip(values).enumerate() {
                    let own = moment.at(index << granule);
                    part.note(own, granule, std::slice::from_mut(value), judge, problems);
                }
                if judge.replaces_all() {
                    *line = ShadowLine { whole: Accessed::written(moment), parts: None };
                }
            }
        }
    }

    /// Notes an access to a part of a line by one lane.
    fn note_part(&mut self, part: Range<u64>, moment: Moment, judge: &Judge, problems: &mut Vec<(u32, Problem)>) {
        let granule = self.granule;
        let (bits, bytes) = (self.line, 1 << self.line);
        let line = &mut self.lines[(part.start >> bits) as usize];
        let whole = line.whole;
        let parts = line
            .parts
            .get_or_insert_with(|| (0..1 << (bits - granule)).map(|index| whole.at(index << granule)).collect());
        let start = (part.start % bytes) as usize >> granule;
        let values = &mut self.values[part.start as usize >> granule..part.end as usize >> granule];
        for (part, value) in parts[start..].iter_mut().zip(values) {
            part.note(moment, granule, std::slice::from_mut(value), judge, problems);
        }
    }
}
