//! Formats the findings as text.

use std::fmt::Write as _;

use super::findings::{
    CacheFinding, DeviceFinding, FailureFinding, Findings, KernelFinding, Models, SelfTestFinding, Severity,
    ShaderCompiler, Status, Toolchain,
};
use crate::output::{count, size};
use crate::table::{Align, Table};

pub(super) fn text(findings: &Findings, verbose: bool) -> String {
    let mut text = machine(findings);
    text += &devices(findings);
    if let Some(test) = &findings.self_test {
        text += &self_test(test, verbose);
    }
    text += &problems(findings);
    text
}

fn machine(findings: &Findings) -> String {
    let Findings { program, system, toolchain, .. } = findings;
    let mut lines: Vec<(&str, String)> = Vec::new();
    let llvm = program.llvm.as_ref().map_or("without LLVM".into(), |version| format!("LLVM {version}"));
    let features = match program.features.is_empty() {
        true => "no features".into(),
        false => format!("features {}", program.features.join(", ")),
    };
    lines.push(("metalworks", format!("{}, {} build, {features}, {llvm}", program.version, program.build)));
    let cpu = system.cpu.as_deref().unwrap_or("an unknown CPU");
    let memory = system.memory_bytes.map_or(String::new(), |bytes| format!(", {}", size(bytes)));
    let cores = count(system.cores, "core");
    lines.push(("system", format!("{}; {}, {cpu}, {cores}{memory}", system.os, system.architecture)));
    let (files, kernels) = (count(toolchain.shaders, "file"), count(toolchain.kernels, "kernel"));
    lines.push(("shaders", format!("{files}, {kernels}, {}", embedded(toolchain))));
    let xcrun = toolchain.xcrun_metal.as_deref();
    let missing = if cfg!(target_os = "macos") { "not installed" } else { "not on this system" };
    lines.push(("xcrun metal", xcrun.unwrap_or(missing).into()));
    lines.push(("cache", cache(&findings.cache)));
    lines.push(("models", models(&findings.models)));
    for (name, value) in &findings.environment {
        lines.push(("variable", format!("{name}={value}")));
    }
    lines.into_iter().map(|(what, text)| format!("{what:<12}{text}\n")).collect()
}

/// Describes the embedded shaders.
fn embedded(toolchain: &Toolchain) -> String {
    let by = match toolchain.compiler {
        None => return "as source".into(),
        Some(ShaderCompiler::Apple) => "Apple's compiler",
        Some(ShaderCompiler::Metalworks) => "Metalworks",
    };
    match toolchain.metallibs {
        number if number == toolchain.shaders => format!("compiled by {by}, and as source"),
        number => format!("{number} of them compiled by {by}, all as source"),
    }
}

fn cache(cache: &CacheFinding) -> String {
    let Some(path) = &cache.path else {
        return format!("off: {}", cache.off.as_deref().unwrap_or("it cannot be opened"));
    };
    let limit = cache.size_limit.map_or(String::new(), |limit| format!(" of {}", size(limit)));
    let entries = if cache.entries == 1 { "1 entry".into() } else { format!("{} entries", cache.entries) };
    let mut text = format!("{path}: {entries}, {}{limit}", size(cache.bytes));
    for (number, what) in [(cache.damaged, "damaged"), (cache.unfinished, "unfinished")] {
        if number > 0 {
            let _ = write!(text, ", {number} {what}");
        }
    }
    if !cache.writable {
        text += ", cannot be written";
    }
    text
}

fn models(models: &Models) -> String {
    let Some(path) = &models.path else { return "no folder".into() };
    let default = if models.default_model { "the default one is there" } else { "the default one is not there" };
    format!("{path}: {}, {}; {default}", count(models.files, "file"), size(models.bytes))
}

fn devices(findings: &Findings) -> String {
    let mut table = Table::new([
        ("device", Align::Left),
        ("name", Align::Left),
        ("family", Align::Left),
        ("threads", Align::Right),
        ("threadgroup memory", Align::Right),
        ("buffer", Align::Right),
        ("working set", Align::Right),
        ("lacks", Align::Left),
    ]);
    for device in &findings.devices {
        table.row([
            device.id.clone(),
            device.name.clone(),
            device.family.clone(),
            device.max_threads_per_threadgroup[0].to_string(),
            size(device.max_threadgroup_memory_bytes as u64),
            size(device.max_buffer_bytes as u64),
            device.recommended_working_set_bytes.map_or(String::new(), size),
            lacks(device),
        ]);
    }
    let chosen = match &findings.chosen.id {
        Some(id) => format!("chosen: {id} ({})", findings.chosen.why),
        None => format!("chosen: none ({})", findings.chosen.why),
    };
    let mut missing = String::new();
    for (name, why) in &findings.missing {
        let _ = writeln!(missing, "no {name} device: {why}");
    }
    format!("\n{}{missing}{chosen}\n", table.render(""))
}

fn lacks(device: &DeviceFinding) -> String {
    let all = [
        (device.simd_reductions, "simd reductions"),
        (device.simdgroup_matrix, "simdgroup matrices"),
        (device.bfloat, "bfloat"),
        (device.nonuniform_threadgroups, "nonuniform threadgroups"),
        (device.unified_memory, "unified memory"),
    ];
    all.into_iter().filter(|(is_there, _)| !is_there).map(|(_, what)| what).collect::<Vec<_>>().join(", ")
}

fn self_test(test: &SelfTestFinding, verbose: bool) -> String {
    let reference = match test.reference.as_str() {
        "cpu" => "the results of the CPU".into(),
        "formula" => "the formulas of the operations".into(),
        file => format!("the results in '{file}'"),
    };
    let kernels = match (test.shaders_from_library, test.shaders_from_source) {
        (_, 0) => "from the embedded libraries".into(),
        (0, _) => "compiled from their source".into(),
        (compiled, source) => {
            format!("of {} from embedded libraries, {source} from source", count(compiled, "file"))
        }
    };
    let mut text = format!("\nself-test on {} against {reference}; kernels {kernels}\n", test.device);
    text += &if verbose { by_kernel(test) } else { by_shader(test) };
    for failure in test.failures.iter().filter(|failure| failure.status == Status::Failed) {
        text += &told(failure, "FAIL");
    }
    // Kernels are mostly not run for the same reason.
    let not_run: Vec<&FailureFinding> =
        test.failures.iter().filter(|failure| failure.status == Status::NotRun).collect();
    if let [first, more @ ..] = &not_run[..] {
        text += &told(first, "NOT RUN");
        if !more.is_empty() {
            let _ = writeln!(text, "and {} more that were not run; --json has all of them", more.len());
        }
    }
    let total = test.kernels.len();
    let _ = write!(text, "\n{} of {} pass", test.passed, count(total, "kernel"));
    for (number, what) in [(test.failed, "fail"), (test.not_run, "were not run")] {
        if number > 0 {
            let _ = write!(text, ", {number} {what}");
        }
    }
    let (compiling, running) = (test.compile_seconds, test.run_seconds);
    let (pipelines, kept) = (count(test.pipelines, "pipeline"), test.pipelines_from_cache);
    text + &format!(" ({pipelines}, {kept} from the cache, in {compiling:.1} s; run in {running:.1} s)\n")
}

fn told(failure: &FailureFinding, status: &str) -> String {
    let mut text = format!("\n{status} {} {}\n", failure.check, failure.shape);
    for pipeline in &failure.pipelines {
        let _ = writeln!(text, "  {pipeline}");
    }
    for line in failure.problem.lines() {
        let _ = writeln!(text, "    {line}");
    }
    text
}

fn by_shader(test: &SelfTestFinding) -> String {
    let mut table = Table::new([
        ("shader", Align::Left),
        ("kernels", Align::Right),
        ("pass", Align::Right),
        ("fail", Align::Right),
        ("not run", Align::Right),
        ("error", Align::Right),
        ("may be", Align::Right),
        ("best GB/s", Align::Right),
        ("best GFLOP/s", Align::Right),
    ]);
    let mut shaders: Vec<&str> = test.kernels.iter().map(|kernel| kernel.shader).collect();
    shaders.dedup();
    for shader in shaders {
        let kernels: Vec<&KernelFinding> = test.kernels.iter().filter(|kernel| kernel.shader == shader).collect();
        let number = |status| kernels.iter().filter(|kernel| kernel.status == status).count();
        let some = |number: usize| if number > 0 { number.to_string() } else { String::new() };
        let part =
            |kernel: &KernelFinding| kernel.error.zip(kernel.bound).map_or(-1.0, |(error, bound)| error / bound);
        let worst = kernels.iter().max_by(|a, b| part(a).total_cmp(&part(b)));
        let best = |value: fn(&super::findings::SpeedFinding) -> f64| {
            let values = kernels.iter().filter_map(|kernel| kernel.speed.as_ref()).map(value);
            values.reduce(f64::max).map_or(String::new(), digits)
        };
        table.row([
            format!("{shader}.metal"),
            kernels.len().to_string(),
            number(Status::Passed).to_string(),
            some(number(Status::Failed)),
            some(number(Status::NotRun)),
            worst.and_then(|kernel| kernel.error).map_or(String::new(), exponent),
            worst.and_then(|kernel| kernel.bound).map_or(String::new(), exponent),
            best(|speed| speed.gigabytes_per_second),
            best(|speed| speed.gigaflops),
        ]);
    }
    table.render("")
}

fn by_kernel(test: &SelfTestFinding) -> String {
    let mut table = Table::new([
        ("kernel", Align::Left),
        ("", Align::Left),
        ("error", Align::Right),
        ("may be", Align::Right),
        ("µs", Align::Right),
        ("GB/s", Align::Right),
        ("GFLOP/s", Align::Right),
        ("sizes", Align::Left),
    ]);
    for kernel in &test.kernels {
        let status = match kernel.status {
            Status::Passed => "pass",
            Status::Failed => "FAIL",
            Status::NotRun => "not run",
        };
        let speed = |value: fn(&super::findings::SpeedFinding) -> f64| {
            kernel.speed.as_ref().map(value).map_or(String::new(), digits)
        };
        table.row([
            kernel.kernel.to_owned(),
            status.to_owned(),
            kernel.error.map_or(String::new(), exponent),
            kernel.bound.map_or(String::new(), exponent),
            speed(|speed| speed.microseconds),
            speed(|speed| speed.gigabytes_per_second),
            speed(|speed| speed.gigaflops),
            kernel.speed.as_ref().map_or(String::new(), |speed| speed.shape.clone()),
        ]);
    }
    table.render("")
}

/// Formats a number: `0`, or `1.2e-9`.
fn exponent(value: f64) -> String {
    if value == 0.0 { "0".into() } else { format!("{value:.1e}") }
}

/// Formats a number with three significant digits; empty for 0.
fn digits(value: f64) -> String {
    match value {
        0.0 => String::new(),
        _ if value < 9.995 => format!("{value:.2}"),
        _ if value < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn problems(findings: &Findings) -> String {
    let mut text = String::from(if findings.problems.is_empty() { "\nno problems found\n" } else { "\n" });
    for problem in &findings.problems {
        let severity = match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let _ = writeln!(text, "{severity}: {}", problem.what);
        if !problem.advice.is_empty() {
            let _ = writeln!(text, "  {}", problem.advice);
        }
    }
    text
}
