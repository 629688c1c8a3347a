//! Compares a run with an earlier one. A case counts as faster or slower only beyond the spread of both runs, in the
//! median and in the fastest sample: other programs on the machine affect the median, but rarely the fastest sample.

use crate::result::{Measured, Run};

/// Medians within this ratio count as equal, however small the spread: the next run differs as much.
const TOLERANCE: f64 = 0.03;

/// Outcome for a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Faster,
    Same,
    Slower,
}

/// A case in both runs.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Comparison {
    pub(crate) name: String,
    pub(crate) shape: String,
    pub(crate) before_ns: f64,
    pub(crate) now_ns: f64,
    /// Relative differences up to this are noise.
    pub(crate) noise: f64,
    pub(crate) verdict: Verdict,
}

impl Comparison {
    /// New time relative to the old one.
    pub(crate) fn ratio(&self) -> f64 {
        self.now_ns / self.before_ns
    }
}

/// Comparison of two runs.
#[derive(Clone, Default, Debug)]
pub(crate) struct Compared {
    pub(crate) cases: Vec<Comparison>,
    /// Cases of this run that the earlier one lacks in this shape.
    pub(crate) new: Vec<String>,
    /// Reasons why the runs may not be comparable.
    pub(crate) notes: Vec<String>,
}

impl Compared {
    pub(crate) fn count(&self, verdict: Verdict) -> usize {
        self.cases.iter().filter(|case| case.verdict == verdict).count()
    }
}

pub(crate) fn compare(now: &Run, before: &Run) -> Compared {
    let mut compared = Compared { notes: notes(now, before), ..Compared::default() };
    for case in &now.cases {
        match before.cases.iter().find(|known| (&known.name, &known.shape) == (&case.name, &case.shape)) {
            Some(known) => compared.cases.push(comparison(case, known)),
            None => compared.new.push(format!("{} {}", case.name, case.shape)),
        }
    }
    compared
}

fn comparison(now: &Measured, before: &Measured) -> Comparison {
    let noise = TOLERANCE.max(now.time.spread()).max(before.time.spread());
    let (before_ns, now_ns) = (before.time.median_ns, now.time.median_ns);
    let (median, fastest) = (now_ns / before_ns, now.time.min_ns / before.time.min_ns);
    let verdict = if median > 1.0 + noise && fastest > 1.0 + TOLERANCE {
        Verdict::Slower
    } else if median < 1.0 / (1.0 + noise) && fastest < 1.0 / (1.0 + TOLERANCE) {
        Verdict::Faster
    } else {
        Verdict::Same
    };
    let (name, shape) = (now.name.clone(), now.shape.clone());
    Comparison { name, shape, before_ns, now_ns, noise, verdict }
}

fn notes(now: &Run, before: &Run) -> Vec<String> {
    let mut notes = Vec::new();
    let mut differs = |what: &str, now: &dyn ToString, before: &dyn ToString| {
        let (now, before) = (now.to_string(), before.to_string());
        if now != before {
            notes.push(format!("{what}: {before} before, {now} now"));
        }
    };
    differs("device", &now.device, &before.device);
    differs("threads", &now.threads, &before.threads);
    differs("build", &now.build, &before.build);
    differs("clock", &now.clock, &before.clock);
    differs("cold", &now.cold, &before.cold);
    differs("compiler", &now.compiler, &before.compiler);
    let rates = [
        ("multiply-adds", now.limits.peak(), before.limits.peak()),
        ("copying in memory", now.limits.memory_copy(), before.limits.memory_copy()),
    ];
    for (what, now, before) in rates {
        if now / before > 1.1 || before / now > 1.1 {
            let percent = 100.0 * (now / before - 1.0);
            notes.push(format!("the machine itself differs: {what} {percent:+.0}%"));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::example;

    fn verdict(now: (f64, f64), before: (f64, f64)) -> Verdict {
        let compared = compare(&example(now.0, now.1), &example(before.0, before.1));
        assert_eq!((compared.cases.len(), compared.new.len()), (1, 0));
        assert_eq!(compared.count(compared.cases[0].verdict), 1);
        compared.cases[0].verdict
    }

    #[test]
    fn differences_count_beyond_the_spread_of_both_runs() {
        assert_eq!(verdict((120.0, 0.1), (100.0, 0.1)), Verdict::Slower);
        assert_eq!(verdict((80.0, 0.1), (100.0, 0.1)), Verdict::Faster);
        assert_eq!(verdict((120.0, 0.3), (100.0, 0.1)), Verdict::Same);
        assert_eq!(verdict((120.0, 0.1), (100.0, 0.3)), Verdict::Same);
        assert_eq!(verdict((80.0, 0.3), (100.0, 0.0)), Verdict::Same);
    }

    #[test]
    fn equal_fastest_samples_mean_the_same_speed() {
        let (mut now, before) = (example(200.0, 0.0), example(100.0, 0.0));
        now.cases[0].time.min_ns = 100.0;
        assert_eq!(compare(&now, &before).cases[0].verdict, Verdict::Same);
    }

    #[test]
    fn small_differences_do_not_count() {
        assert_eq!(verdict((102.0, 0.0), (100.0, 0.0)), Verdict::Same);
        assert_eq!(verdict((98.0, 0.0), (100.0, 0.0)), Verdict::Same);
        assert_eq!(verdict((104.0, 0.0), (100.0, 0.0)), Verdict::Slower);
    }

    #[test]
    fn slower_one_way_is_faster_the_other_way() {
        for now in (50..200).map(f64::from) {
            let (there, back) = (verdict((now, 0.1), (100.0, 0.2)), verdict((100.0, 0.2), (now, 0.1)));
            let opposite = match back {
                Verdict::Faster => Verdict::Slower,
                Verdict::Same => Verdict::Same,
                Verdict::Slower => Verdict::Faster,
            };
            assert_eq!(there, opposite, "{now}");
        }
    }

    #[test]
    fn other_shapes_are_new_and_other_machines_are_noted() {
        let (mut now, before) = (example(100.0, 0.1), example(100.0, 0.1));
        assert!(compare(&now, &before).notes.is_empty());
        now.cases[0].shape = "M=8".into();
        now.threads = 4;
        now.limits.kernel_fma = 200.0;
        let compared = compare(&now, &before);
        assert_eq!((compared.cases.len(), compared.new), (0, vec!["gemv_q4_0_f32 M=8".to_string()]));
        assert_eq!(compared.notes, ["threads: 1 before, 4 now", "the machine itself differs: multiply-adds +100%"]);
    }
}
