//! The addresses of 32 lanes.

use abi::LANES;
use std::ops::Range;

/// As generated code passes them.
#[derive(Clone, Copy)]
pub(super) enum Addresses<'a> {
    Ramp { base: u64, stride: i64 },
    Lanes(&'a [u64; LANES]),
}

/// The addresses of some lanes together.
pub(super) struct Extent {
    /// The lowest.
    pub(super) first: u64,
    /// The highest.
    pub(super) last: u64,
    /// The bits that some address has.
    pub(super) bits: u64,
}

impl Addresses<'_> {
    pub(super) fn at(&self, lane: u32) -> u64 {
        match self {
            Addresses::Ramp { base, stride } => base.wrapping_add_signed(stride.wrapping_mul(lane.into())),
            Addresses::Lanes(lanes) => lanes[lane as usize % LANES],
        }
    }

    /// Of the lanes of a mask that is not empty.
    pub(super) fn extent(&self, mask: u32) -> Extent {
        match self {
            Addresses::Ramp { stride, .. } => {
                let (one, other) = (self.at(mask.trailing_zeros()), self.at(mask.ilog2()));
                Extent { first: one.min(other), last: one.max(other), bits: one | stride.unsigned_abs() }
            }
            Addresses::Lanes(_) => {
                let mut extent = Extent { first: u64::MAX, last: 0, bits: 0 };
                for address in lanes(mask).map(|lane| self.at(lane)) {
                    let Extent { first, last, bits } = extent;
                    extent = Extent { first: first.min(address), last: last.max(address), bits: bits | address };
                }
                extent
            }
        }
    }

    /// Calls a function with each run of consecutive lanes whose elements of these bytes are consecutive. Of reads of one
    /// address, the first and the last one stand for all.
    pub(super) fn runs(&self, mask: u32, bytes: u64, is_read: bool, mut each: impl FnMut(u64, Range<u32>)) {
        match *self {
            Addresses::Ramp { base, stride } if stride == bytes as i64 && mask == u32::MAX => {
                return each(base, 0..LANES as u32);
            }
            Addresses::Ramp { stride: 0, .. } if is_read && mask.count_ones() > 1 => {
                let [first, last] = [mask.trailing_zeros(), mask.ilog2()];
                each(self.at(first), first..first + 1);
                return each(self.at(last), last..last + 1);
            }
            _ => {}
        }
        let mut left = mask;
        let mut previous = None;
        while left != 0 {
            let first = left.trailing_zeros();
            let start = self.at(first);
            let mut end = first + 1;
            while end < LANES as u32
                && left >> end & 1 != 0
                && self.at(end) == start.wrapping_add(bytes * u64::from(end - first))
            {
                end += 1;
            }
            left &= u32::MAX.checked_shl(end).unwrap_or(0);
            if !(is_read && end == first + 1 && previous == Some(start) && left != 0) {
                each(start, first..end);
            }
            previous = Some(start);
        }
    }
}

/// The numbers of the lanes in a mask.
pub(super) fn lanes(mask: u32) -> impl Iterator<Item = u32> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros();
        left &= left.wrapping_sub(1);
        (lane < u32::BITS).then_some(lane)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(addresses: Addresses, mask: u32, is_read: bool) -> Vec<(u64, Range<u32>)> {
        let mut runs = Vec::new();
        addresses.runs(mask, 4, is_read, |address, lanes| runs.push((address, lanes)));
        runs
    }

    #[test]
    fn consecutive_elements_are_one_run() {
        let ramp = Addresses::Ramp { base: 100, stride: 4 };
        assert_eq!(runs(ramp, u32::MAX, true), [(100, 0..32)]);
        assert_eq!(runs(ramp, 0x0000_0ff0, false), [(116, 4..12)]);
        assert_eq!(runs(ramp, 0x8000_0003, false), [(100, 0..2), (224, 31..32)]);
        let mut lanes: [u64; LANES] = std::array::from_fn(|lane| 64 + 4 * lane as u64);
        assert_eq!(runs(Addresses::Lanes(&lanes), u32::MAX, false), [(64, 0..32)]);
        lanes[16..].fill(8);
        assert_eq!(runs(Addresses::Lanes(&lanes), u32::MAX, true), [(64, 0..16), (8, 16..17), (8, 31..32)]);
        assert_eq!(runs(Addresses::Lanes(&lanes), u32::MAX, false).len(), 17);
    }

    #[test]
    fn reads_of_one_address_are_two() {
        let same = Addresses::Ramp { base: 100, stride: 0 };
        assert_eq!(runs(same, 0xf0, true), [(100, 4..5), (100, 7..8)]);
        assert_eq!(runs(same, 0xf0, false).len(), 4);
    }

    #[test]
    fn extents_are_those_of_active_lanes() {
        let Extent { first, last, bits } = Addresses::Ramp { base: 100, stride: -8 }.extent(0b110);
        assert_eq!((first, last, bits & 3), (84, 92, 0));
        assert_eq!(lanes(0x8000_0101).collect::<Vec<_>>(), [0, 8, 31]);
    }
}
