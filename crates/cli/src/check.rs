//! `metalworks check`: checks shaders and prints diagnostics.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use msl::{Compilation, Options, Timings};
use serde_json::{Value, json};

use crate::input;
use crate::language::LanguageFlags;
use crate::output::{self, Color, Outcome, count};

pub(crate) const EXAMPLE: &str = "\
Examples:
  metalworks check shaders/*.metal -I shaders/include
  metalworks check --format json - < gemv.metal

Exit status: 0 success, 1 a file has errors, 2 a file could not be read.";

#[derive(Args)]
pub(crate) struct Check {
    /// Check these shaders; `-` is stdin
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    language: LanguageFlags,

    /// Print warnings, too
    ///
    /// Unused variables, comparisons of signed with unsigned numbers and the like. They do not change the exit status.
    #[arg(short = 'W', long, help_heading = "Output")]
    warnings: bool,

    /// Choose the format of diagnostics [text, json]
    ///
    /// `text` is for people: diagnostics on stderr, a line per accepted file on stdout. `json` is for editors: one
    /// object with everything on stdout.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    format: Format,

    /// Print one JSON object; short for --format json
    #[arg(long, conflicts_with = "format", help_heading = "Output")]
    json: bool,

    /// Print the time of each stage
    ///
    /// On stderr, in milliseconds, for each file. The total includes reading the file.
    #[arg(long, help_heading = "Output")]
    time: bool,

    /// Colour diagnostics [auto, always, never]
    ///
    /// `auto` colours on a terminal, unless the variable NO_COLOR is set.
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    color: Color,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Diagnostics in clang's format
    Text,
    /// One JSON object
    Json,
}

/// A checked file.
struct Checked {
    name: String,
    compiled: Result<Compilation, String>,
    total: Duration,
}

impl Check {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let options = Options { warnings: self.warnings, ..self.language.options() };
        match if self.json { Format::Json } else { self.format } {
            Format::Text => self.run_text(&options),
            Format::Json => self.run_json(&options),
        }
    }

    fn run_text(&self, options: &Options) -> io::Result<Outcome> {
        let mut totals = Totals::default();
        for path in &self.files {
            let checked = Checked::new(path, options);
            checked.print(self.color.on_stderr())?;
            if self.time {
                output::diagnostics(&checked.times())?;
            }
            totals.add(&checked);
        }
        if self.files.len() > 1 {
            output::result(&totals.line())?;
        }
        Ok(totals.outcome())
    }

    fn run_json(&self, options: &Options) -> io::Result<Outcome> {
        let mut totals = Totals::default();
        let mut files = Vec::new();
        for path in &self.files {
            let checked = Checked::new(path, options);
            files.push(checked.to_json(self.time));
            totals.add(&checked);
        }
        output::json_result(&json!({ "files": files }))?;
        Ok(totals.outcome())
    }
}

impl Checked {
    fn new(path: &Path, options: &Options) -> Checked {
        let start = Instant::now();
        let compiled = input::compile(path, options);
        Checked { name: input::display_name(path), compiled, total: start.elapsed() }
    }

    fn outcome(&self) -> Outcome {
        match &self.compiled {
            Err(_) => Outcome::NotTried,
            Ok(compilation) if compilation.has_errors() => Outcome::Refused,
            Ok(_) => Outcome::Fine,
        }
    }

    /// Number of kernels, if the file was accepted.
    fn kernels(&self) -> Option<usize> {
        let compilation = self.compiled.as_ref().ok()?;
        (!compilation.has_errors()).then(|| compilation.program.kernels().count())
    }

    fn print(&self, color: bool) -> io::Result<()> {
        let compilation = match &self.compiled {
            Ok(compilation) => compilation,
            Err(message) => return output::error(message),
        };
        output::styled_diagnostics(&compilation.render_diagnostics(color))?;
        let (errors, warnings) = (compilation.error_count(), compilation.warning_count());
        if let Some(summary) = msl::diagnostics::render::summary(errors, warnings) {
            output::diagnostics(&format!("{}\n", summary.trim_end()))?;
        }
        if let Some(kernels) = self.kernels() {
            output::result(&format!("{}: ok, {}\n", self.name, count(kernels, "kernel")))?;
        }
        Ok(())
    }

    fn times(&self) -> String {
        let Ok(compilation) = &self.compiled else {
            return String::new();
        };
        let Timings { preprocess, parse, check, .. } = &compilation.timings;
        let stages = [("preprocess", *preprocess), ("parse", *parse), ("check", *check), ("total", self.total)];
        let stages = stages.map(|(stage, time)| format!("{stage} {:.2} ms", milliseconds(time)));
        format!("{}: {}\n", self.name, stages.join(", "))
    }

    fn to_json(&self, with_times: bool) -> Value {
        let compilation = match &self.compiled {
            Ok(compilation) => compilation,
            Err(message) => return json!({ "file": self.name, "ok": false, "unreadable": message }),
        };
        let mut value = json!({
            "file": self.name,
            "ok": !compilation.has_errors(),
            "errors": compilation.error_count(),
            "warnings": compilation.warning_count(),
            "kernels": self.kernels(),
            "diagnostics": msl::diagnostics::json::to_json(&compilation.diagnostics, &compilation.sources),
        });
        if with_times {
            let Timings { preprocess, parse, check, .. } = &compilation.timings;
            value["milliseconds"] = json!({
                "preprocess": milliseconds(*preprocess),
                "parse": milliseconds(*parse),
                "check": milliseconds(*check),
                "total": milliseconds(self.total),
            });
        }
        value
    }
}

/// Results of all files.
#[derive(Default)]
struct Totals {
    accepted: usize,
    refused: usize,
    unreadable: usize,
    kernels: usize,
}

impl Totals {
    fn add(&mut self, checked: &Checked) {
        match checked.outcome() {
            Outcome::Fine => self.accepted += 1,
            Outcome::Refused => self.refused += 1,
            Outcome::NotTried | Outcome::Interrupted => self.unreadable += 1,
        }
        self.kernels += checked.kernels().unwrap_or(0);
    }

    fn outcome(&self) -> Outcome {
        match self {
            Totals { unreadable: 1.., .. } => Outcome::NotTried,
            Totals { refused: 1.., .. } => Outcome::Refused,
            Totals { .. } => Outcome::Fine,
        }
    }

    fn line(&self) -> String {
        let mut line = format!("total: {} ok, {}", count(self.accepted, "file"), count(self.kernels, "kernel"));
        if self.refused > 0 {
            line += &format!(", {} with errors", count(self.refused, "file"));
        }
        if self.unreadable > 0 {
            line += &format!(", {} not read", count(self.unreadable, "file"));
        }
        line + "\n"
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
