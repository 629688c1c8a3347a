//! The barriers that each simdgroup of a threadgroup has reached.

use super::shadow::PeriodNumber;

/// The state of one threadgroup.
#[derive(Default)]
pub(super) struct Barriers {
    simdgroups: Vec<Reached>,
    /// The place of each barrier, by its number: that of the simdgroup that came first.
    places: Vec<u32>,
}

/// The barriers behind an access.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Epochs {
    /// Of the threadgroup, those that order device memory, and threadgroup memory.
    pub(super) threadgroup: [u32; 2],
    /// Of either kind, those that order device memory, and threadgroup memory.
    pub(super) simdgroup: [u32; 2],
    /// All of the threadgroup.
    pub(super) threadgroup_all: u32,
    /// All of either kind.
    pub(super) simdgroup_all: u32,
}

#[derive(Clone, Copy, Default)]
struct Reached {
    /// Barriers of the threadgroup.
    count: usize,
    epochs: Epochs,
    /// Accesses so far.
    accesses: u32,
    /// The period in the shadow since the last barrier; 0 before its first access.
    period: PeriodNumber,
}

/// Adds the barriers with the flags of a memory.
fn add(counts: &mut [u32; 2], flags: u32) {
    /// Bits of `mem_flags`.
    const MEMORY: [u32; 2] = [1, 2];
    for (count, bit) in counts.iter_mut().zip(MEMORY) {
        *count += u32::from(flags & bit != 0);
    }
}

impl Barriers {
    pub(super) fn begin(&mut self, simdgroups: usize) {
        self.simdgroups.clear();
        self.simdgroups.resize(simdgroups, Reached::default());
        self.places.clear();
    }

    /// The barriers behind a simdgroup.
    pub(super) fn epochs(&self, simdgroup: u32) -> Epochs {
        self.simdgroups.get(simdgroup as usize).map(|reached| reached.epochs).unwrap_or_default()
    }

    /// Counts an access of a simdgroup. Returns its number and its period, which `begin` begins.
    pub(super) fn next_access(
        &mut self,
        simdgroup: u32,
        begin: impl FnOnce(Epochs) -> PeriodNumber,
    ) -> (u32, PeriodNumber) {
        self.simdgroups.get_mut(simdgroup as usize).map_or((0, 0), |reached| {
            reached.accesses += 1;
            if reached.period == 0 {
                reached.period = begin(reached.epochs);
            }
            (reached.accesses, reached.period)
        })
    }

    /// A simdgroup reaches its own barrier, with the bits of `mem_flags`.
    pub(super) fn simdgroup(&mut self, simdgroup: u32, flags: u32) {
        if let Some(reached) = self.simdgroups.get_mut(simdgroup as usize) {
            reached.period = 0;
            add(&mut reached.epochs.simdgroup, flags);
            reached.epochs.simdgroup_all += 1;
        }
    }

    /// A simdgroup reaches a barrier of the threadgroup. Returns the place of the barrier that others wait at, if it
    /// is another one.
    pub(super) fn threadgroup(&mut self, simdgroup: u32, place: u32, flags: u32) -> Option<u32> {
        let reached = self.simdgroups.get_mut(simdgroup as usize)?;
        let number = reached.count;
        reached.count += 1;
        reached.period = 0;
        add(&mut reached.epochs.threadgroup, flags);
        add(&mut reached.epochs.simdgroup, flags);
        reached.epochs.threadgroup_all += 1;
        reached.epochs.simdgroup_all += 1;
        match self.places.get(number) {
            None => {
                self.places.push(place);
                None
            }
            Some(&other) => (other != place).then_some(other),
        }
    }

    /// The place of the first barrier that a simdgroup did not reach although others did, and that simdgroup.
    pub(super) fn unequal(&self) -> Option<(u32, u32)> {
        let counts = || self.simdgroups.iter().map(|reached| reached.count);
        let (least, most) = (counts().min()?, counts().max()?);
        let simdgroup = counts().position(|count| count == least)?;
        (least < most).then(|| self.places.get(least).map(|place| (*place, simdgroup as u32)))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simdgroups_that_miss_a_barrier_are_found() {
        let mut barriers = Barriers::default();
        barriers.begin(2);
        assert_eq!(barriers.threadgroup(0, 7, 3), None);
        assert_eq!(barriers.unequal(), Some((7, 1)));
        assert_eq!(barriers.threadgroup(1, 7, 3), None);
        assert_eq!(barriers.unequal(), None);
        assert_eq!(barriers.threadgroup(1, 8, 3), None);
        assert_eq!(barriers.threadgroup(0, 9, 0), Some(8));
        let [first, second] = [0, 1].map(|simdgroup| barriers.epochs(simdgroup));
        assert_eq!((first.threadgroup, first.threadgroup_all, second.threadgroup), ([1, 1], 2, [2, 2]));
        barriers.simdgroup(0, 1);
        assert_eq!(barriers.epochs(0).simdgroup, [2, 1]);
    }
}
