//! The shadow of memory: the last write and two reads of each location.
//!
//! Two accesses race if at least one writes, not both are atomic, and nothing orders them: no barrier of the threadgroup
//! between threads of one, none of either kind between lanes of one simdgroup. Nothing orders the threadgroups of a
//! dispatch. Writes of the same value are no race: the order does not matter.

use super::barriers::Epochs;
use abi::{LANES, Site, Threadgroup};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// The number of a threadgroup among those of all stages, from 1. Cells of earlier stages are stale by their number, so that
/// a stage need not clear them.
pub(super) type GroupNumber = u32;

/// One access.
#[derive(Clone, Copy, Default)]
pub(super) struct Moment {
    /// 0 for none.
    pub(super) group: GroupNumber,
    /// Index in the threadgroup.
    pub(super) thread: u16,
    pub(super) is_atomic: bool,
    pub(super) site: u32,
    /// Barriers before it.
    pub(super) epochs: Epochs,
    /// Accesses of the simdgroup before it: of two accesses, it tells the later one in the program.
    pub(super) sequence: u32,
    /// A hash of the value that was written, if it is known.
    pub(super) value: Option<u64>,
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
    pub(super) moment: Moment,
    pub(super) is_read: bool,
    /// The threadgroup of the other access; none if it is the same.
    pub(super) group: Option<GroupInfo>,
}

/// A threadgroup of the stage.
#[derive(Clone)]
pub(super) struct GroupInfo {
    pub(super) kernel: Arc<str>,
    pub(super) sites: Arc<[Site]>,
    pub(super) position: [u32; 3],
    pub(super) size: [u32; 3],
}

#[derive(Clone, Copy, Default)]
struct Cell {
    write: Moment,
    reads: [Moment; 2],
}

/// Cells for 4096 bytes, each for `granule` bytes: the smallest access so far.
struct Page {
    granule: u64,
    cells: Vec<Cell>,
}

const PAGE: u64 = 4096;

/// Pages beyond this number are not followed: a cell takes many times the memory that it is for.
const MOST_PAGES: usize = 8192;

#[derive(Default)]
pub(crate) struct Shadow {
    stage: u64,
    device: FxHashMap<u64, Page>,
    threadgroup: FxHashMap<u64, Page>,
    /// Threadgroups of the stages before.
    earlier: GroupNumber,
    groups: Vec<GroupInfo>,
}

impl Shadow {
    /// Begins a stage, unless it has begun. Dispatches of one may overlap.
    pub(super) fn begin(&mut self, stage: u64) {
        if self.stage != stage {
            self.stage = stage;
            self.earlier += self.groups.len() as GroupNumber;
            self.groups.clear();
            // Other stages may have other buffers.
            if self.device.len() >= MOST_PAGES / 2 || self.earlier > GroupNumber::MAX / 2 {
                self.device.clear();
                self.threadgroup.clear();
                self.earlier = 0;
            }
        }
    }

    /// Numbers a threadgroup.
    pub(super) fn group(
        &mut self,
        kernel: &Arc<str>,
        sites: &Arc<[Site]>,
        threadgroup: &Threadgroup,
    ) -> GroupNumber {
        let Threadgroup { position, size, .. } = *threadgroup;
        self.groups.push(GroupInfo { kernel: kernel.clone(), sites: sites.clone(), position, size });
        self.earlier + self.groups.len() as GroupNumber
    }

    /// True if a location was written by a threadgroup since the barrier before `moment`, or after it.
    pub(super) fn is_written_since(&self, address: u64, moment: &Moment) -> bool {
        let Some(page) = self.threadgroup.get(&(address / PAGE)) else { return false };
        let write = &page.cells[(address % PAGE / page.granule) as usize].write;
        write.group == moment.group && write.epochs.threadgroup_all == moment.epochs.threadgroup_all
    }

    /// Notes an access, and returns the first mistake. `has_fence` says that threadgroups may order their accesses
    /// themselves.
    pub(super) fn note(
        &mut self,
        is_threadgroup: bool,
        address: u64,
        bytes: u64,
        moment: Moment,
        is_read: bool,
        has_fence: bool,
    ) -> Option<Problem> {
        let pages = if is_threadgroup { &mut self.threadgroup } else { &mut self.device };
        let circumstances = Circumstances { is_read, is_threadgroup, has_fence, earlier: self.earlier };
        let mut problem: Option<CellProblem> = None;
        let mut at = address;
        while at < address + bytes {
            let end = (address + bytes).min(at / PAGE * PAGE + PAGE);
            let count = pages.len();
            let page = match pages.entry(at / PAGE) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(_) if count >= MOST_PAGES => break,
                Entry::Vacant(entry) => entry.insert(Page::new()),
            };
            page.refine(at, end);
            for cell in page.range(at % PAGE, end - at) {
                let found = cell.note(moment, circumstances);
                problem = problem.or(found);
            }
            at = end;
        }
        problem.map(|problem| match problem {
            CellProblem::NeverWritten => Problem::NeverWritten,
            CellProblem::Unordered { other, is_read } => {
                let index = (other.group - self.earlier) as usize - 1;
                let info = (other.group != moment.group).then(|| self.groups.get(index).cloned());
                Problem::Unordered(Other { moment: other, is_read, group: info.flatten() })
            }
        })
    }
}

impl Page {
    fn new() -> Page {
        Page { granule: 4, cells: vec![Cell::default(); (PAGE / 4) as usize] }
    }

    /// Makes cells small enough for an access.
    fn refine(&mut self, start: u64, end: u64) {
        while !start.is_multiple_of(self.granule) || !end.is_multiple_of(self.granule) {
            self.granule /= 2;
            self.cells = self.cells.iter().flat_map(|cell| [*cell; 2]).collect();
        }
    }

    fn range(&mut self, start: u64, bytes: u64) -> &mut [Cell] {
        &mut self.cells[(start / self.granule) as usize..((start + bytes) / self.granule) as usize]
    }
}

/// Circumstances of an access.
#[derive(Clone, Copy)]
struct Circumstances {
    is_read: bool,
    is_threadgroup: bool,
    /// Threadgroups may order their accesses themselves.
    has_fence: bool,
    /// Accesses of these threadgroups are of earlier stages.
    earlier: GroupNumber,
}

enum CellProblem {
    NeverWritten,
    Unordered { other: Moment, is_read: bool },
}

impl Cell {
    fn note(&mut self, moment: Moment, circumstances: Circumstances) -> Option<CellProblem> {
        let Circumstances { is_read, is_threadgroup, has_fence, earlier } = circumstances;
        let races = |other: Moment, other_reads: bool| {
            let ordered_alone = has_fence && other.group != moment.group;
            let is_same_value = !is_read && !other_reads && moment.value.is_some() && moment.value == other.value;
            // Threadgroup memory is another one in each threadgroup.
            let is_stale = other.group <= earlier || (is_threadgroup && other.group != moment.group);
            let racing = !is_stale && !ordered_alone && !is_same_value && moment.races_with(&other, other_reads);
            racing.then_some(CellProblem::Unordered { other, is_read: other_reads })
        };
        let mut problem = races(self.write, false);
        if is_read {
            if is_threadgroup && self.write.group != moment.group {
                problem = Some(CellProblem::NeverWritten);
            }
            self.remember_read(moment, earlier);
        } else {
            problem = problem.or_else(|| self.reads.into_iter().find_map(|read| races(read, true)));
            self.write = moment;
        }
        problem
    }

    /// Keeps two reads, of different threads if there are such.
    fn remember_read(&mut self, moment: Moment, earlier: GroupNumber) {
        let is_same = |other: &Moment| other.group == moment.group && other.thread == moment.thread;
        let slot = usize::from(!is_same(&self.reads[0]) && self.reads[0].is_near(&moment, earlier));
        self.reads[slot] = moment;
    }
}

impl Moment {
    /// True if nothing orders two accesses of which one writes. After a read, a barrier that does not order memory is
    /// enough: the value has been read.
    fn races_with(&self, other: &Moment, other_reads: bool) -> bool {
        if self.is_atomic && other.is_atomic {
            return false;
        }
        if self.group != other.group {
            return true;
        }
        let epochs = |moment: &Moment| match other_reads {
            true => (moment.epochs.threadgroup_all, moment.epochs.simdgroup_all),
            false => (moment.epochs.threadgroup, moment.epochs.simdgroup),
        };
        let (own, others) = (epochs(self), epochs(other));
        if self.thread == other.thread || own.0 != others.0 {
            return false;
        }
        let simdgroup = |moment: &Moment| usize::from(moment.thread) / LANES;
        simdgroup(self) != simdgroup(other) || own.1 == others.1
    }

    /// True if an access is not ordered before another one by a barrier.
    fn is_near(&self, other: &Moment, earlier: GroupNumber) -> bool {
        self.group > earlier
            && (self.group != other.group || self.epochs.threadgroup_all == other.epochs.threadgroup_all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(thread: u16, epoch: u32) -> Moment {
        let epochs = Epochs { threadgroup: epoch, simdgroup: epoch, threadgroup_all: epoch, simdgroup_all: epoch };
        Moment { group: 1, thread, epochs, value: Some(thread.into()), ..Moment::default() }
    }

    fn note(shadow: &mut Shadow, at: u64, moment: Moment, is_read: bool) -> Option<Problem> {
        shadow.note(true, at, 4, moment, is_read, false)
    }

    fn races(problem: Option<Problem>) -> bool {
        matches!(problem, Some(Problem::Unordered(_)))
    }

    #[test]
    fn barriers_order_accesses() {
        let mut shadow = Shadow::default();
        assert!(!races(note(&mut shadow, 0, moment(0, 0), false)));
        assert!(races(note(&mut shadow, 0, moment(40, 0), true)), "read without a barrier");
        assert!(!races(note(&mut shadow, 0, moment(40, 1), true)));
        assert!(races(note(&mut shadow, 0, moment(0, 1), false)), "write after a read");
        assert!(!races(note(&mut shadow, 0, moment(0, 2), false)));
    }

    #[test]
    fn lanes_of_a_simdgroup_need_a_barrier() {
        let mut shadow = Shadow::default();
        note(&mut shadow, 0, moment(0, 0), false);
        assert!(races(note(&mut shadow, 0, moment(1, 0), true)));
        let epochs = Epochs { simdgroup: 1, simdgroup_all: 1, ..Epochs::default() };
        let after = Moment { epochs, ..moment(1, 0) };
        assert!(!races(note(&mut shadow, 0, after, true)));
    }

    #[test]
    fn a_barrier_without_memory_orders_a_write_after_a_read() {
        let mut shadow = Shadow::default();
        let epochs = Epochs { threadgroup_all: 1, simdgroup_all: 1, ..Epochs::default() };
        note(&mut shadow, 0, moment(0, 0), false);
        note(&mut shadow, 0, moment(0, 0), true);
        note(&mut shadow, 4, moment(0, 0), true);
        assert!(races(note(&mut shadow, 0, Moment { epochs, ..moment(40, 0) }, false)), "write after a write");
        assert!(!races(note(&mut shadow, 4, Moment { epochs, ..moment(40, 0) }, false)));
    }

    #[test]
    fn atomic_accesses_and_equal_values_do_not_race() {
        let mut shadow = Shadow::default();
        let atomic = |thread| Moment { is_atomic: true, ..moment(thread, 0) };
        note(&mut shadow, 0, atomic(0), false);
        assert!(!races(note(&mut shadow, 0, atomic(50), false)));
        assert!(races(note(&mut shadow, 0, moment(60, 0), false)));
        let same = |thread| Moment { value: Some(9), ..moment(thread, 0) };
        note(&mut shadow, 8, same(0), false);
        assert!(!races(note(&mut shadow, 8, same(50), false)));
    }

    #[test]
    fn a_stage_forgets_those_before() {
        let mut shadow = Shadow::default();
        let info = GroupInfo { kernel: "k".into(), sites: Arc::new([]), position: [0; 3], size: [64, 1, 1] };
        let device = |shadow: &mut Shadow, group, is_read| {
            let moment = Moment { group, value: Some(group.into()), ..moment(0, 0) };
            shadow.note(false, 0, 4, moment, is_read, false)
        };
        shadow.begin(1);
        shadow.groups.extend([info.clone(), info.clone()]);
        assert!(device(&mut shadow, 1, false).is_none());
        assert!(races(device(&mut shadow, 2, true)), "threadgroups of one stage");
        shadow.begin(2);
        shadow.groups.extend([info.clone(), info]);
        assert!(device(&mut shadow, 3, true).is_none(), "a read after the write of a stage before");
        assert!(device(&mut shadow, 3, false).is_none(), "a write after the read of a stage before");
        assert!(races(device(&mut shadow, 4, false)));
    }

    #[test]
    fn bytes_are_told_apart() {
        let mut shadow = Shadow::default();
        shadow.note(true, 0, 1, moment(0, 0), false, false);
        assert!(shadow.note(true, 1, 1, moment(40, 0), false, false).is_none());
        assert!(races(shadow.note(true, 0, 1, moment(40, 0), false, false)));
        assert!(matches!(shadow.note(true, 2, 1, moment(40, 0), true, false), Some(Problem::NeverWritten)));
    }

    #[test]
    fn a_writer_that_read_last_races_with_the_reader_before() {
        let mut shadow = Shadow::default();
        note(&mut shadow, 0, moment(5, 0), false);
        note(&mut shadow, 0, moment(1, 1), true);
        note(&mut shadow, 0, moment(40, 1), true);
        assert!(races(note(&mut shadow, 0, moment(40, 1), false)));
    }
}
