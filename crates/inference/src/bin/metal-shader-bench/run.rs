//! `run`: measures the limits, then all cases, and writes the results.

use crate::arguments::RunArguments;
use crate::limits::{self, Limits};
use crate::measure::{self, Effort, OperationInstance};
use crate::progress::Progress;
use crate::result::{Measured, NotRun, Reference, Run};
use crate::{Failure, compare, html, native, print, table, targets, text};
use compute::BinaryArchive;
use metalworks_inference::cases::{self, Case, Maker, Problem, Purpose, Wanted};
use metalworks_inference::formats::Format;
use metalworks_inference::metal::MetalDevice;
use std::path::Path;
use std::time::Duration;

/// Number of instances of a case, and the maximum size of its buffers for more than one.
const INSTANCES: usize = 5;
const SMALL: usize = 16 << 20;

/// Total bytes of the copies of a cold case: larger than caches.
const COLD: usize = 256 << 20;

pub(crate) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    // All errors in the arguments are reported before anything is measured.
    let wanted = Wanted::parse(&arguments.shape.join(","))
        .map_err(|problem| Failure::Input(format!("--shape: {problem}")))?;
    let cases = cases(arguments, &wanted)?;
    let before = arguments.baseline.as_deref().map(Run::read).transpose().map_err(Failure::Input)?;
    for path in [&arguments.json, &arguments.html].into_iter().flatten() {
        is_writable(path)?;
    }
    let effort = Effort {
        samples: if arguments.quick { 3 } else { arguments.samples() },
        min_time: Duration::from_secs_f64(arguments.min_time),
        clock: arguments.clock(),
        quick: arguments.quick,
    };
    let device = MetalDevice::with_device(arguments.find_device()?, BinaryArchive::user_cache()?)?;

    let mut progress = Progress::new(cases.len());
    progress.show("measuring what the device can do");
    let limits = limits::measure(&device, arguments.threads(), &effort)?;
    progress.hide();
    let mut run = Run::new(
        Run::device_name(device.device()),
        arguments.threads(),
        arguments.model().name,
        arguments.cold,
        limits,
    );
    run.clock = arguments.clock.name().into();
    let width = cases.iter().map(|case| case.name().len()).max().unwrap_or(0);
    show(arguments, &(table::limits(&run) + &table::head(width)))?;

    let mut rejected = 0;
    for case in &cases {
        progress.next(&case.name());
        let measured = measure_case(&device, case, arguments, &effort, &run.limits);
        progress.hide();
        match measured {
            Ok(measured) => {
                show(arguments, &table::case(&measured, width))?;
                run.cases.push(measured);
            }
            Err(Problem::Device(error)) => return Err(Failure::NotTried(format!("{}: {error}", case.name()))),
            Err(problem) => {
                let reason = reason(&problem);
                // An impossible shape is an error if the user chose it; a model's shape may not exist in every format.
                rejected += usize::from(!wanted.is_empty());
                run.not_run.push(NotRun { name: case.name(), shape: case.shape.to_string(), reason });
            }
        }
        if let Some(reference) = reference(&device, case, &run, arguments, &effort) {
            run.references.push(reference);
        }
    }
    conclude(&run, before.as_ref(), arguments)?;
    match rejected {
        0 => Ok(()),
        _ => Err(Failure::Input(format!("the shape that was asked for is not possible: {rejected} not run"))),
    }
}

/// Reason why a case has no buffers.
fn reason(problem: &Problem) -> String {
    match problem {
        Problem::Memory { needed, limit } => {
            let needed = needed.map_or("more memory than there is".into(), text::bytes);
            format!("needs {needed}, but --max-memory is {}", text::bytes(*limit))
        }
        problem => problem.to_string(),
    }
}

/// The requested cases, with their shapes.
pub(crate) fn cases(arguments: &RunArguments, wanted: &Wanted) -> Result<Vec<Case>, Failure> {
    let all = cases::measured(arguments.model()).map_err(Failure::NotTried)?;
    let mut cases = cases::select(all, &arguments.names)?;
    for letter in wanted.letters() {
        if !cases.iter().any(|case| case.shape.letters().any(|known| known == letter)) {
            let mut known: Vec<char> =
                cases.iter().flat_map(|case| case.shape.letters().collect::<Vec<_>>()).collect();
            known.sort_unstable();
            known.dedup();
            let known: Vec<String> = known.into_iter().map(String::from).collect();
            let known = known.join(", ");
            return Err(Failure::Input(format!(
                "--shape: no case that was asked for has a size {letter}; they have {known}"
            )));
        }
    }
    cases.iter_mut().for_each(|case| case.shape.set(wanted));
    Ok(cases)
}

/// Prints. If stdout is closed, measuring continues only if a file is to be written.
fn show(arguments: &RunArguments, text: &str) -> Result<(), Failure> {
    match print(text) {
        Err(Failure::Closed) if arguments.json.is_some() || arguments.html.is_some() => Ok(()),
        printed => printed,
    }
}

fn is_writable(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match folder.is_dir() && !path.is_dir() {
        true => Ok(()),
        false => Err(Failure::NotTried(format!(
            "cannot write {}: there is no such folder, or it is one",
            path.display()
        ))),
    }
}

fn measure_case(
    device: &MetalDevice,
    case: &Case,
    arguments: &RunArguments,
    effort: &Effort,
    limits: &Limits,
) -> Result<Measured, Problem> {
    let maker = Maker::new(device.device(), arguments.max_memory(), Purpose::Measure);
    let mut instances = vec![OperationInstance { device: device.clone(), workloads: vec![case.build(&maker)?] }];
    let size = maker.taken();
    if arguments.cold {
        let copies = COLD / size.max(COLD / 64);
        (0..copies).try_for_each(|_| case.build(&maker).map(|copy| instances[0].workloads.push(copy)))?;
    } else if size <= SMALL && !arguments.quick {
        // All instances exist at the same time, so they have different addresses. Their code comes from the archive;
        // without one, every instance would be compiled again.
        for _ in 1..INSTANCES {
            let device = match device.archive() {
                Some(archive) => MetalDevice::with_device(device.device().clone(), archive.clone())?,
                None => device.clone(),
            };
            instances.push(OperationInstance { device, workloads: vec![case.build(&maker)?] });
        }
    }
    let (time, kernels) = measure::operation(&instances, effort)?;
    let (bytes, flops) = (case.bytes(), case.flops());
    let resident = bytes * instances[0].workloads.len() as f64;
    let bound = limits.bound(bytes, resident, flops);
    Ok(Measured {
        name: case.name(),
        shape: case.shape.to_string(),
        file: case.file(),
        kernels: kernels.into_iter().collect(),
        bytes,
        flops,
        time,
        limit_ns: bound.nanoseconds,
        bound_by: bound.by,
    })
}

/// Measures the loop in Rust for a product that has one, once for each shape.
fn reference(
    device: &MetalDevice,
    case: &Case,
    run: &Run,
    arguments: &RunArguments,
    effort: &Effort,
) -> Option<Reference> {
    let format = case.format.filter(|format| native::FORMATS.contains(format))?;
    let measured = run.cases.last().filter(|measured| measured.name == case.name())?;
    let (format_name, shape) = (format.to_string(), measured.shape.clone());
    let known = run.references.iter().any(|known| known.format == format_name && known.shape == shape);
    if case.operation.name != "gemv" || case.shape['M'] != 1 || known {
        return None;
    }
    let (rows, columns) = (case.shape['N'], case.shape['K']);
    let blocks = reference_blocks(device, format, rows, columns);
    let time = native::measure_gemv(format, [rows, columns], &blocks, arguments.threads(), effort);
    Some(Reference { format: format_name, shape, weights: rows as f64 * columns as f64, time })
}

fn reference_blocks(device: &MetalDevice, format: Format, rows: usize, columns: usize) -> Vec<u8> {
    let maker = Maker::new(device.device(), 0, Purpose::Measure);
    let row = maker.blocks(format, columns / format.block_len());
    row.repeat(rows)
}

fn conclude(run: &Run, before: Option<&Run>, arguments: &RunArguments) -> Result<(), Failure> {
    let targets = targets::judge(run);
    show(arguments, &table::conclusion(run, &targets))?;
    let compared = before.map(|before| (compare::compare(run, before), before));
    if let Some((compared, before)) = &compared {
        show(arguments, &table::comparison(compared, before))?;
    }
    let write = |path: &Path, text: &str| {
        compute::files::replace_with(path, text.as_bytes())
            .map_err(|error| Failure::NotTried(format!("cannot write {}: {error}", path.display())))
    };
    if let Some(path) = &arguments.json {
        write(path, &run.to_json().map_err(Failure::NotTried)?)?;
    }
    if let Some(path) = &arguments.html {
        write(path, &html::page(run, &targets, compared.as_ref().map(|(compared, _)| compared)))?;
    }
    let slower = compared.map_or(0, |(compared, _)| compared.count(compare::Verdict::Slower));
    match arguments.fail_on_regression && slower > 0 {
        true => Err(Failure::Input(format!("slower than in the earlier run: {slower}"))),
        false => Ok(()),
    }
}
