//! Shader validation: its flags, and its findings as text, JSON and SARIF.

mod json;
mod lines;
mod sarif;
mod text;

use std::io;
use std::num::NonZero;

use clap::{Args, ValueEnum};
use compute::{CodePlace, Device, Finding, ShaderChecks, ShaderValidation, SourceLocation};

use crate::number::positive;
use crate::output::{self, Outcome};

#[derive(Args)]
#[command(next_help_heading = "Validation")]
pub(crate) struct ValidationFlags {
    /// Check kernels as they run [bounds, races, all]
    ///
    /// Compiles checks into the kernels. `bounds` finds accesses outside of buffers and arrays, misaligned ones, barriers
    /// that not all threads reach, lanes that are not active, faulty arithmetic and endless loops; `races` finds data
    /// races and memory that is read before it is written. Findings go to stderr, with their lines. Only on the CPU.
    #[arg(long, value_name = "CHECKS", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    #[arg(hide_possible_values = true)]
    validate: Option<Checks>,

    /// Check for NaNs and infinities, too
    #[arg(long, requires = "validate")]
    nan: bool,

    /// Limit the number of findings
    ///
    /// The same mistake at the same place is one finding. With 1, the kernel stops there; otherwise it goes on: a read
    /// outside of a buffer gives 0, and a write is dropped. By default 100.
    #[arg(long, value_name = "NUMBER", requires = "validate", value_parser = positive)]
    findings: Option<NonZero<usize>>,

    /// Limit the iterations of loops
    ///
    /// A threadgroup whose loops run more of them than this stops with the finding `endless-loop`. By default 67108864.
    #[arg(long, value_name = "NUMBER", requires = "validate", value_parser = positive)]
    steps: Option<NonZero<usize>>,

    /// Choose the format of findings [text, json, sarif]
    ///
    /// `text` goes to stderr, like the diagnostics of the compiler; `json` and `sarif` go to stdout, and take the place of
    /// the report of `exec`.
    #[arg(long, value_name = "FORMAT", default_value = "text", requires = "validate")]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    format: FindingsFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Checks {
    Bounds,
    Races,
    All,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FindingsFormat {
    Text,
    Json,
    Sarif,
}

impl ValidationFlags {
    /// True if kernels are validated.
    pub(crate) fn is_on(&self) -> bool {
        self.validate.is_some()
    }

    /// True if findings replace other results on stdout.
    pub(crate) fn has_own_output(&self) -> bool {
        self.validate.is_some() && self.format != FindingsFormat::Text
    }

    /// Turns validation on, before libraries are opened.
    pub(crate) fn apply(&self, device: &Device) -> compute::Result<()> {
        let Some(checks) = self.validate else { return Ok(()) };
        let defaults = ShaderValidation::default();
        device.set_shader_validation(Some(ShaderValidation {
            checks: ShaderChecks {
                bounds: checks != Checks::Races,
                races: checks != Checks::Bounds,
                nan: self.nan,
            },
            stops_at_first: self.findings.is_some_and(|findings| findings.get() == 1),
            most_findings: self.most_findings(),
            step_budget: self.steps.map_or(defaults.step_budget, |steps| steps.get() as u64),
        }))
    }

    fn most_findings(&self) -> usize {
        self.findings.map_or(ShaderValidation::default().most_findings, NonZero::get)
    }

    /// Prints the findings of a device. `stopped_at` is the one that ended a command buffer, and `kernel` the place of the
    /// kernel in its source, for mistakes that no line of it makes.
    pub(crate) fn print(
        &self,
        device: &Device,
        stopped_at: Option<Finding>,
        kernel: impl Fn() -> Option<SourceLocation>,
    ) -> io::Result<Outcome> {
        match self.validate {
            Some(_) => self.show(self.collect(device, stopped_at, kernel)),
            // Those that METALWORKS_VALIDATION asks for have been logged.
            None if device.take_findings().is_empty() => Ok(Outcome::Fine),
            None => Ok(Outcome::Refused),
        }
    }

    /// [`ValidationFlags::print`] after an error: "no findings" about a kernel that did not run would mislead.
    pub(crate) fn print_after_error(
        &self,
        device: &Device,
        stopped_at: Option<Finding>,
        kernel: impl Fn() -> Option<SourceLocation>,
    ) -> io::Result<Outcome> {
        let findings = self.collect(device, stopped_at, kernel);
        if findings.is_empty() { Ok(Outcome::Fine) } else { self.show(findings) }
    }

    fn collect(
        &self,
        device: &Device,
        stopped_at: Option<Finding>,
        kernel: impl Fn() -> Option<SourceLocation>,
    ) -> Vec<Finding> {
        if self.validate.is_none() {
            return Vec::new();
        }
        let mut findings = device.take_findings();
        if let Some(finding) = stopped_at.filter(|finding| !findings.iter().any(|known| is_same(known, finding))) {
            findings.push(finding);
        }
        let has_no_place = |finding: &&mut Finding| finding.place == CodePlace::default();
        for finding in findings.iter_mut().filter(has_no_place) {
            finding.place.locations.extend(kernel());
        }
        findings
    }

    fn show(&self, findings: Vec<Finding>) -> io::Result<Outcome> {
        match self.format {
            FindingsFormat::Text => output::diagnostics(&text::render(&findings, self.most_findings()))?,
            FindingsFormat::Json => output::json_result(&json::render(&findings))?,
            FindingsFormat::Sarif => {
                output::json_result(&sarif::render(&findings, &std::env::current_dir().unwrap_or_default()))?
            }
        }
        Ok(if findings.is_empty() { Outcome::Fine } else { Outcome::Refused })
    }
}

fn is_same(a: &Finding, b: &Finding) -> bool {
    (a.kind, &a.place, &a.kernel) == (b.kind, &b.place, &b.kernel)
}

/// One sentence: the mistake and its values.
fn message(finding: &Finding) -> String {
    match finding.detail.as_str() {
        "" => finding.kind.description().into(),
        detail => format!("{}: {detail}", finding.kind.description()),
    }
}

#[cfg(test)]
mod tests;
