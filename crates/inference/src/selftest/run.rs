//! All checks, one after the other.

use super::check::{self, Ran};
use super::compare::{Bound, Difference, compare};
use super::expected::Expected;
use super::record::{Record, RecordedCheck};
use super::report::{CheckReport, Report, Verdict, worse};
use super::speed;
use crate::metal::{MetalDevice, PipelineSet};
use crate::operations::{self, Case, Problem, Purpose, SELF_TEST, Wanted};
use compute::{Error, PipelineConfig, PipelineOrigin};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::time::Instant;

/// What results are compared with.
#[derive(Clone, Copy, Debug)]
pub enum Reference<'a> {
    /// What was computed before.
    Recorded(&'a Record),
    /// What another device computes.
    Device(&'a MetalDevice),
}

/// What is being done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Step {
    Compiling,
    Checking,
    Measuring,
}

/// How far it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// What is being done.
    pub step: Step,
    /// How many are done.
    pub done: usize,
    /// How many there are.
    pub total: usize,
}

/// A test of a device.
#[derive(Clone, Copy, Debug)]
pub struct SelfTest<'a> {
    /// The device.
    pub device: &'a MetalDevice,
    /// What its results are compared with.
    pub reference: Reference<'a>,
    /// Whether times are taken, too.
    pub speed: bool,
}

/// What could not be compiled, by how the pipeline's key reads.
type Failures = BTreeMap<String, Error>;

impl SelfTest<'_> {
    /// Runs cases of [`operations::checked`].
    pub fn run(&self, cases: &[Case], mut progress: impl FnMut(Progress)) -> Report {
        let begin = Instant::now();
        let speeds = if self.speed { measured(cases, self.device) } else { Vec::new() };
        let mut report = Report::default();
        let failures = self.compile(cases, &speeds, &mut report, &mut progress);
        report.compiling = begin.elapsed();
        for (i, case) in cases.iter().enumerate() {
            progress(Progress { step: Step::Checking, done: i, total: cases.len() });
            report.checks.push(self.check(case, &failures));
        }
        for (i, case) in speeds.iter().enumerate() {
            progress(Progress { step: Step::Measuring, done: i, total: speeds.len() });
            // What fails here was told by its check, or will be by the next model that runs: no time is told.
            report.speeds.extend(alone(|| speed::measure(self.device, case).ok().flatten()).ok().flatten());
        }
        report.running = begin.elapsed() - report.compiling;
        report
    }

    /// Creates all pipelines at once, over the cores. What fails does so alone.
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
            Reference::Recorded(_) => None,
        };
        let speeds: Vec<&Case> = speeds.iter().collect();
        for (device, more) in [(self.device, speeds)].into_iter().chain(reference) {
            // A case that cannot be built says so when it is checked.
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
                    // A reference that is missing is told when it is computed.
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
            // A mistake of ours is one of the things that a test is there to find.
            None => alone(|| self.compared(case))
                .unwrap_or_else(|panic| (None, Verdict::Failed(format!("internal error: {panic}")))),
        };
        let (name, shape) = (case.name(), case.shape.to_string());
        CheckReport { name, shape, kernels: case.kernels(), pipelines, error, verdict }
    }

    fn compared(&self, case: &Case) -> (Option<(f64, f64)>, Verdict) {
        let ran = match check::run(self.device, case) {
            Ok(ran) => ran,
            Err(Problem::Device(error)) => return (None, verdict_of(&error)),
            Err(problem) => return (None, Verdict::Failed(problem.to_string())),
        };
        match self.reference {
            Reference::Recorded(record) => match record.find(case) {
                Some(recorded) => judge(&ran, recorded),
                None => (None, Verdict::NotRun("there is no recorded result of it".into())),
            },
            Reference::Device(reference) => match check::run(reference, case) {
                Ok(right) => judge(&ran, &recorded(case, &right, usize::MAX)),
                Err(problem) => (None, Verdict::NotRun(format!("the reference could not be computed: {problem}"))),
            },
        }
    }
}

impl Record {
    /// What a device computes for these cases. The error is about the first that fails.
    pub fn of(device: &MetalDevice, cases: &[Case]) -> Result<Record, String> {
        let mut record = Record::default();
        for case in cases {
            let ran = check::run(device, case).map_err(|problem| format!("{}: {problem}", case.name()))?;
            record.checks.push(recorded(case, &ran, Record::SAMPLES));
        }
        Ok(record)
    }
}

fn recorded(case: &Case, ran: &Ran, samples: usize) -> RecordedCheck {
    let outputs = ran.outputs.iter().map(|output| Expected::of(output, samples)).collect();
    RecordedCheck { name: case.name(), shape: case.shape.to_string(), inputs: ran.inputs, outputs }
}

fn judge(ran: &Ran, right: &RecordedCheck) -> (Option<(f64, f64)>, Verdict) {
    if ran.inputs != right.inputs {
        let (found, expected) = (ran.inputs, right.inputs);
        return (None, Verdict::Wrong(vec![Difference::Inputs { found, expected }]));
    }
    if ran.outputs.len() != right.outputs.len() {
        let problem = format!("it has {} results, not {}", ran.outputs.len(), right.outputs.len());
        return (None, Verdict::Wrong(vec![Difference::Shape(problem)]));
    }
    let (mut error, mut differences) = (None, Vec::new());
    for (output, expected) in ran.outputs.iter().zip(&right.outputs) {
        let compared = compare(output, expected);
        let own = (compared.error, Bound::of(output.number).normalized_mean_square);
        error = Some(error.map_or(own, |other| worse(other, own)));
        differences.extend(compared.difference);
    }
    let verdict = if differences.is_empty() { Verdict::Passed } else { Verdict::Wrong(differences) };
    (error, verdict)
}

/// What panics does so alone.
fn alone<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    std::panic::catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).into())).unwrap_or_default()
    })
}

/// A program without a compiler cannot try what no archive has; all else is a failure.
fn verdict_of(error: &Error) -> Verdict {
    match error {
        Error::Pipeline { cause, .. } if matches!(**cause, Error::ArchiveMiss { .. }) => {
            Verdict::NotRun(error.to_string())
        }
        Error::ArchiveMiss { .. } | Error::OutOfMemory { .. } => Verdict::NotRun(error.to_string()),
        error => Verdict::Failed(error.to_string()),
    }
}

/// The cases to take times of: one for each kernel of `cases` that is the first of one, divided as the device has it.
fn measured(cases: &[Case], device: &MetalDevice) -> Vec<Case> {
    let names: BTreeSet<String> = cases.iter().map(Case::name).collect();
    let mut kernels = BTreeSet::new();
    let mut measured = operations::measured(&SELF_TEST).unwrap_or_default();
    measured.retain(|case| {
        let first = case.kernels().into_iter().next();
        names.contains(&case.name()) && first.is_some_and(|kernel| kernels.insert(kernel))
    });
    let simdgroups = device.tuning().gemm.map_or(1, |gemm| gemm.simdgroups);
    if let Ok(wanted) = Wanted::parse(&format!("S={simdgroups}")) {
        measured.iter_mut().filter(|case| case.operation.name == "gemm").for_each(|case| case.shape.set(&wanted));
    }
    measured
}
