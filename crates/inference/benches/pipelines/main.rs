//! Cost of pipelines: cache hits, creation with and without an archive, creation of many, encoding.
//!
//! ```text
//! cargo bench -p metalworks-inference --bench pipelines -- [--quick] [--json FILE] [hit] [miss] [many] [encode]
//! ```
//!
//! Every number is a median, with the fastest run beside it. Compared variants alternate in the same process, so load
//! on the machine slows down all of them.

mod defaults;
mod encode;
mod folder;
mod hit;
mod many;
mod miss;
mod report;

use report::Report;
use std::io::Write;

type Failure = Box<dyn std::error::Error>;

/// Command-line options.
struct Options {
    quick: bool,
    json: Option<String>,
    parts: Vec<String>,
}

const PARTS: [&str; 4] = ["hit", "miss", "many", "encode"];

fn options() -> Result<Options, Failure> {
    let mut options = Options { quick: false, json: None, parts: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // Cargo passes this to every benchmark.
            "--bench" => {}
            "--quick" => options.quick = true,
            "--json" => options.json = Some(arguments.next().ok_or("--json needs the name of a file")?),
            part if PARTS.contains(&part) => options.parts.push(part.into()),
            other => {
                let expected = format!("expected --quick, --json FILE, {}", PARTS.join(", "));
                return Err(format!("unknown argument '{other}': {expected}").into());
            }
        }
    }
    if options.parts.is_empty() {
        options.parts = PARTS.map(String::from).to_vec();
    }
    Ok(options)
}

fn main() -> Result<(), Failure> {
    let options = options()?;
    let mut report = Report::new(compute::Device::cpu()?.name());
    report.introduce()?;
    for part in &options.parts {
        match part.as_str() {
            "hit" => hit::measure(&mut report, options.quick)?,
            "miss" => miss::measure(&mut report, options.quick)?,
            "many" => many::measure(&mut report, options.quick)?,
            _ => encode::measure(&mut report, options.quick)?,
        }
    }
    report.conclude()?;
    if let Some(path) = &options.json {
        std::fs::write(path, report.json())?;
        writeln!(std::io::stdout(), "written to {path}")?;
    }
    Ok(())
}
