//! The barriers that each simdgroup of a threadgroup has reached.

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
    /// Of the threadgroup, those that order memory.
    pub(super) threadgroup: u32,
    /// Of either kind, those that order memory.
    pub(super) simdgroup: u32,
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
}

impl Barriers {
    pub(super) fn begin(&mut self, simdgroups: usize) {
        self.simdgroups.clear();
        self.simdgroups.resize(simdgroups, Reached::default());
        self.places.clear();
    }

    /// The barriers behind a simdgroup.
    pub(super) fn epochs(&self, simdgroup: usize) -> Epochs {
        self.simdgroups.get(simdgroup).map(|reached| reached.epochs).unwrap_or_default()
    }

    /// Counts an access of a simdgroup; returns its number.
    pub(super) fn next_access(&mut self, simdgroup: usize) -> u32 {
        self.simdgroups.get_mut(simdgroup).map_or(0, |reached| {
            reached.accesses += 1;
            reached.accesses
        })
    }

    /// A simdgroup reaches its own barrier.
    pub(super) fn simdgroup(&mut self, simdgroup: usize, orders: bool) {
        if let Some(reached) = self.simdgroups.get_mut(simdgroup) {
            reached.epochs.simdgroup += u32::from(orders);
            reached.epochs.simdgroup_all += 1;
        }
    }

    /// A simdgroup reaches a barrier of the threadgroup. Returns the place of the barrier that others wait at, if it
    /// is another one.
    pub(super) fn threadgroup(&mut self, simdgroup: usize, place: u32, orders: bool) -> Option<u32> {
        let reached = self.simdgroups.get_mut(simdgroup)?;
        let number = reached.count;
        reached.count += 1;
        reached.epochs.threadgroup += u32::from(orders);
        reached.epochs.simdgroup += u32::from(orders);
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
        assert_eq!(barriers.threadgroup(0, 7, true), None);
        assert_eq!(barriers.unequal(), Some((7, 1)));
        assert_eq!(barriers.threadgroup(1, 7, true), None);
        assert_eq!(barriers.unequal(), None);
        assert_eq!(barriers.threadgroup(1, 8, true), None);
        assert_eq!(barriers.threadgroup(0, 9, false), Some(8));
        let [first, second] = [0, 1].map(|simdgroup| barriers.epochs(simdgroup));
        assert_eq!((first.threadgroup, first.threadgroup_all, second.threadgroup), (1, 2, 2));
    }
}
