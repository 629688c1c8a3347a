//! Which dispatches must wait for others: by the bytes that they read and write.
//!
//! Two ordered sets of ranges hold what the dispatches since the last barrier read and wrote, ranges that meet merged into
//! one. A dispatch that reads what is being written, or writes what is being read or written, needs a barrier before it;
//! then both sets are empty again. A barrier as late as possible, for all dispatches at once, is as few as can be.
//!
//! Ranges are ranges of addresses and not of buffers, so that buffers which share memory are the same here, too.

use crate::arguments::BufferArgument;
use crate::pass::Place;
use crate::validate::Bound;
use std::collections::BTreeMap;
use std::ops::Range;

/// What the dispatches since the last barrier touch.
#[derive(Default)]
pub(crate) struct Hazards {
    read: Ranges,
    written: Ranges,
}

/// What a dispatch does with one range.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) range: Range<usize>,
    pub(crate) is_written: bool,
}

/// What a dispatch does with an argument; nothing that matters with bytes, which nobody writes.
pub(crate) fn access(argument: &BufferArgument, bound: Bound) -> Option<Access> {
    match bound.place {
        Place::Bytes { .. } => None,
        Place::Buffer { .. } => {
            Some(Access { range: bound.address..bound.address + bound.len, is_written: argument.is_written })
        }
    }
}

impl Hazards {
    /// Whether a dispatch must wait.
    pub(crate) fn conflict(&self, mut accesses: impl Iterator<Item = Access>) -> bool {
        accesses.any(|access| {
            self.written.overlap(&access.range) || (access.is_written && self.read.overlap(&access.range))
        })
    }

    /// A dispatch was recorded.
    pub(crate) fn add(&mut self, accesses: impl Iterator<Item = Access>) {
        for access in accesses {
            // What is written conflicts with every access: that it may be read as well makes no difference.
            let ranges = if access.is_written { &mut self.written } else { &mut self.read };
            ranges.insert(access.range);
        }
    }

    /// A barrier was recorded.
    pub(crate) fn clear(&mut self) {
        self.read.0.clear();
        self.written.0.clear();
    }
}

/// Ranges that do not meet: the start and the end of each.
#[derive(Default)]
struct Ranges(BTreeMap<usize, usize>);

impl Ranges {
    fn overlap(&self, range: &Range<usize>) -> bool {
        // The last that begins before the end: those before it end before it begins.
        self.0.range(..range.end).next_back().is_some_and(|(_, &end)| end > range.start)
    }

    fn insert(&mut self, mut range: Range<usize>) {
        while let Some((&start, &end)) =
            self.0.range(..=range.end).next_back().filter(|(_, end)| **end >= range.start)
        {
            if start <= range.start && end >= range.end {
                return;
            }
            self.0.remove(&start);
            range = range.start.min(start)..range.end.max(end);
        }
        self.0.insert(range.start, range.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(inserted: &[(usize, usize)]) -> Ranges {
        let mut ranges = Ranges::default();
        inserted.iter().for_each(|&(start, end)| ranges.insert(start..end));
        ranges
    }

    #[test]
    fn ranges_that_meet_become_one() {
        let found = |inserted| ranges(inserted).0.into_iter().collect::<Vec<_>>();
        assert_eq!(found(&[(0, 4), (8, 12)]), [(0, 4), (8, 12)]);
        assert_eq!(found(&[(0, 4), (8, 12), (4, 8)]), [(0, 12)]);
        assert_eq!(found(&[(0, 4), (2, 3)]), [(0, 4)]);
        assert_eq!(found(&[(5, 6), (1, 2), (3, 4), (0, 9)]), [(0, 9)]);
        assert_eq!(found(&[(0, 4), (2, 8), (7, 9)]), [(0, 9)]);
    }

    #[test]
    fn neighbours_do_not_overlap() {
        let ranges = ranges(&[(4, 8), (12, 16)]);
        for (range, expected) in [(0..4, false), (8..12, false), (16..20, false), (3..5, true), (7..13, true)] {
            assert_eq!(ranges.overlap(&range), expected, "{range:?}");
        }
        assert!(ranges.overlap(&(5..6)) && ranges.overlap(&(0..100)));
    }
}
