//! The last accesses to a part of memory, and their order.

use super::periods::{Period, PeriodNumber, Periods};
use super::{Accesses, DEVICE, Other, Problem, THREADGROUP};
use abi::LANES;
use std::cell::Cell;

/// Bytes of the largest line, as a power of two: 32 lanes that access floats fill one.
pub(super) const MOST_LINE_BITS: u32 = 7;

/// An access to one element, or by consecutive lanes to consecutive elements.
#[derive(Clone, Copy, Default)]
pub(super) struct Moment {
    /// 0 for none.
    pub(super) period: PeriodNumber,
    /// Accesses of the simdgroup before it: of two accesses, it tells the later one in the program.
    sequence: u32,
    site: u32,
    /// The lane that accesses the first byte.
    lane: u8,
    /// Bytes of each lane, as a power of two.
    span: u8,
    is_atomic: bool,
    /// The values that it writes are known.
    has_values: bool,
}

impl Moment {
    pub(super) fn new(accesses: &Accesses, lane: u32, span: u32) -> Moment {
        let Accesses { period, sequence, site, is_atomic, values, .. } = *accesses;
        Moment {
            period,
            sequence,
            site,
            lane: lane as u8,
            span: span as u8,
            is_atomic,
            has_values: values.is_some(),
        }
    }

    /// The lane that accesses a byte.
    fn lane_at(&self, byte: usize) -> u32 {
        u32::from(self.lane) + (byte >> self.span) as u32
    }

    /// The access to one granule, which begins at a byte.
    pub(super) fn at(&self, byte: usize) -> Moment {
        Moment { span: MOST_LINE_BITS as u8, ..self.from(byte) }
    }

    /// The access from a byte on, a power of two.
    fn from(&self, byte: usize) -> Moment {
        Moment { lane: self.lane_at(byte) as u8, ..*self }
    }
}

/// The last write of a location, and two reads.
#[derive(Clone, Copy, Default)]
pub(super) struct Accessed {
    pub(super) write: Moment,
    reads: [Moment; 2],
}

/// The order of two accesses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Ordered,
    /// Those of one lane are, those of two are not.
    ByLane,
    Unordered,
}

/// Compares accesses of one instruction with earlier ones.
pub(super) struct Judge<'a> {
    accesses: &'a Accesses<'a>,
    periods: &'a Periods,
    own: Period,
    /// Accesses of this and earlier periods do not count.
    stale: PeriodNumber,
    /// The last answer: most lines were accessed by the same instruction.
    last: Cell<(PeriodNumber, bool, bool, Order)>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(accesses: &'a Accesses<'a>, periods: &'a Periods) -> Option<Judge<'a>> {
        // Threadgroup memory is another one in each threadgroup.
        let stale = if accesses.is_threadgroup { periods.before_group } else { periods.earlier };
        let own = *periods.get(accesses.period)?;
        Some(Judge { accesses, periods, own, stale, last: Cell::new((0, false, false, Order::Ordered)) })
    }

    /// True if nothing before these accesses matters after them.
    pub(super) fn replaces_all(&self) -> bool {
        !self.accesses.is_read && !self.accesses.is_atomic
    }

    fn is_stale(&self, moment: &Moment) -> bool {
        moment.period <= self.stale
    }

    fn order(&self, other: &Moment, other_reads: bool) -> Order {
        if self.is_stale(other) {
            return Order::Ordered;
        }
        let (period, reads, is_atomic, order) = self.last.get();
        if (period, reads, is_atomic) == (other.period, other_reads, other.is_atomic) {
            return order;
        }
        let order = self.find_order(other, other_reads);
        self.last.set((other.period, other_reads, other.is_atomic, order));
        order
    }

    fn find_order(&self, other: &Moment, other_reads: bool) -> Order {
        if self.accesses.is_atomic && other.is_atomic {
            return Order::Ordered;
        }
        let Some(period) = self.periods.get(other.period) else { return Order::Ordered };
        if period.group != self.own.group {
            return if self.accesses.has_fence { Order::Ordered } else { Order::Unordered };
        }
        let memory = if self.accesses.is_threadgroup { THREADGROUP } else { DEVICE };
        // After a read, a barrier that does not order memory is enough: the value has been read.
        let epochs = |Period { epochs, .. }: &Period| match other_reads {
            true => (epochs.threadgroup_all, epochs.simdgroup_all),
            false => (epochs.threadgroup[memory], epochs.simdgroup[memory]),
        };
        let (own, others) = (epochs(&self.own), epochs(period));
        match () {
            () if own.0 != others.0 => Order::Ordered,
            () if period.simdgroup != self.own.simdgroup => Order::Unordered,
            () if own.1 != others.1 => Order::Ordered,
            () => Order::ByLane,
        }
    }

    /// A number that tells the value which a lane writes from others.
    fn value(&self, lane: u32) -> u32 {
        self.accesses.values.map_or(0, |values| {
            let value = values[lane as usize % LANES];
            (value ^ value >> 32) as u32
        })
    }

    fn other(&self, other: &Moment, lane: u32, is_read: bool) -> Option<Other> {
        let period = self.periods.get(other.period)?;
        let group = (period.group != self.own.group).then(|| self.periods.group(period.group).cloned());
        Some(Other {
            thread: period.simdgroup * LANES as u32 + lane,
            site: other.site,
            sequence: other.sequence,
            is_read,
            group: group.flatten(),
        })
    }
}

impl Accessed {
    pub(super) fn written(write: Moment) -> Accessed {
        Accessed { write, reads: Default::default() }
    }

    /// Notes an access to all of it: one element of `values` stands for `granule` bytes, a power of two.
    pub(super) fn note(
        &mut self,
        own: Moment,
        granule: u32,
        values: &mut [u32],
        judge: &Judge,
        problems: &mut Vec<(u32, Problem)>,
    ) {
        let before = problems.len();
        let Accesses { is_read, is_update, is_threadgroup, .. } = *judge.accesses;
        if is_threadgroup && (is_read || is_update) && judge.is_stale(&self.write) {
            each_lane(&own, granule, values.len(), |lane, _| problems.push((lane, Problem::NeverWritten)));
        }
        Self::compare(own, &self.write, false, granule, values, judge, problems);
        if is_read {
            self.remember_read(own, judge);
            return;
        }
        for read in self.reads {
            if problems.len() == before {
                Self::compare(own, &read, true, granule, values, judge, problems);
            }
        }
        self.write = own;
        // Later writes that are ordered after this one are ordered after the reads before it. An atomic function does not
        // see those as its equals.
        if judge.replaces_all() {
            self.reads = Default::default();
        }
        if own.has_values {
            for (index, value) in values.iter_mut().enumerate() {
                *value = judge.value(own.lane_at(index << granule));
            }
        }
    }

    fn compare(
        own: Moment,
        other: &Moment,
        other_reads: bool,
        granule: u32,
        values: &[u32],
        judge: &Judge,
        problems: &mut Vec<(u32, Problem)>,
    ) {
        if judge.accesses.is_read && other_reads {
            return;
        }
        let order = judge.order(other, other_reads);
        let are_same_lanes = (own.lane, own.span) == (other.lane, other.span);
        if order == Order::Ordered || (order == Order::ByLane && are_same_lanes) {
            return;
        }
        let both_write = !judge.accesses.is_read && !other_reads && own.has_values && other.has_values;
        each_lane(&own, granule, values.len(), |lane, byte| {
            let other_lane = other.lane_at(byte);
            // Writes of the same value are no race: their order does not matter.
            let is_same_value = both_write && values[byte >> granule] == judge.value(lane);
            if (order == Order::ByLane && lane == other_lane) || is_same_value {
                return;
            }
            if let Some(other) = judge.other(other, other_lane, other_reads) {
                problems.push((lane, Problem::Unordered(other)));
            }
        });
    }

    /// Keeps two reads, of different threads if there are such.
    fn remember_read(&mut self, own: Moment, judge: &Judge) {
        let first = &self.reads[0];
        let are_same_lanes = (own.lane, own.span) == (first.lane, first.span);
        let is_second = match judge.periods.get(first.period).filter(|_| !judge.is_stale(first)) {
            None => false,
            Some(_) if first.period == own.period => !are_same_lanes,
            Some(other) => {
                let is_same_group = other.group == judge.own.group;
                let is_same = is_same_group && other.simdgroup == judge.own.simdgroup && are_same_lanes;
                let is_near = !is_same_group || other.epochs.threadgroup_all == judge.own.epochs.threadgroup_all;
                !is_same && is_near
            }
        };
        self.reads[usize::from(is_second)] = own;
    }

    /// The granule that begins at a byte.
    pub(super) fn at(&self, byte: usize) -> Accessed {
        Accessed { write: self.write.at(byte), reads: self.reads.map(|read| read.at(byte)) }
    }

    /// The part from a byte on, a power of two.
    pub(super) fn from(&self, byte: usize) -> Accessed {
        Accessed { write: self.write.from(byte), reads: self.reads.map(|read| read.from(byte)) }
    }
}

/// Calls a function with each granule's lane and first byte.
fn each_lane(own: &Moment, granule: u32, granules: usize, mut each: impl FnMut(u32, usize)) {
    for index in 0..granules {
        let byte = index << granule;
        each(own.lane_at(byte), byte);
    }
}
