//! Number of decode steps in each command buffer.
//!
//! A device that executes while the host encodes is idle until the first command buffer is committed, so that one
//! should be short. But each costs a commit, a wait and driver overhead. So the first has one step, and each other
//! twice as many as the one before: the device runs n steps while the host encodes 2 n, and never waits as long as
//! encoding a step takes at most half the time of running it. The number of command buffers is logarithmic in the
//! number of steps.

/// Number of steps of each command buffer in order; a single command buffer if encoding and execution do not overlap.
pub(super) fn groups(count: usize, overlaps: bool) -> impl Iterator<Item = usize> {
    let (mut left, mut next) = (count, if overlaps { 1 } else { count });
    std::iter::from_fn(move || {
        // A remainder shorter than this group joins it.
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
    fn one_command_buffer_without_overlap() {
        for count in [1, 2, 100] {
            assert!(groups(count, false).eq([count]));
        }
        assert_eq!(groups(0, false).count(), 0);
    }

    #[test]
    fn few_growing_command_buffers_with_overlap() {
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
