//! Tests every kernel of the shader library on the chosen device.

use compute::{BinaryArchive, Device, Finding, LibraryOrigin};
use inference::cases::{self, Case};
use inference::metal::MetalDevice;
use inference::selftest::{CheckReport, KernelReport, Record, Reference, Report, SelfTest, Step, Verdict};

use super::findings::{FailureFinding, KernelFinding, SelfTestFinding, SpeedFinding, Status};
use super::problems::Problems;
use crate::input;
use crate::output::count;
use crate::progress::Progress;

/// The reference to compare results with.
pub(super) enum ReferenceChoice {
    Formula,
    Cpu,
    File(String, Record),
}

impl ReferenceChoice {
    pub(super) fn parse(text: Option<&str>) -> Result<ReferenceChoice, String> {
        match text {
            None | Some("formula") => Ok(ReferenceChoice::Formula),
            Some("cpu") if cfg!(llvm) => Ok(ReferenceChoice::Cpu),
            Some("cpu") => {
                Err("--reference cpu: this program cannot compile for the CPU; build it with '--features cpu'"
                    .into())
            }
            Some(path) => {
                let text = input::text(path.as_ref())?;
                let record = Record::parse(&text).map_err(|error| format!("cannot read '{path}': {error}"))?;
                Ok(ReferenceChoice::File(path.into(), record))
            }
        }
    }
}

/// The checks of matching kernels.
pub(super) fn cases(patterns: &[String]) -> Result<Vec<Case>, String> {
    let cases = cases::checked()?;
    cases::select(cases, patterns).map_err(|unknown| {
        let hint = if unknown.similar.is_empty() { "; 'metalworks doctor -v' prints all kernels" } else { "" };
        format!("--kernel: {unknown}{hint}")
    })
}

/// Runs the checks. `None` if the shader library cannot be opened.
pub(super) fn run(
    device: &Device,
    archive: Option<BinaryArchive>,
    cases: &[Case],
    choice: ReferenceChoice,
    speed: bool,
    problems: &mut Problems,
) -> Result<Option<SelfTestFinding>, String> {
    let library = |device: &Device| MetalDevice::with_device(device.clone(), archive.clone());
    let tested = match library(device) {
        Ok(tested) => tested,
        Err(error) => {
            problems.error(format!("the shader library cannot be opened on {}: {error}", device.name()), REPORT);
            return Ok(None);
        }
    };
    let (record, processor);
    let (name, reference) = match choice {
        ReferenceChoice::File(path, given) => {
            record = given;
            (path, Reference::Recorded(&record))
        }
        ReferenceChoice::Cpu => {
            processor = Device::cpu().and_then(|cpu| library(&cpu)).map_err(|error| error.to_string())?;
            ("cpu".into(), Reference::Device(&processor))
        }
        ReferenceChoice::Formula => ("formula".into(), Reference::Formula),
    };
    let mut progress = Progress::new();
    let report = SelfTest { device: &tested, reference, speed }.run(cases, |now| {
        let (step, things) = match now.step {
            Step::Compiling => ("compiling", "kernels"),
            Step::Checking => ("checking", "operations"),
            Step::Measuring => ("measuring", "operations"),
        };
        progress.show_count(step, now.done as u64, now.total as u64, things);
    });
    drop(progress);
    for problem in archive.iter().flat_map(BinaryArchive::problems) {
        problems.warning(format!("compiled kernels: {problem}"), "they are compiled again at the next start");
    }
    mistakes(&device.take_findings(), problems);
    let finding = finding(&tested, name, &report);
    conclude(&finding, problems);
    Ok(Some(finding))
}

const REPORT: &str = "please report it, with what 'metalworks doctor --json' prints";

/// Findings of shader validation, which `METALWORKS_VALIDATION=shader` turns on.
fn mistakes(findings: &[Finding], problems: &mut Problems) {
    for finding in findings {
        problems.error(finding.to_string(), "");
    }
}

fn conclude(finding: &SelfTestFinding, problems: &mut Problems) {
    if finding.failed > 0 {
        let (failed, device) = (count(finding.failed, "kernel"), &finding.device);
        let verb = if finding.failed == 1 { "fails" } else { "fail" };
        problems.error(format!("{failed} {verb} on {device}: models that need them give wrong answers"), REPORT);
    }
    if finding.not_run > 0 {
        let what = format!("{} could not be run on {}", count(finding.not_run, "kernel"), finding.device);
        let advice = match cfg!(llvm) || finding.device != "cpu" {
            true => "see the reasons below",
            false if cfg!(target_os = "macos") => {
                "this program compiles for GPUs only: use '--device metal', or build it with '--features cpu'"
            }
            false => "this program has no compiler: build it with its default features",
        };
        problems.error(what, advice);
    }
}

fn finding(device: &MetalDevice, reference: String, report: &Report) -> SelfTestFinding {
    let origins = device.library_origins();
    let shaders = |wanted| origins.values().filter(|origin| **origin == wanted).count();
    let kernels: Vec<KernelFinding> = report.kernels().iter().map(kernel).collect();
    let number = |status| kernels.iter().filter(|kernel| kernel.status == status).count();
    SelfTestFinding {
        device: device.device().id(),
        reference,
        shaders_from_library: shaders(LibraryOrigin::Metallib),
        shaders_from_source: shaders(LibraryOrigin::Source),
        passed: number(Status::Passed),
        failed: number(Status::Failed),
        not_run: number(Status::NotRun),
        pipelines: report.pipelines,
        pipelines_from_cache: report.archived,
        compile_seconds: report.compiling.as_secs_f64(),
        run_seconds: report.running.as_secs_f64(),
        failures: report.checks.iter().filter_map(failure).collect(),
        kernels,
    }
}

fn kernel(report: &KernelReport<'_>) -> KernelFinding {
    let error = report.error();
    KernelFinding {
        kernel: report.kernel,
        shader: report.shader,
        status: status(report.verdict()),
        checks: report.checks.len(),
        error: error.map(|(error, _)| error).filter(|error| error.is_finite()),
        bound: error.map(|(_, bound)| bound),
        speed: report.speed.map(|speed| SpeedFinding {
            shape: speed.shape.clone(),
            microseconds: speed.nanoseconds / 1e3,
            gigabytes_per_second: speed.gigabytes_per_second(),
            gigaflops: speed.gigaflops(),
        }),
    }
}

fn status(verdict: &Verdict) -> Status {
    match verdict {
        Verdict::Passed => Status::Passed,
        Verdict::Wrong(_) | Verdict::Failed(_) => Status::Failed,
        Verdict::NotRun(_) => Status::NotRun,
    }
}

fn failure(check: &CheckReport) -> Option<FailureFinding> {
    let problem = match &check.verdict {
        Verdict::Passed => return None,
        Verdict::Wrong(differences) => differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        Verdict::Failed(problem) | Verdict::NotRun(problem) => problem.clone(),
    };
    Some(FailureFinding {
        check: check.name.clone(),
        shape: check.shape.clone(),
        status: status(&check.verdict),
        kernels: check.kernels.clone(),
        pipelines: check.pipelines.clone(),
        problem,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::findings::Severity;
    use compute::FindingKind;

    #[test]
    fn findings_of_shader_validation_are_errors() {
        let mut problems = Problems::default();
        mistakes(&[Finding::of_kernel(FindingKind::Race, "gemv", "4 bytes of 'tile'".into())], &mut problems);
        let [problem] = &problems.found[..] else { panic!("{} problems", problems.found.len()) };
        assert!(problem.severity == Severity::Error);
        assert!(problem.what.ends_with(" [race]"), "{}", problem.what);
    }
}
