//! A run as a table of text.

use crate::compare::{Compared, Verdict};
use crate::limits::Binding;
use crate::result::{Measured, Run};
use crate::targets::SpeedTarget;
use crate::text::{bytes, number};
use std::fmt::Write;

/// The device and its limits.
pub(crate) fn limits(run: &Run) -> String {
    let mut text = String::new();
    let build = &run.build;
    let remark = if build == "debug" { ", whose loops in Rust are slow" } else { "" };
    let clock = if run.clock == "cpu" { ", CPU time" } else { "" };
    let _ = writeln!(text, "{}, {build} build{remark}{clock}", run.device);
    let _ = writeln!(text, "\n{:<14} {:>12} {:>12} {:>12}", "GB/s", "copy", "read", "copy in Rust");
    for bandwidth in &run.limits.bandwidths {
        let rates = [bandwidth.copy, bandwidth.read, bandwidth.native_copy].map(number);
        let _ = writeln!(text, "{:<14} {:>12} {:>12} {:>12}", bytes(bandwidth.bytes), rates[0], rates[1], rates[2]);
    }
    let (kernel, native) = (number(run.limits.kernel_fma), number(run.limits.native_fma));
    let instructions = &run.limits.native_instructions;
    let _ = writeln!(text, "multiply-adds: {kernel} GFLOP/s by a kernel, {native} in Rust ({instructions})");
    text
}

/// Head of the table of cases.
pub(crate) fn head(width: usize) -> String {
    format!(
        "\n{:<width$} {:>9} {:>9} {:>6} {:>5} {:>7} {:>8} {:>6}  {}\n",
        "case", "µs", "min", "±%", "n", "GB/s", "GFLOP/s", "limit%", "bound by, shape"
    )
}

/// Line of a case.
pub(crate) fn case(case: &Measured, width: usize) -> String {
    let time = &case.time;
    let flops = if case.flops > 0.0 { number(case.gigaflops()) } else { "-".into() };
    format!(
        "{:<width$} {:>9} {:>9} {:>6.1} {:>5} {:>7} {:>8} {:>6.0}  {:<6} {}\n",
        case.name,
        number(time.median_ns / 1e3),
        number(time.min_ns / 1e3),
        50.0 * time.spread(),
        time.samples,
        number(case.gigabytes_per_second()),
        flops,
        case.percent(),
        binding(case.bound_by),
        case.shape,
    )
}

pub(crate) fn binding(binding: Binding) -> &'static str {
    match binding {
        Binding::Memory => "bytes",
        Binding::Arithmetic => "flops",
    }
}

/// Loops in Rust, targets, and cases that were not run.
pub(crate) fn conclusion(run: &Run, targets: &[SpeedTarget]) -> String {
    let mut text = String::new();
    if !run.references.is_empty() {
        let _ = writeln!(text, "\nproducts in Rust ({}), x in f32", run.limits.native_instructions);
    }
    for reference in &run.references {
        let (time, rate) = (number(reference.time.median_ns / 1e3), reference.weights / reference.time.median_ns);
        let _ = writeln!(
            text,
            "{:<6} {:>9} µs  {rate:.1} billion weights/s  {}",
            reference.format, time, reference.shape
        );
    }
    if !targets.is_empty() {
        text += "\ntargets\n";
    }
    for SpeedTarget { case, wanted, reached, is_met } in targets {
        let verdict = if *is_met { "met   " } else { "MISSED" };
        let _ = writeln!(text, "{verdict} {case}: {reached} (wanted: {wanted})");
    }
    let disturbed = run.cases.iter().filter(|case| run.clock == "wall" && case.time.busy < 0.9).count();
    if disturbed > 0 {
        let _ = writeln!(
            text,
            "\nnote: the process had less than 90% of a core in {disturbed} of {} cases: others use this machine, and times \
             are longer than they should be",
            run.cases.len()
        );
    }
    if !run.not_run.is_empty() {
        text += "\nnot run\n";
    }
    for skipped in &run.not_run {
        let _ = writeln!(text, "{}: {} ({})", skipped.name, skipped.reason, skipped.shape);
    }
    text
}

/// Differences from an earlier run.
pub(crate) fn comparison(compared: &Compared, before: &Run) -> String {
    let mut text = format!("\ncompared with {}\n", before.date);
    for note in &compared.notes {
        let _ = writeln!(text, "note: {note}");
    }
    for case in &compared.cases {
        let verdict = match case.verdict {
            Verdict::Faster => "faster",
            Verdict::Slower => "SLOWER",
            Verdict::Same => continue,
        };
        let (before, now) = (number(case.before_ns / 1e3), number(case.now_ns / 1e3));
        let (percent, noise) = (100.0 * (case.ratio() - 1.0), 100.0 * case.noise);
        let (name, shape) = (&case.name, &case.shape);
        let _ =
            writeln!(text, "{verdict} {name}: {before} -> {now} µs, {percent:+.1}% (noise {noise:.1}%)  {shape}");
    }
    let counts = [Verdict::Faster, Verdict::Slower, Verdict::Same].map(|verdict| compared.count(verdict));
    let (new, [faster, slower, same]) = (compared.new.len(), counts);
    let _ = writeln!(text, "{faster} faster, {slower} slower, {same} the same, {new} not in the earlier run");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::example;

    #[test]
    fn a_run_as_text() {
        let run = example(2e6, 0.1);
        let text =
            [limits(&run), head(20), case(&run.cases[0], 20), conclusion(&run, &crate::targets::judge(&run))];
        let text = text.concat();
        for part in ["256 MiB", "gemv_q4_0_f32", "2000", "50  bytes", "met    gemv_q4_0_f32", "too <short>"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let before = example(1e6, 0.1);
        let text = comparison(&crate::compare::compare(&run, &before), &before);
        assert!(text.contains("SLOWER gemv_q4_0_f32: 1000 -> 2000 µs, +100.0% (noise 10.0%)"), "{text}");
        assert!(text.ends_with("0 faster, 1 slower, 0 the same, 0 not in the earlier run\n"), "{text}");
    }
}
