//! Runs all checks in order.

use super::check::{self, Check};
use super::expected::Expected;
use super::record::{Record, RecordedCheck};
use super::report::{CheckReport, Report, Verdict};
use super::speed;
use crate::cases::{self, Case, Problem, Purpose, SELF_TEST};
use crate::metal::{MetalDevice, PipelineSet};
use compute::{Error, PipelineConfig, PipelineOrigin};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::time::Instant;

/// Reference that results are compared with.
#[derive(Clone, Copy, Default, Debug)]
pub enum Reference<'a> {
    /// Formulas of the operations, in f64: compares all numbers.
    #[default]
    Formula,
    /// Another device: compares all numbers.
    Device(&'a MetalDevice),
    /// Recorded results: compares samples.
    Recorded(&'a Record),
}

/// Step of a self-test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Step {
    Compiling,
    Checking,
    Measuring,
}

/// Progress of a self-test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Current step.
    pub step: Step,
    /// Kernels or operations that the step has completed.
    pub done: usize,
    /// Total kernels or operations of the step.
    pub total: usize,
}

/// A self-test of a device.
#[derive(Clone, Copy, Debug)]
pub struct SelfTest<'a> {
    /// The device.
    pub device: &'a MetalDevice,
    /// Reference for its results.
    pub reference: Reference<'a>,
    /// True to measure times as well.
    pub speed: bool,
}

/// Errors of pipelines that could not be created, by the text of their keys.
type Failures = BTreeMap<String, Error>;

impl SelfTest<'_> {
    /// Runs cases of [`cases::checked`].
    pub fn run(&self, cases: &[Case], mut progress: impl FnMut(Progress)) -> Report {
        let begin = Instant::now();
        let speeds = if self.speed { measured(cases) } else { Vec::new() };
        let mut report = Report::default();
        let failures = self.compile(cases, &speeds, &mut report, &mut progress);
        report.compiling = begin.elapsed();
        for (i, case) in cases.iter().enumerate() {
            progress(Progress { step: Step::Checking, done: i, total: cases.len() });
            report.checks.push(self.check(case, &failures));
        }
        for (i, case) in speeds.iter().enumerate() {
            progress(Progress { step: Step::Measuring, done: i, total: speeds.len() });
            // The case's check reports a failure; here it only has no time.
            report.speeds.extend(catch_panic(|| speed::measure(self.device, case).ok().flatten()).ok().flatten());
        }
        report.running = begin.elapsed() - report.compiling;
        report
    }

    /// Creates all pipelines in parallel. One that fails does not stop the others.
    fn compile(
        &self,
        cases: &[Case],
        speeds: &[Case],
        report: &mut Report,
        progress: &mut impl FnMut(Progress),
    ) -> Failures {
        let mut failures = Failures::new();
        let reference = match self.reference {
            Reference::Device(reference) => Some((reference, Vec::new())),
            Reference::Formula | Reference::Recorded(_) => None,
        };
        let speeds: Vec<&Case> = speeds.iter().collect();
        for (device, more) in [(self.device, speeds)].into_iter().chain(reference) {
            // The check of a case that cannot be built reports the reason.
            let checks = cases.iter().map(|case| (case, Purpose::Check));
            let all = checks.chain(more.into_iter().map(|case| (case, Purpose::Measure)));
            let sets = all.filter_map(|(case, purpose)| check::pipelines(device, case, purpose).ok());
            let set: PipelineSet = sets.flat_map(|set| set.iter().cloned().collect::<Vec<_>>()).collect();
            let configs: Vec<PipelineConfig> = set.iter().cloned().collect();
            let results = device.pipelines().create_all(&configs, |now| {
                progress(Progress { step: Step::Compiling, done: now.done, total: now.total });
            });
            report.pipelines += configs.len();
            for (config, result) in configs.iter().zip(results.iter()) {
                match result {
                    Ok(pipeline) => report.archived += usize::from(pipeline.origin() == PipelineOrigin::Archive),
                    Err(error) if std::ptr::eq(device, self.device) => {
                        failures.insert(config.key().to_string(), error.clone());
                    }
                    // The check reports that its reference could not be computed.
                    Err(_) => {}
                }
            }
        }
        failures
    }

    fn check(&self, case: &Case, failures: &Failures) -> CheckReport {
        let pipelines = check::pipelines(self.device, case, Purpose::Check).unwrap_or_default();
        let pipelines: Vec<String> = pipelines.iter().map(|config| config.key().to_string()).collect();
        let known = pipelines.iter().find_map(|pipeline| failures.get(pipeline));
        let (error, verdict) = match known {
            Some(error) => (None, verdict_of(error)),
            // A self-test should report our own panics, too.
            None => catch_panic(|| self.compared(case))
                .unwrap_or_else(|panic| (None, Verdict::Failed(format!("internal error: {panic}")))),
        };
        let (name, shape) = (case.name(), case.shape.to_string());
        CheckReport { name, shape, kernels: case.kernels(), pipelines, error, verdict }
    }

    fn compared(&self, case: &Case) -> (Option<(f64, f64)>, Verdict) {
        let check = match ran(self.device, case) {
            Ok(check) => check,
            Err(Problem::Device(error)) => return (None, verdict_of(&error)),
            Err(problem) => return (None, Verdict::Failed(problem.to_string())),
        };
        match self.reference {
            Reference::Formula => check.verdict(),
            Reference::Device(reference) => match ran(reference, case) {
                Ok(other) => check.verdict_beside(&other),
                Err(problem) => (None, Verdict::NotRun(format!("the reference could not be computed: {problem}"))),
            },
            Reference::Recorded(record) => match record.find(case) {
                Some(recorded) => check.verdict_by(recorded),
                None => (None, Verdict::NotRun("there is no recorded result of it".into())),
            },
        }
    }
}

fn ran(device: &MetalDevice, case: &Case) -> Result<Check, Problem> {
    let check = Check::new(device, case)?;
    check.run(device)?;
    Ok(check)
}

impl Record {
    /// Records the results of a device for these cases. The error is that of the first case that fails.
    pub fn of(device: &MetalDevice, cases: &[Case]) -> Result<Record, String> {
        let mut record = Record::default();
        for case in cases {
            let check = ran(device, case).map_err(|problem| format!("{}: {problem}", case.name()))?;
            let outputs = check.outputs.iter().map(|output| Expected::of(output, Record::SAMPLES)).collect();
            let (name, shape, inputs) = (case.name(), case.shape.to_string(), check.digest);
            record.checks.push(RecordedCheck { name, shape, inputs, outputs });
        }
        Ok(record)
    }
}

/// Turns a panic into an error.
fn catch_panic<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    std::panic::catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).into())).unwrap_or_default()
    })
}

/// Without a compiler, pipelines that no archive has cannot be tried; every other error is a failure.
fn verdict_of(error: &Error) -> Verdict {
    match error {
        Error::Pipeline { cause, .. } if matches!(**cause, Error::ArchiveMiss { .. }) => {
            Verdict::NotRun(error.to_string())
        }
        Error::ArchiveMiss { .. } | Error::OutOfMemory { .. } => Verdict::NotRun(error.to_string()),
        error => Verdict::Failed(error.to_string()),
    }
}

/// Cases to measure: one for each kernel that is the first kernel of a case in `cases`.
fn measured(cases: &[Case]) -> Vec<Case> {
    let names: BTreeSet<String> = cases.iter().map(Case::name).collect();
    let mut kernels = BTreeSet::new();
    let mut measured = cases::measured(&SELF_TEST).unwrap_or_default();
    measured.retain(|case| {
        let first = case.kernels().into_iter().next();
        names.contains(&case.name()) && first.is_some_and(|kernel| kernels.insert(kernel))
    });
    measured
}
