//! How many decode steps go into each command buffer.
//!
//! A device that executes while the host encodes is idle until the first command buffer is committed, so that one should be short;
//! but each costs a commit, a wait and the driver's work. So the first has a single step, and each of the others is twice as long
//! as the one before: the device runs n steps while the host encodes 2 n, and a command buffer is there when it is needed as long
//! as encoding a step takes at most half of the time of running it. For any number of steps there are few command buffers.

/// The number of steps of each command buffer, in order; one where nothing overlaps.
pub(super) fn groups(count: usize, overlaps: bool) -> impl Iterator<Item = usize> {
    let (mut left, mut next) = (count, if overlaps { 1 } else { count });
    std::iter::from_fn(move || {
        // A rest that is shorter than this group joins it.
        let steps = if left - next.min(left) < next { left } else { next };
        left -= steps;
        next = next.saturating_mul(2);
        (steps > 0).then_some(steps)
    })
}

#[cfg(test)]
mod tests {
    use super::groups;

    #[test]
    fn a_device_that_does_not_overlap_gets_all_steps_at_once() {
        for count in [1, 2, 100] {
            assert!(groups(count, false).eq([count]));
        }
        assert_eq!(groups(0, false).count(), 0);
    }

    #[test]
    fn a_device_that_overlaps_begins_early_and_gets_few_command_buffers() {
        let sizes = |count| groups(count, true).collect::<Vec<usize>>();
        assert!(sizes(0).is_empty());
        assert_eq!(sizes(1), [1]);
        assert_eq!(sizes(2), [1, 1]);
        assert_eq!(sizes(3), [1, 2]);
        assert_eq!(sizes(4), [1, 3]);
        assert_eq!(sizes(8), [1, 2, 5]);
        assert_eq!(sizes(64), [1, 2, 4, 8, 16, 33]);
        for count in 1..300 {
            let sizes = sizes(count);
            assert_eq!(sizes.iter().sum::<usize>(), count);
            assert!(sizes.len() <= 1 + count.ilog2() as usize, "{count} steps in {sizes:?}");
        }
    }
}
