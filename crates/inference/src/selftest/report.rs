//! Report of a self-test, by check and by kernel.

use super::compare::Difference;
use super::speed::Speed;
use crate::metal::kernels::ALL;
use std::time::Duration;

/// Outcome of a check or of all checks of a kernel.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// All results are right.
    Passed,
    /// Some results are wrong.
    Wrong(Vec<Difference>),
    /// It cannot be compiled, or fails at run time.
    Failed(String),
    /// It could not be run, or there is no reference to compare it with.
    NotRun(String),
}

/// Report of one check.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckReport {
    /// Name of the case.
    pub name: String,
    /// Its sizes.
    pub shape: String,
    /// Its kernels.
    pub kernels: Vec<String>,
    /// Dispatched pipelines: kernels with their constants.
    pub pipelines: Vec<String>,
    /// Σ(actual − expected)² / Σ expected² of its worst output, and the tolerance; `None` if nothing was compared.
    pub error: Option<(f64, f64)>,
    /// Outcome.
    pub verdict: Verdict,
}

/// Report of a self-test.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Report {
    /// Checks, in the order of the operations.
    pub checks: Vec<CheckReport>,
    /// Times, if requested.
    pub speeds: Vec<Speed>,
    /// Number of pipelines created.
    pub pipelines: usize,
    /// Number of these that came from an archive.
    pub archived: usize,
    /// Time to create them.
    pub compiling: Duration,
    /// Time of everything else.
    pub running: Duration,
}

/// Report of one kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelReport<'a> {
    /// Its name.
    pub kernel: &'static str,
    /// The file that defines it, without `.metal`.
    pub shader: &'static str,
    /// Checks that ran it.
    pub checks: Vec<&'a CheckReport>,
    /// Its time, including the kernels that run with it.
    pub speed: Option<&'a Speed>,
}

impl Report {
    /// True if every check passed.
    pub fn is_fine(&self) -> bool {
        self.checks.iter().all(|check| check.verdict == Verdict::Passed)
    }

    /// Reports of all kernels that checks run, in the order of the library.
    pub fn kernels(&self) -> Vec<KernelReport<'_>> {
        let report = |kernel: &'static crate::metal::library::KernelInfo| {
            let runs = |kernels: &[String]| kernels.iter().any(|name| name == kernel.name);
            let checks: Vec<&CheckReport> = self.checks.iter().filter(|check| runs(&check.kernels)).collect();
            // The time of several kernels is reported for the first.
            let first = |speed: &&Speed| speed.kernels.first().is_some_and(|name| name == kernel.name);
            let speed = self.speeds.iter().find(first);
            let shader = kernel.shader.name;
            (!checks.is_empty()).then_some(KernelReport { kernel: kernel.name, shader, checks, speed })
        };
        ALL.iter().filter_map(report).collect()
    }
}

impl KernelReport<'_> {
    /// Worst outcome of its checks.
    pub fn verdict(&self) -> &Verdict {
        let rank = |verdict: &Verdict| match verdict {
            Verdict::Passed => 0,
            Verdict::NotRun(_) => 1,
            Verdict::Failed(_) | Verdict::Wrong(_) => 2,
        };
        let worst = self.checks.iter().map(|check| &check.verdict).max_by_key(|verdict| rank(verdict));
        worst.unwrap_or(&Verdict::Passed)
    }

    /// Worst error, and its tolerance.
    pub fn error(&self) -> Option<(f64, f64)> {
        self.checks.iter().filter_map(|check| check.error).reduce(worse)
    }
}

/// The worse of two errors, relative to their tolerances.
pub(super) fn worse(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let part = |(error, bound): (f64, f64)| match (error.is_nan(), bound > 0.0) {
        (true, _) => f64::INFINITY,
        (false, true) => error / bound,
        (false, false) if error == 0.0 => -1.0,
        (false, false) => f64::INFINITY,
    };
    if part(b) > part(a) { b } else { a }
}
