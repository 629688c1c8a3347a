//! Periods: the time of a simdgroup between two barriers. An access has the number of its period.

use super::super::barriers::Epochs;
use abi::{Site, Threadgroup};
use std::sync::Arc;

/// From 1, in all stages together; 0 for none. Those of earlier stages are known by their number.
pub(in super::super) type PeriodNumber = u32;

/// A threadgroup of the stage.
#[derive(Clone)]
pub(in super::super) struct GroupInfo {
    /// The number of its dispatch.
    pub(in super::super) dispatch: usize,
    pub(in super::super) kernel: Arc<str>,
    pub(in super::super) sites: Arc<[Site]>,
    pub(in super::super) position: [u32; 3],
    pub(in super::super) size: [u32; 3],
}

#[derive(Clone, Copy)]
pub(super) struct Period {
    /// Index of the threadgroup in [`Periods::groups`].
    pub(super) group: u32,
    pub(super) simdgroup: u32,
    /// Barriers before it.
    pub(super) epochs: Epochs,
}

/// The periods of a stage.
#[derive(Default)]
pub(super) struct Periods {
    /// Number of periods in the stages before.
    pub(super) earlier: PeriodNumber,
    /// Number of periods before the threadgroup.
    pub(super) before_group: PeriodNumber,
    list: Vec<Period>,
    groups: Vec<GroupInfo>,
}

impl Periods {
    /// Forgets those of the stage; their numbers are not used again.
    pub(super) fn begin_stage(&mut self) {
        self.earlier = self.next() - 1;
        self.before_group = self.earlier;
        self.list.clear();
        self.groups.clear();
    }

    /// True if the numbers will run out.
    pub(super) fn are_many(&self) -> bool {
        self.earlier > PeriodNumber::MAX / 2
    }

    fn next(&self) -> PeriodNumber {
        self.earlier + self.list.len() as PeriodNumber + 1
    }

    pub(super) fn begin_group(
        &mut self,
        dispatch: usize,
        kernel: &Arc<str>,
        sites: &Arc<[Site]>,
        threadgroup: &Threadgroup,
    ) {
        let Threadgroup { position, size, .. } = *threadgroup;
        self.begin_group_of(GroupInfo { dispatch, kernel: kernel.clone(), sites: sites.clone(), position, size });
    }

    pub(super) fn begin_group_of(&mut self, group: GroupInfo) {
        self.groups.push(group);
        self.before_group = self.next() - 1;
    }

    /// Begins a period of a simdgroup of the threadgroup.
    pub(super) fn begin(&mut self, simdgroup: u32, epochs: Epochs) -> PeriodNumber {
        let number = self.next();
        let group = (self.groups.len() as u32).saturating_sub(1);
        self.list.push(Period { group, simdgroup, epochs });
        number
    }

    /// A period of the stage.
    pub(super) fn get(&self, number: PeriodNumber) -> Option<&Period> {
        self.list.get(number.checked_sub(self.earlier + 1)? as usize)
    }

    pub(super) fn group(&self, index: u32) -> Option<&GroupInfo> {
        self.groups.get(index as usize)
    }
}
