//! The program; `main.rs` says what it does.

mod family;
mod pool;
mod table;
mod worker;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::process::ExitCode;

/// The outcome of compiling a function.
#[derive(Clone, Debug)]
struct Outcome {
    /// `ok`, or why not.
    verdict: String,
    milliseconds: u64,
    /// Of machine code.
    bytes: u64,
}

struct Options {
    library: String,
    results: Option<String>,
    jobs: usize,
    every: usize,
    at_least: Option<usize>,
    known: bool,
}

pub(crate) fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|first| first == "--worker").is_some() {
        return worker::serve(&arguments.next().unwrap_or_default());
    }
    match options(arguments).and_then(|options| sweep(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(problem) => {
            eprintln!("sweep: error: {problem}");
            ExitCode::from(2)
        }
    }
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        library: String::new(),
        results: Some("sweep.tsv".into()),
        jobs: 2,
        every: 1,
        at_least: None,
        known: false,
    };
    let number =
        |value: Option<String>| value.and_then(|value| value.parse::<usize>().ok()).ok_or("a number is missing");
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--results" => options.results = Some(arguments.next().ok_or("--results takes a file")?),
            "--jobs" => options.jobs = number(arguments.next())?.max(1),
            "--every" => (options.every, options.results) = (number(arguments.next())?.max(1), None),
            "--known" => options.known = true,
            "--at-least" => options.at_least = Some(number(arguments.next())?),
            _ => options.library = argument,
        }
    }
    if options.library.is_empty() {
        return Err("which library? give a .metallib file".into());
    }
    Ok(options)
}

/// Returns true if as many functions compile as should.
fn sweep(options: &Options) -> Result<bool, String> {
    let names: Vec<String> = worker::names(&options.library)?.into_iter().step_by(options.every).collect();
    let mut known = options.results.as_deref().map(read).transpose()?.unwrap_or_default();
    // The small ones first: a run that is stopped has done the most that it could.
    let sizes = worker::sizes(&options.library)?;
    let mut left: Vec<String> = names.iter().filter(|name| !known.contains_key(*name)).cloned().collect();
    left.sort_by_key(|name| sizes.get(name).copied());
    if options.known {
        left.clear();
    }
    let mut file = options.results.as_deref().map(append).transpose()?;
    let (total, mut done) = (names.len(), names.len() - left.len());
    for (name, outcome) in pool::run(&options.library, options.jobs, left) {
        // A function that took too long may have been stopped with the machine: the next run tries it again.
        if let Some(file) = file.as_mut().filter(|_| !outcome.verdict.starts_with(pool::TOO_LONG)) {
            writeln!(file, "{name}\t{}\t{}\t{}", outcome.milliseconds, outcome.bytes, outcome.verdict)
                .map_err(|error| error.to_string())?;
        }
        done += 1;
        if done % 500 == 0 {
            eprintln!("sweep: {done} of {total}");
        }
        known.insert(name, outcome);
    }
    known.retain(|name, _| names.binary_search(name).is_ok());
    print!("{}", table::markdown(&known));
    let compiled = known.values().filter(|outcome| outcome.verdict == "ok").count();
    let wanted = options.at_least.unwrap_or(0);
    if compiled < wanted {
        for (name, outcome) in known.iter().filter(|(_, outcome)| outcome.verdict != "ok") {
            eprintln!("{name}: {}", outcome.verdict);
        }
        eprintln!("sweep: only {compiled} of {total} compile, and {wanted} did before");
    }
    Ok(compiled >= wanted)
}

fn append(path: &str) -> Result<fs::File, String> {
    fs::OpenOptions::new().create(true).append(true).open(path).map_err(|error| format!("{path}: {error}"))
}

/// The outcomes of earlier runs.
fn read(path: &str) -> Result<BTreeMap<String, Outcome>, String> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("{path}: {error}")),
    };
    let outcome = |line: &str| {
        let mut fields = line.splitn(4, '\t');
        let (name, milliseconds, bytes) =
            (fields.next()?, fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some((name.to_string(), Outcome { verdict: fields.next()?.into(), milliseconds, bytes }))
    };
    // A last line that was cut off is done again.
    Ok(text.lines().filter_map(outcome).collect())
}
