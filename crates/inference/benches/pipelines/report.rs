//! Measurements and their targets, as a table and as JSON.

use super::Failure;
use serde_json::{Value, json};
use std::io::Write;
use std::time::Duration;

/// Times of repeated runs, in nanoseconds.
#[derive(Clone, Default)]
pub(crate) struct Timings {
    nanos: Vec<f64>,
}

impl Timings {
    pub(crate) fn add(&mut self, time: Duration, items: usize) {
        self.nanos.push(time.as_nanos() as f64 / items as f64);
    }

    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.nanos.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn min(&self) -> f64 {
        self.nanos.iter().copied().fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn runs(&self) -> usize {
        self.nanos.len()
    }
}

/// Target of a measurement.
#[derive(Clone, Copy)]
pub(crate) enum PerformanceTarget {
    Below(f64),
    AtLeast(f64),
    None,
}

impl PerformanceTarget {
    fn is_met(self, value: f64) -> Option<bool> {
        match self {
            PerformanceTarget::Below(limit) => Some(value < limit),
            PerformanceTarget::AtLeast(limit) => Some(value >= limit),
            PerformanceTarget::None => None,
        }
    }

    fn text(self, unit: &str) -> String {
        match self {
            PerformanceTarget::Below(limit) => format!("< {limit} {unit}"),
            PerformanceTarget::AtLeast(limit) => format!(">= {limit} {unit}"),
            PerformanceTarget::None => String::new(),
        }
    }
}

/// Prints measurements as they come, and collects them.
pub(crate) struct Report {
    device: String,
    rows: Vec<Value>,
    missed: usize,
    met: usize,
}

impl Report {
    pub(crate) fn new(device: String) -> Report {
        Report { device, rows: Vec::new(), missed: 0, met: 0 }
    }

    pub(crate) fn introduce(&self) -> Result<(), Failure> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let build = if cfg!(debug_assertions) { "debug build: these numbers mean little" } else { "release build" };
        writeln!(std::io::stdout(), "{}, {cores} cores, {build}", self.device)?;
        writeln!(std::io::stdout(), "medians; compared variants alternate; the column min has the fastest run")?;
        Ok(())
    }

    /// Begins a table. `method` describes in lines how it was measured.
    pub(crate) fn section(&mut self, title: &str, method: &[&str]) -> Result<(), Failure> {
        let mut out = std::io::stdout();
        writeln!(out, "\n{title}\n  {}", method.join("\n  "))?;
        self.rows.push(json!({ "section": title, "method": method.join(" ") }));
        writeln!(out, "  {:<52} {:>12} {:>12} {:>6}  target", "", "median", "min", "runs")?;
        Ok(())
    }

    /// Adds a time.
    pub(crate) fn time(&mut self, name: &str, times: &Timings, target: PerformanceTarget) -> Result<(), Failure> {
        let (median, min, runs) = (times.median(), times.min(), times.runs());
        let (shown, met) = (duration(median), self.judge(target, median));
        let target = target.text("ns");
        writeln!(std::io::stdout(), "  {name:<52} {shown:>12} {:>12} {runs:>6}  {target}{met}", duration(min))?;
        let row =
            json!({ "name": name, "median_ns": median, "min_ns": min, "runs": runs, "target": target.trim_end() });
        self.rows.push(row);
        Ok(())
    }

    /// Adds a ratio or another number.
    pub(crate) fn number(
        &mut self,
        name: &str,
        value: f64,
        unit: &str,
        target: PerformanceTarget,
    ) -> Result<(), Failure> {
        let met = self.judge(target, value);
        let target = target.text(unit);
        writeln!(std::io::stdout(), "  {name:<52} {:>12} {:>20} {target}{met}", format!("{value:.2} {unit}"), "")?;
        self.rows.push(json!({ "name": name, "value": value, "unit": unit, "target": target.trim_end() }));
        Ok(())
    }

    /// Adds the times of a kernel, compiled and from an archive.
    pub(crate) fn kernel(
        &mut self,
        name: &str,
        cold: &Timings,
        archived: &Timings,
        remark: &str,
    ) -> Result<(), Failure> {
        let (cold, archived, runs) = (cold.median(), archived.median(), cold.runs());
        let (left, right) = (duration(cold), duration(archived));
        let ratio = cold / archived;
        writeln!(std::io::stdout(), "    {name:<36} cold {left:>10}   archive {right:>9}   {ratio:>6.0}x{remark}")?;
        self.rows.push(json!({ "kernel": name, "cold_ns": cold, "archive_ns": archived, "runs": runs }));
        Ok(())
    }

    /// Adds a remark.
    pub(crate) fn note(&mut self, text: &str) -> Result<(), Failure> {
        writeln!(std::io::stdout(), "  {text}")?;
        self.rows.push(json!({ "note": text }));
        Ok(())
    }

    fn judge(&mut self, target: PerformanceTarget, value: f64) -> &'static str {
        match target.is_met(value) {
            Some(true) => {
                self.met += 1;
                ", met"
            }
            Some(false) => {
                self.missed += 1;
                ", MISSED"
            }
            None => "",
        }
    }

    pub(crate) fn conclude(&self) -> Result<(), Failure> {
        writeln!(std::io::stdout(), "\ntargets: {} met, {} missed", self.met, self.missed)?;
        Ok(())
    }

    pub(crate) fn json(&self) -> String {
        format!("{:#}\n", json!({ "device": self.device, "rows": self.rows }))
    }
}

fn duration(nanos: f64) -> String {
    match nanos {
        _ if nanos < 1e4 => format!("{nanos:.1} ns"),
        _ if nanos < 1e6 => format!("{:.1} µs", nanos / 1e3),
        _ => format!("{:.2} ms", nanos / 1e6),
    }
}
