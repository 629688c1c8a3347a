//! Which dispatches must wait for others: by the bytes that they read and write.
//!
//! Two sets of ranges hold what the dispatches since the last barrier read and wrote, ranges that meet merged into
//! one. A dispatch that reads what is being written, or writes what is being read or written, needs a barrier before it;
//! then both sets are empty again. A barrier as late as possible, for all dispatches at once, is as few as can be.
//!
//! Ranges are ranges of addresses and not of buffers, so that buffers which share memory are the same here, too.

use crate::backend::ArgumentMemory;
use crate::kernel::arguments::BufferArgument;
use crate::validate::BoundArgument;
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
pub(crate) fn access(argument: &BufferArgument, bound: BoundArgument) -> Option<Access> {
    match bound.memory {
        ArgumentMemory::Bytes { .. } => None,
        ArgumentMemory::Buffer { .. } => {
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
        self.read.clear();
        self.written.clear();
    }
}

/// Ranges that do not meet, in order: the start and the end of each. A list as long as there are few of them, which is
/// the rule and the fastest then; a tree when there are many.
#[derive(Default)]
struct Ranges {
    few: Vec<(usize, usize)>,
    many: BTreeMap<usize, usize>,
}

const FEW: usize = 64;

impl Ranges {
    fn overlap(&self, range: &Range<usize>) -> bool {
        // The last that begins before the end: those before it end before it begins.
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
        // Those that meet it lie side by side, and become one with it.
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
    fn ranges_that_meet_become_one() {
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
    fn many_are_found_as_well_as_few() {
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
