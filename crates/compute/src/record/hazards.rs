//! Hazard tracking: decides by the accessed bytes which dispatches must wait.
//!
//! Two sets of ranges hold the bytes read and written since the last barrier, with adjacent ranges merged. A dispatch
//! that reads written bytes, or writes read or written bytes, needs a barrier before it; then both sets are cleared.
//! Placing each barrier as late as possible, for all dispatches at once, gives the fewest barriers.
//!
//! Ranges are addresses, not buffer offsets, so that buffers that share memory are handled, too.

use crate::backend::ArgumentMemory;
use crate::kernel::arguments::BufferArgument;
use crate::validate::BoundArgument;
use std::collections::BTreeMap;
use std::ops::Range;

/// Accesses of the dispatches since the last barrier.
#[derive(Default)]
pub(crate) struct Hazards {
    read: Ranges,
    written: Ranges,
}

/// An access of a dispatch to a range.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) range: Range<usize>,
    pub(crate) is_written: bool,
}

/// The access of a dispatch to an argument; `None` for `set_bytes` data, which is never written.
pub(crate) fn access(argument: &BufferArgument, bound: BoundArgument) -> Option<Access> {
    match bound.memory {
        ArgumentMemory::Bytes { .. } => None,
        ArgumentMemory::Buffer { .. } => {
            Some(Access { range: bound.address..bound.address + bound.len, is_written: argument.is_written })
        }
    }
}

impl Hazards {
    /// True if a dispatch must wait.
    pub(crate) fn conflict(&self, mut accesses: impl Iterator<Item = Access>) -> bool {
        accesses.any(|access| {
            self.written.overlap(&access.range) || (access.is_written && self.read.overlap(&access.range))
        })
    }

    /// Adds the accesses of a recorded dispatch.
    pub(crate) fn add(&mut self, accesses: impl Iterator<Item = Access>) {
        for access in accesses {
            // A written range conflicts with every access, whether it is also read or not.
            let ranges = if access.is_written { &mut self.written } else { &mut self.read };
            ranges.insert(access.range);
        }
    }

    /// Clears the sets after a barrier.
    pub(crate) fn clear(&mut self) {
        self.read.clear();
        self.written.clear();
    }
}

/// Disjoint, non-adjacent ranges in order: start and end of each. A list while there are few, which is usual and
/// fastest; a tree when there are many.
#[derive(Default)]
struct Ranges {
    few: Vec<(usize, usize)>,
    many: BTreeMap<usize, usize>,
}

const FEW: usize = 64;

impl Ranges {
    fn overlap(&self, range: &Range<usize>) -> bool {
        // The last range that begins before the end; earlier ranges end before it begins.
        let before = self.few.partition_point(|&(start, _)| start < range.end);
        let few = before.checked_sub(1).is_some_and(|last| self.few[last].1 > range.start);
        few || self.many.range(..range.end).next_back().is_some_and(|(_, &end)| end > range.start)
    }

    fn insert(&mut self, range: Range<usize>) {
        if self.many.is_empty() {
            self.insert_into_few(range);
            if self.few.len() > FEW {
                self.many = self.few.drain(..).collect();
            }
        } else {
            self.insert_into_many(range);
        }
    }

    fn insert_into_few(&mut self, range: Range<usize>) {
        // Overlapping and adjacent ranges are contiguous in the list, and merge with the new one.
        let first = self.few.partition_point(|&(_, end)| end < range.start);
        let last = self.few.partition_point(|&(start, _)| start <= range.end);
        match self.few.get_mut(first..last) {
            Some([only]) => *only = (only.0.min(range.start), only.1.max(range.end)),
            Some([start, .., end]) => {
                *start = (start.0.min(range.start), end.1.max(range.end));
                self.few.drain(first + 1..last);
            }
            _ => self.few.insert(first, (range.start, range.end)),
        }
    }

    fn insert_into_many(&mut self, mut range: Range<usize>) {
        let meets = |(_, end): &(&usize, &usize), range: &Range<usize>| **end >= range.start;
        while let Some((&start, &end)) = self.many.range(..=range.end).next_back().filter(|one| meets(one, &range))
        {
            if start <= range.start && end >= range.end {
                return;
            }
            self.many.remove(&start);
            range = range.start.min(start)..range.end.max(end);
        }
        self.many.insert(range.start, range.end);
    }

    fn clear(&mut self) {
        self.few.clear();
        self.many.clear();
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
    fn adjacent_and_overlapping_ranges_merge() {
        let check = |inserted: &[(usize, usize)], expected: &[(usize, usize)]| {
            assert_eq!(ranges(inserted).few, expected);
            let mut tree = Ranges::default();
            inserted.iter().for_each(|&(start, end)| tree.insert_into_many(start..end));
            assert_eq!(tree.many.into_iter().collect::<Vec<_>>(), expected);
        };
        check(&[(0, 4), (8, 12)], &[(0, 4), (8, 12)]);
        check(&[(8, 12), (0, 4)], &[(0, 4), (8, 12)]);
        check(&[(0, 4), (8, 12), (4, 8)], &[(0, 12)]);
        check(&[(0, 4), (2, 3)], &[(0, 4)]);
        check(&[(5, 6), (1, 2), (3, 4), (0, 9)], &[(0, 9)]);
        check(&[(0, 4), (2, 8), (7, 9)], &[(0, 9)]);
        check(&[(0, 2), (4, 6), (8, 10), (3, 9)], &[(0, 2), (3, 10)]);
    }

    #[test]
    fn neighbours_do_not_overlap() {
        let ranges = ranges(&[(4, 8), (12, 16)]);
        for (range, expected) in [(0..4, false), (8..12, false), (16..20, false), (3..5, true), (7..13, true)] {
            assert_eq!(ranges.overlap(&range), expected, "{range:?}");
        }
        assert!(ranges.overlap(&(5..6)) && ranges.overlap(&(0..100)));
    }

    #[test]
    fn many_ranges_behave_like_few() {
        let inserted: Vec<(usize, usize)> =
            (0..1000).map(|i| (i * 7919 % 1000 * 10, i * 7919 % 1000 * 10 + 5)).collect();
        for count in [1, FEW - 1, FEW, FEW + 1, FEW + 2, 1000] {
            let mut ranges = ranges(&inserted[..count]);
            for i in 0..1000 {
                let is_there = inserted[..count].contains(&(i * 10, i * 10 + 5));
                assert_eq!(ranges.overlap(&(i * 10 + 4..i * 10 + 10)), is_there);
                assert!(!ranges.overlap(&(i * 10 + 5..i * 10 + 10)));
            }
            ranges.clear();
            assert!(!ranges.overlap(&(0..usize::MAX)));
        }
    }
}
