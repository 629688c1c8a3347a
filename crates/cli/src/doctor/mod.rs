//! `metalworks doctor`: examines this machine, and tests the kernels on its devices.
//!
//! ```text
//! machine: program, system, toolchain ─┐
//! devices: all of them, the chosen one ─┼── findings ── text, or JSON
//! storage: compiled kernels, models ────┤      └ problems, each with advice
//! test: every kernel ───────────────────┘
//! ```

mod devices;
mod findings;
mod machine;
mod problems;
mod storage;
mod test;
mod text;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;

use crate::device::DeviceFlag;
use crate::output::{self, FormatFlag, Outcome};
use findings::{Findings, Severity};
use problems::Problems;

pub(crate) const EXAMPLE: &str = "\
Runs every kernel of the shader library on small sizes and compares the results
with its formula in f64, then measures it on larger sizes.
docs/doctor.md explains the tables and the JSON.

Examples:
  metalworks doctor
  metalworks doctor --device metal --json > doctor.json
  metalworks doctor -v --kernel 'gemv_q4*' --kernel attention
  metalworks doctor --quick

Exit status: 0 success, 1 a kernel fails or something must be fixed, 2 the
device does not exist or cannot run kernels.";

#[derive(Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    device: DeviceFlag,

    /// Test matching kernels only
    ///
    /// Names of kernels, operations, shader files or weight formats; `*` and `?` are wildcards. May be given several
    /// times.
    #[arg(short, long, value_name = "PATTERN")]
    kernel: Vec<String>,

    /// Compare with formula, cpu, or a FILE
    ///
    /// `formula`, the default, evaluates each kernel's formula in f64, `cpu` runs the same kernels on the CPU, and a
    /// FILE has recorded results of another machine.
    #[arg(long, value_name = "WHAT")]
    reference: Option<String>,

    /// Skip the measurements
    #[arg(long)]
    no_speed: bool,

    /// Run no kernels
    #[arg(long, conflicts_with_all = ["kernel", "reference", "no_speed"])]
    quick: bool,

    /// Print each kernel, not each file
    #[arg(short, long)]
    verbose: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    format: FormatFlag,
}

impl Doctor {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let handler = lines.clone();
        compute::log::set_handler(move |line| {
            handler.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
        });
        let mut findings = match self.examine() {
            Ok(findings) => findings,
            // The command line is wrong: there is nothing to print.
            Err(message) => return output::error(&message).map(|()| Outcome::NotTried),
        };
        let mut lines = std::mem::take(&mut *lines.lock().unwrap_or_else(PoisonError::into_inner));
        lines.dedup();
        // Findings of shader validation are problems already.
        lines.retain(|line| !findings.problems.iter().any(|problem| problem.what == *line));
        for line in lines {
            findings.problems.push(problems::note(line, ""));
        }
        findings.problems.sort_by_key(|problem| problem.severity);
        match self.format.is_json(self.json) {
            true => output::json_result(&findings)?,
            false => output::result(&text::text(&findings, self.verbose))?,
        }
        Ok(outcome(&findings))
    }

    fn examine(&self) -> Result<Findings, String> {
        let cases = test::cases(&self.kernel)?;
        let reference = test::ReferenceChoice::parse(self.reference.as_deref())?;
        let mut problems = Problems::default();
        let machine = machine::examine(&mut problems);
        let (devices, chosen) = devices::examine(&self.device, &mut problems);
        let (archive, cache) = storage::examine_cache(&mut problems);
        let models = storage::examine_models(&mut problems);
        let environment = machine::environment(&mut problems);
        let self_test = match &chosen.device {
            Some(device) if !self.quick => {
                test::run(device, archive, &cases, reference, !self.no_speed, &mut problems)?
            }
            _ => None,
        };
        Ok(Findings {
            schema: findings::SCHEMA,
            program: machine.program,
            system: machine.system,
            toolchain: machine.toolchain,
            devices,
            missing: compute::Device::missing().unwrap_or_default(),
            chosen: chosen.finding,
            cache,
            models,
            environment,
            self_test,
            problems: problems.found,
        })
    }
}

/// A device that could not be tested outweighs problems.
fn outcome(findings: &Findings) -> Outcome {
    let failed = findings.self_test.as_ref().is_some_and(|test| test.failed > 0);
    let not_run = findings.self_test.as_ref().is_some_and(|test| test.not_run > 0);
    let error = findings.problems.iter().any(|problem| problem.severity == Severity::Error);
    match findings.chosen.id.is_none() || (not_run && !failed) {
        true => Outcome::NotTried,
        false if failed || error => Outcome::Refused,
        false => Outcome::Fine,
    }
}
