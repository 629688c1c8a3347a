//! Memory of earlier walks through the same work: the time that its stages take, and the number of threads with which
//! it is fastest.
//!
//! More threads are not always faster: other programs may use the cores, virtual cores may share a real one, and each
//! stage of a short walk costs a round trip between cores. So the number is found by trying: mostly the best known, now
//! and then another. Numbers far from the best are tried only if those between are about as fast: a walk of a large
//! model by one thread takes as long as ten by all.

use std::time::Duration;

/// Walks between two trials.
const SHORTEST_PERIOD: u64 = 8;

/// Walks until a crew that was as fast as the best is tried again. Slower ones are tried later, in proportion to the
/// square of their time, so that trials cost a few percent.
const PERIOD: f64 = 64.0;

/// A crew must be this much faster, twice in a row, to become the best.
const GAIN: f64 = 0.97;

/// A crew that is slower than the best by more than this factor ends the search in its direction.
const NEAR: f64 = 1.15;

/// All crews are tried again when the time of the best changes by this factor.
const CHANGE: f64 = 1.5;

/// Costs are measured in the first walks, and then in one of this many.
const MEASURED_WALKS: u64 = 3;
const MEASURE_PERIOD: u64 = 64;

/// Experience with one piece of work.
#[derive(Default)]
pub(crate) struct Pace {
    /// Nanoseconds per item, by stage.
    costs: Vec<Option<f64>>,
    /// Number of walks.
    walks: u64,
    crews: Vec<Crew>,
    /// Index of the best crew.
    best: usize,
    /// Mean time of the best crew, in nanoseconds, and its value when all crews were last to be tried.
    mean: f64,
    settled: f64,
    /// First walk in which a trial may be made.
    next_trial: u64,
    /// A crew that was faster in the last walk.
    promising: Option<usize>,
}

/// A number of threads.
struct Crew {
    threads: usize,
    /// Walk of its next trial.
    due: u64,
    /// Its time in the last trial, in times of the best.
    slowness: Option<f64>,
}

impl Pace {
    /// Index of the crew for the next walk.
    pub(crate) fn choose(&mut self, most: usize) -> usize {
        if self.crews.last().is_none_or(|crew| crew.threads != most) {
            let doubled = std::iter::successors(Some(1), |threads| Some(threads * 2));
            let sizes = doubled.take_while(|threads| *threads < most).chain([most]);
            self.crews = sizes.map(|threads| Crew { threads, due: 0, slowness: None }).collect();
            self.best = self.crews.len() - 1;
            self.next_trial = self.walks + SHORTEST_PERIOD;
        }
        let tried = self.promising.or_else(|| {
            let others =
                self.candidates((0..self.best).rev()).chain(self.candidates(self.best + 1..self.crews.len()));
            others.min_by_key(|crew| self.crews[*crew].due).filter(|crew| self.crews[*crew].due <= self.walks)
        });
        match tried {
            Some(crew) if self.walks >= self.next_trial => {
                self.next_trial = self.walks + SHORTEST_PERIOD;
                crew
            }
            _ => self.best,
        }
    }

    /// Those of some crews, by growing distance from the best, that are worth a trial: up to the first that was slow, or
    /// that was not tried.
    fn candidates(&self, crews: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
        let mut all_near = true;
        crews.take_while(move |crew| {
            std::mem::replace(&mut all_near, self.crews[*crew].slowness.is_some_and(|slowness| slowness < NEAR))
        })
    }

    pub(crate) fn threads(&self, crew: usize) -> usize {
        self.crews[crew].threads
    }

    /// True if the chunks of the next walk are to be timed.
    pub(crate) fn measures(&self) -> bool {
        self.walks < MEASURED_WALKS || self.walks.is_multiple_of(MEASURE_PERIOD)
    }

    pub(crate) fn costs(&self) -> &[Option<f64>] {
        &self.costs
    }

    /// Learns from a walk.
    pub(crate) fn learn(&mut self, crew: usize, time: Duration) {
        self.walks += 1;
        let now = time.as_nanos() as f64;
        // The first walk finds cold caches and threads that have yet to start.
        if self.walks == 1 {
            return;
        }
        if crew == self.best {
            // A walk that was interrupted tells nothing about the crew.
            self.mean =
                if self.mean == 0.0 { now } else { self.mean + 0.2 * (now.min(3.0 * self.mean) - self.mean) };
            if self.mean > self.settled * CHANGE || self.mean * CHANGE < self.settled {
                self.settle(self.mean);
            }
        } else if now >= self.mean * GAIN {
            self.promising = None;
            let slowness = (now / self.mean.max(1.0)).min(10.0);
            self.crews[crew].slowness = Some(slowness);
            self.crews[crew].due = self.walks + (PERIOD * slowness * slowness) as u64;
        } else if self.promising != Some(crew) {
            self.promising = Some(crew);
            self.next_trial = self.walks;
        } else {
            self.promising = None;
            self.best = crew;
            self.mean = now;
            self.settle(now);
        }
    }

    /// All crews are to be tried again, the nearest first.
    fn settle(&mut self, time: f64) {
        self.settled = time;
        for crew in &mut self.crews {
            crew.due = crew.due.min(self.walks + SHORTEST_PERIOD);
            crew.slowness = None;
        }
    }

    /// Learns the costs of the stages. The lower of two counts more: interruptions only add.
    pub(crate) fn learn_costs(&mut self, measured: impl Iterator<Item = Option<f64>>) {
        for (stage, measured) in measured.enumerate() {
            let Some(measured) = measured else { continue };
            match self.costs.get_mut(stage) {
                Some(Some(known)) if measured > *known => *known += 0.1 * (measured - *known),
                Some(known) => *known = Some(measured),
                None => {
                    self.costs.resize(stage, None);
                    self.costs.push(Some(measured));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks that take `microseconds(threads)`; returns how many of them had the given number of threads.
    fn walk(pace: &mut Pace, walks: u32, threads: usize, microseconds: impl Fn(usize) -> u64) -> u32 {
        let mut count = 0;
        for _ in 0..walks {
            let crew = pace.choose(16);
            count += u32::from(pace.threads(crew) == threads);
            pace.learn(crew, Duration::from_micros(microseconds(pace.threads(crew))));
        }
        count
    }

    #[test]
    fn most_walks_have_the_fastest_crew() {
        for fastest in [1, 2, 4, 8, 16_usize] {
            let time = |threads: usize| 100 + 40 * u64::from(threads.ilog2().abs_diff(fastest.ilog2()));
            let mut pace = Pace::default();
            walk(&mut pace, 200, fastest, time);
            let count = walk(&mut pace, 1000, fastest, time);
            assert!(count > 950, "{count} of 1000 walks with {fastest} threads");
        }
    }

    #[test]
    fn trials_cost_little_where_all_threads_are_fastest() {
        let mut pace = Pace::default();
        let time = |threads: usize| 1600 / threads as u64;
        assert_eq!(walk(&mut pace, 100, 8, time), 1);
        assert_eq!((0..100).filter(|_| walk(&mut pace, 1, 16, time) == 0).count(), 0);
    }

    #[test]
    fn other_programs_on_the_cores_are_noticed() {
        let mut pace = Pace::default();
        let quiet = |threads: usize| 1600 / threads as u64;
        let busy = |threads: usize| if threads > 2 { 3000 } else { 1600 / threads as u64 };
        assert!(walk(&mut pace, 1000, 16, quiet) > 950);
        walk(&mut pace, 1000, 2, busy);
        assert!(walk(&mut pace, 1000, 2, busy) > 900);
        walk(&mut pace, 2000, 16, quiet);
        assert!(walk(&mut pace, 1000, 16, quiet) > 900);
    }

    #[test]
    fn one_interrupted_walk_changes_little() {
        let mut pace = Pace::default();
        let quiet = |threads: usize| 1600 / threads as u64;
        walk(&mut pace, 300, 16, quiet);
        for _ in 0..20 {
            let crew = pace.choose(16);
            pace.learn(crew, Duration::from_millis(50));
            assert!(walk(&mut pace, 20, 16, quiet) >= 18);
        }
    }

    #[test]
    fn costs_follow_the_shortest_times() {
        let mut pace = Pace::default();
        pace.learn_costs([Some(5.0), None].into_iter());
        pace.learn_costs([Some(25.0), Some(3.0)].into_iter());
        pace.learn_costs([Some(4.0), Some(3.0), Some(1.0)].into_iter());
        assert_eq!(pace.costs(), [Some(4.0), Some(3.0), Some(1.0)]);
    }
}
