//! Splits the numbers of a target between processes, starts them again after crashes, and adds up what they found.

use super::run::{self, HUNG, PART, Tally};
use super::targets::{self, FuzzTarget};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

const USAGE: &str = "usage: fuzz TARGET|all COUNT [--seed N] [--jobs N] [--seconds N] [--corpus FOLDER]\n       \
                     fuzz TARGET --file FILE\n       fuzz TARGET --write FILE [--seed N]";

/// Options of a run.
struct Request {
    count: u64,
    seed: u64,
    jobs: u64,
    /// For all targets together.
    seconds: Option<u64>,
    corpus: PathBuf,
}

pub(crate) fn main(arguments: &[String]) -> ExitCode {
    match try_main(arguments) {
        Ok(findings) => ExitCode::from(u8::from(findings > 0)),
        Err(problem) => {
            let known: Vec<&str> = targets::all().iter().map(|target| target.name).collect();
            println!("{problem}\n{USAGE}\ntargets: {}", known.join(", "));
            ExitCode::from(2)
        }
    }
}

/// Returns the number of findings.
fn try_main(arguments: &[String]) -> Result<u64, String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let mut request = Request { count: 0, seed: 0, jobs: cores, seconds: None, corpus: targets::corpus() };
    let (mut file, mut write, mut plain) = (None, None, Vec::new());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        let number = |text: &String| text.parse::<u64>().map_err(|_| format!("'{text}' is no number"));
        match argument.as_str() {
            "--seed" => request.seed = number(value()?)?,
            "--jobs" => request.jobs = number(value()?)?.max(1),
            "--seconds" => request.seconds = Some(number(value()?)?),
            "--corpus" => request.corpus = value()?.into(),
            "--file" => file = Some(value()?),
            "--write" => write = Some(value()?),
            _ => plain.push(argument),
        }
    }
    let name = *plain.first().ok_or("no target")?;
    let chosen: Vec<&FuzzTarget> = match name.as_str() {
        "all" => targets::all().iter().collect(),
        name => vec![targets::find(name).ok_or(format!("no target '{name}'"))?],
    };
    if let Some(file) = file {
        let input = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
        return Ok(u64::from(run::read(chosen[0], &input, file) != run::Finding::default()));
    }
    if let Some(file) = write {
        let input =
            chosen[0].input(&chosen[0].seeds(&request.corpus), &mut super::mutate::Random::new(request.seed));
        return std::fs::write(file, input).map(|()| 0).map_err(|error| format!("{file}: {error}"));
    }
    let count = plain.get(1).ok_or("no count")?;
    request.count = count.parse().map_err(|_| format!("'{count}' is no number"))?;
    Ok(all(&chosen, &request))
}

fn all(chosen: &[&FuzzTarget], request: &Request) -> u64 {
    let end = request.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let columns = |cells: [&str; 8]| {
        let [name, rest @ ..] = cells;
        let rest: String = rest.iter().map(|cell| format!(" {cell:>10}")).collect();
        println!("{name:<12}{rest}");
    };
    columns(["target", "inputs", "panics", "crashes", "hangs", "over 1 GB", "peak MB", "inputs/s"]);
    let mut findings = 0;
    for (index, target) in chosen.iter().enumerate() {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()) / (chosen.len() - index) as u32);
        let start = Instant::now();
        let sum = one(target, request, left.unwrap_or(Duration::from_secs(1 << 30)));
        let Sum { tally: Tally { inputs, panics, large, peak, .. }, crashes, hangs } = sum;
        findings += panics + large + crashes + hangs;
        let speed = inputs as f64 / start.elapsed().as_secs_f64();
        let numbers =
            [inputs, panics, crashes, hangs, large, peak >> 10, speed as u64].map(|number| number.to_string());
        let [inputs, panics, crashes, hangs, large, peak, speed] = numbers.each_ref().map(String::as_str);
        columns([target.name, inputs, panics, crashes, hangs, large, peak, speed]);
    }
    findings
}

/// Counts of a target.
#[derive(Clone, Copy, Default)]
struct Sum {
    tally: Tally,
    crashes: u64,
    hangs: u64,
}

/// Runs one target in several processes.
fn one(target: &FuzzTarget, request: &Request, time: Duration) -> Sum {
    let end = Instant::now() + time;
    let part = request.count.div_ceil(request.jobs);
    let starts = (0..request.jobs).map(|job| (job, job * part)).filter(|&(_, start)| start < request.count);
    let sums: Vec<Sum> = std::thread::scope(|scope| {
        let threads = starts.map(|(job, start)| {
            let (first, count) = (request.seed + start, part.min(request.count - start));
            scope.spawn(move || one_part(target, (first, count), job, end, &request.corpus))
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    });
    let mut all = Sum::default();
    for Sum { tally, crashes, hangs } in sums {
        all.tally.inputs += tally.inputs;
        all.tally.panics += tally.panics;
        all.tally.large += tally.large;
        all.tally.peak = all.tally.peak.max(tally.peak);
        all.crashes += crashes;
        all.hangs += hangs;
    }
    all
}

/// Runs a part of the numbers, again from the next one after a crash.
fn one_part(target: &FuzzTarget, (first, count): (u64, u64), job: u64, end: Instant, corpus: &Path) -> Sum {
    let notes = targets::scratch().join(format!("metalworks-fuzz-{}-{job}", std::process::id()));
    let (mut sum, mut next) = (Sum::default(), first);
    while next < first + count && Instant::now() < end {
        let file = File::create_new(&notes).expect("notes can be written");
        drop(file);
        let program = std::env::current_exe().expect("this program has a path");
        let mut command = Command::new(program);
        command.args([PART, target.name, &next.to_string(), &(first + count - next).to_string()]);
        let left = end.saturating_duration_since(Instant::now()).as_millis() as u64;
        // No proxy is between this machine and itself.
        command.arg(&notes).arg(left.to_string()).arg(corpus).env("no_proxy", "*");
        let status = command.status().expect("this program can be started");
        let tally = File::open(&notes).ok().and_then(|file| Tally::read(&file));
        std::fs::remove_file(&notes).expect("the notes are ours");
        let Some(tally) = tally else { panic!("{}: a process could not begin: {status}", target.name) };
        sum.tally.inputs += tally.inputs;
        sum.tally.panics += tally.panics;
        sum.tally.large += tally.large;
        sum.tally.peak = sum.tally.peak.max(tally.peak);
        if status.success() {
            break;
        }
        let is_hang = status.code() == Some(i32::from(HUNG));
        if !is_hang {
            println!("{} {}: the process ended: {status}", target.name, tally.number);
        }
        sum.tally.inputs += 1;
        sum.hangs += u64::from(is_hang);
        sum.crashes += u64::from(!is_hang);
        next = tally.number + 1;
    }
    sum
}
