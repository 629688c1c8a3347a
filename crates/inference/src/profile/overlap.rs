//! Division of time among dispatches, some of which overlap.

use std::time::Instant;

/// Nanoseconds of a dispatch.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Share {
    /// Time that it ran. Dispatches that run at the same time get equal parts of it.
    pub(super) time: f64,
    /// Idle time before it.
    pub(super) before: f64,
}

/// Divides the time from `start` to `end` among dispatches, given by their starts and ends. Returns their shares, and
/// the idle nanoseconds after the last one. All together are the time from `start` to `end`.
pub(super) fn shares(start: Instant, end: Instant, dispatches: &[(Instant, Instant)]) -> (Vec<Share>, f64) {
    let mut shares = vec![Share::default(); dispatches.len()];
    let mut events: Vec<(Instant, bool, usize)> = Vec::with_capacity(2 * dispatches.len());
    for (number, (first, last)) in dispatches.iter().enumerate() {
        events.push((*first, false, number));
        events.push(((*last).max(*first), true, number));
    }
    // Starts before ends, so that a dispatch of no length starts first.
    events.sort_by_key(|&(at, is_end, number)| (at, is_end, number));
    let (mut running, mut now, mut idle): (Vec<usize>, Instant, f64) = (Vec::new(), start, 0.0);
    for (at, is_end, number) in events {
        let passed = at.saturating_duration_since(now).as_nanos() as f64;
        now = now.max(at);
        match running.len() {
            0 => idle += passed,
            count => running.iter().for_each(|&other| shares[other].time += passed / count as f64),
        }
        if is_end {
            running.retain(|&other| other != number);
        } else {
            shares[number].before = std::mem::take(&mut idle);
            running.push(number);
        }
    }
    (shares, idle + end.saturating_duration_since(now).as_nanos() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn check(dispatches: &[(u64, u64)], expected: &[(f64, f64)], after: f64) {
        let origin = Instant::now();
        let at = |time: u64| origin + Duration::from_nanos(time);
        let dispatches: Vec<_> = dispatches.iter().map(|&(first, last)| (at(first), at(last))).collect();
        let (shares, idle) = shares(at(0), at(100), &dispatches);
        let shares: Vec<(f64, f64)> = shares.iter().map(|share| (share.time, share.before)).collect();
        assert_eq!((shares.as_slice(), idle), (expected, after), "{dispatches:?}");
        let total: f64 = shares.iter().map(|(time, before)| time + before).sum();
        assert_eq!(total + idle, 100.0, "the parts are the whole");
    }

    #[test]
    fn dispatches_in_turn() {
        check(&[(10, 30), (35, 90)], &[(20.0, 10.0), (55.0, 5.0)], 10.0);
        check(&[(0, 50), (50, 100)], &[(50.0, 0.0), (50.0, 0.0)], 0.0);
        check(&[], &[], 100.0);
    }

    #[test]
    fn overlapping_dispatches_share_their_time() {
        check(&[(0, 60), (20, 60)], &[(40.0, 0.0), (20.0, 0.0)], 40.0);
        check(&[(10, 90), (20, 30)], &[(75.0, 10.0), (5.0, 0.0)], 10.0);
    }

    #[test]
    fn times_that_are_empty_or_out_of_order_do_no_harm() {
        check(&[(40, 40), (40, 20)], &[(0.0, 40.0), (0.0, 0.0)], 60.0);
        check(&[(50, 60), (10, 20)], &[(10.0, 30.0), (10.0, 10.0)], 40.0);
    }
}
