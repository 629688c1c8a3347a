//! A run as an HTML page: the roofline plot and the tables. The page is self-contained.

mod roofline;
#[cfg(test)]
mod tests;

use crate::compare::{Compared, Verdict};
use crate::result::{Measured, Run};
use crate::targets::SpeedTarget;
use crate::text::{bytes, number};
use std::fmt::Write;

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #fff; --faint: #d6d9de; --soft: #667;
  --memory: #0969da; --flops: #bc4c00; --good: #1a7f37; --bad: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #16181c; --faint: #3a3f47; --soft: #9aa3af;
  --memory: #58a6ff; --flops: #f0883e; --good: #3fb950; --bad: #f85149; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 75em;
  margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; font-size: 14px; }
td, th { padding: .2em .7em; border-bottom: 1px solid var(--faint); text-align: right; white-space: nowrap; }
td:first-child, th:first-child, .text { text-align: left; }
.wide { overflow-x: auto; } .soft { color: var(--soft); } .good { color: var(--good); } .bad { color: var(--bad); }
svg { width: 100%; height: auto; } svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
svg .soft { fill: var(--soft); font-size: 11px; }
.grid { stroke: var(--faint); } .roof { fill: none; stroke: var(--soft); stroke-width: 1.5; }
.memory { fill: var(--memory); } .arithmetic { fill: var(--flops); } circle { fill-opacity: .75; }
";

/// The page.
pub(crate) fn page(run: &Run, targets: &[SpeedTarget], compared: Option<&Compared>) -> String {
    let mut text = String::from("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
    text += "<meta name=\"viewport\" content=\"width=device-width\">\n<title>metal-shader-bench</title>\n";
    let _ = write!(text, "<style>{STYLE}</style>\n<h1>metal-shader-bench</h1>\n");
    let (device, date, build, compiler) = (escape(&run.device), &run.date, &run.build, escape(&run.compiler));
    let _ = writeln!(text, "<p>{device}, {build} build, {date}<br>");
    let _ = writeln!(text, "<span class=\"soft\">compiler {compiler}</span></p>");
    text += &roofline::plot(run);
    text += &limits(run);
    text += &judged(targets);
    if let Some(compared) = compared {
        text += &changes(compared);
    }
    text += &cases(run);
    text += &not_run(run);
    let _ = writeln!(text, "<h2>Method</h2>\n<p>{}</p>\n</html>", escape(&run.method));
    text
}

fn limits(run: &Run) -> String {
    let head = "<tr><th>bytes touched<th>copy, GB/s<th>read, GB/s<th>copy in Rust, GB/s</tr>\n";
    let mut text = format!("<h2>Limits of the device</h2>\n<table>\n{head}");
    for bandwidth in &run.limits.bandwidths {
        let (size, rates) =
            (bytes(bandwidth.bytes), [bandwidth.copy, bandwidth.read, bandwidth.native_copy].map(number));
        let _ = writeln!(text, "<tr><td>{size}<td>{}<td>{}<td>{}</tr>", rates[0], rates[1], rates[2]);
    }
    let (kernel, native) = (number(run.limits.kernel_fma), number(run.limits.native_fma));
    let instructions = escape(&run.limits.native_instructions);
    text += "</table>\n";
    let _ =
        writeln!(text, "<p>Multiply-adds: {kernel} GFLOP/s by a kernel, {native} in Rust ({instructions}).</p>");
    text
}

fn judged(targets: &[SpeedTarget]) -> String {
    if targets.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "<h2>Targets</h2>\n<table>\n<tr><th>case<th><th class=\"text\">reached<th class=\"text\">wanted</tr>\n",
    );
    for SpeedTarget { case, wanted, reached, is_met } in targets {
        let verdict = if *is_met { "<td class=\"good\">met" } else { "<td class=\"bad\">missed" };
        let (case, reached, wanted) = (escape(case), escape(reached), escape(wanted));
        let _ =
            writeln!(text, "<tr><td>{case}{verdict}<td class=\"text\">{reached}<td class=\"text\">{wanted}</tr>");
    }
    text + "</table>\n"
}

fn changes(compared: &Compared) -> String {
    let mut text = String::from("<h2>Compared with the earlier run</h2>\n");
    for note in &compared.notes {
        let _ = writeln!(text, "<p>Note: {}</p>", escape(note));
    }
    text += "<div class=\"wide\"><table>\n<tr><th>case<th>before, µs<th>now, µs<th>change<th>noise<th></tr>\n";
    for case in &compared.cases {
        let (class, verdict) = match case.verdict {
            Verdict::Faster => ("good", "faster"),
            Verdict::Slower => ("bad", "slower"),
            Verdict::Same => ("soft", "the same"),
        };
        let (name, before, now) = (escape(&case.name), number(case.before_ns / 1e3), number(case.now_ns / 1e3));
        let (change, noise) = (100.0 * (case.ratio() - 1.0), 100.0 * case.noise);
        let _ = write!(text, "<tr><td>{name}<td>{before}<td>{now}<td>{change:+.1}%<td>{noise:.1}%");
        let _ = writeln!(text, "<td class=\"{class}\">{verdict}</tr>");
    }
    text + "</table></div>\n"
}

fn cases(run: &Run) -> String {
    let mut text = String::from("<h2>Cases</h2>\n<div class=\"wide\"><table>\n");
    text += "<tr><th>case<th class=\"text\">shape<th>µs<th>fastest<th>±%<th>samples<th>GB/s<th>GFLOP/s";
    text += "<th>of the limit<th class=\"text\">bound by</tr>\n";
    for case in &run.cases {
        text += &line(case);
    }
    text + "</table></div>\n"
}

fn line(case: &Measured) -> String {
    let (time, bound) = (&case.time, crate::table::binding(case.bound_by));
    let times = [time.median_ns / 1e3, time.min_ns / 1e3, 50.0 * time.spread()].map(number);
    let flops = if case.flops > 0.0 { number(case.gigaflops()) } else { "-".into() };
    let (name, shape, rate) = (escape(&case.name), escape(&case.shape), number(case.gigabytes_per_second()));
    format!(
        "<tr><td title=\"{}\">{name}<td class=\"text\">{shape}<td>{}<td>{}<td>{}<td>{}<td>{rate}<td>{flops}<td>{:.0}%\
         <td class=\"text\">{bound}</tr>\n",
        escape(&case.file),
        times[0],
        times[1],
        times[2],
        time.samples,
        case.percent(),
    )
}

fn not_run(run: &Run) -> String {
    if run.not_run.is_empty() {
        return String::new();
    }
    let mut text = String::from("<h2>Not run</h2>\n<ul>\n");
    for case in &run.not_run {
        let _ =
            writeln!(text, "<li>{}: {} ({})</li>", escape(&case.name), escape(&case.reason), escape(&case.shape));
    }
    text + "</ul>\n"
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
