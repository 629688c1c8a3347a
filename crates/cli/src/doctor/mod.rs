//! `metalworks doctor`: what this machine has, and whether its devices compute what they should.
//!
//! ```text
//! machine: program, system, toolchain ─┐
//! devices: all of them, the chosen one ─┼── findings ── text, or JSON
//! storage: compiled kernels, models ────┤      └ problems, with what to do about each
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
use crate::output::{self, Outcome};
use findings::{Findings, Severity};
use problems::Problems;

pub(crate) const EXAMPLE: &str = "\
Every kernel of the shader library runs once on small sizes and is compared
with its formula, and again on larger ones to take times.
docs/doctor.md explains the tables and the JSON.

Examples:
  metalworks doctor
  metalworks doctor --device metal --json > doctor.json
  metalworks doctor -v --kernel 'gemv_q4*' --kernel attention
  metalworks doctor --quick

Exit status: 0 all fine, 1 a kernel fails or something must be mended, 2 the
device is not there or cannot run kernels.";

#[derive(Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    device: DeviceFlag,

    /// Test some kernels: by name, file or format
    ///
    /// Names of kernels, operations, files of shaders or formats of weights; * and ? stand for anything. Can be given several
    /// times.
    #[arg(short, long, value_name = "PATTERN")]
    kernel: Vec<String>,

    /// Compare with formula, cpu, or a FILE
    ///
    /// `formula`, the default, computes what each kernel should compute in f64, `cpu` runs the same kernels on the
    /// processor, a FILE has recorded results of another machine.
    #[arg(long, value_name = "WHAT")]
    reference: Option<String>,

    /// Take no times
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
        for line in lines {
            findings.problems.push(problems::note(line, ""));
        }
        findings.problems.sort_by_key(|problem| problem.severity);
        match self.json {
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
            chosen: chosen.finding,
            cache,
            models,
            environment,
            self_test,
            problems: problems.found,
        })
    }
}

/// What was not tried at all outweighs what is wrong.
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
