//! The program `metal-shader-bench`: measures the kernels of the shader library and compares them with the limits of
//! the device.
//!
//! ```text
//! metalworks_inference::cases: one line for each operation, buffers, and the functions that inference calls
//!     ── measure: recorded, warmed up, sampled ──┐
//! limits, native: bandwidths, multiply-adds ─────┴── result ── table, html, JSON
//!                                                      └── compare: with an earlier one; targets
//! ```
//!
//! Results go to stdout, everything else to stderr. The exit status is 0 for success, 1 if the input is wrong or
//! something became slower, and 2 if the run was not possible.

mod arguments;
mod compare;
mod html;
mod limits;
mod measure;
mod native;
mod progress;
mod result;
mod run;
mod table;
mod targets;
mod text;

use arguments::{Cli, Command, ListArguments};
use clap::Parser;
use metalworks_inference::cases::{self, UnknownName};
use std::fmt::Write as _;
use std::io::Write;
use std::process::ExitCode;

/// Reason for a failed run.
pub(crate) enum Failure {
    /// The input is wrong, or a case is slower than allowed.
    Input(String),
    /// The run was not possible.
    NotTried(String),
    /// The reader of stdout is gone.
    Closed,
}

impl From<compute::Error> for Failure {
    fn from(error: compute::Error) -> Failure {
        Failure::NotTried(error.to_string())
    }
}

impl From<UnknownName> for Failure {
    fn from(unknown: UnknownName) -> Failure {
        let hint = if unknown.similar.is_empty() { "; 'metal-shader-bench list' has all names" } else { "" };
        Failure::Input(format!("{unknown}{hint}"))
    }
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::List(arguments) => list(&arguments),
        Command::Run(arguments) => run::run(&arguments),
    };
    let (status, problem) = match done {
        Ok(()) | Err(Failure::Closed) => return ExitCode::SUCCESS,
        Err(Failure::Input(problem)) => (1, problem),
        Err(Failure::NotTried(problem)) => (2, problem),
    };
    // If stderr is closed, the exit status has to suffice.
    let _ = writeln!(std::io::stderr(), "error: {problem}");
    ExitCode::from(status)
}

/// Writes a result.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| match error.kind() {
        std::io::ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::NotTried(format!("cannot write to stdout: {error}")),
    })
}

fn list(arguments: &ListArguments) -> Result<(), Failure> {
    let model = arguments.model();
    let all = cases::measured(model).map_err(Failure::NotTried)?;
    let cases = cases::select(all, &arguments.names)?;
    let width = cases.iter().map(|case| case.name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for case in &cases {
        let (name, file) = (case.name(), case.file());
        let kernels: Vec<String> = case.kernels().into_iter().filter(|kernel| *kernel != name).collect();
        let kernels = if kernels.is_empty() { String::new() } else { format!("  ({})", kernels.join(", ")) };
        let _ = writeln!(text, "{name:<width$}  {file:<18}  {}{kernels}", case.shape);
    }
    for (kernel, reason) in cases::NOT_COVERED.iter().filter(|_| arguments.names.is_empty()) {
        let _ = writeln!(text, "{kernel:<width$}  not measured: {reason}");
    }
    let _ = writeln!(text, "{} cases, shapes of {} ({})", cases.len(), model.name, model.about);
    print(&text)
}
