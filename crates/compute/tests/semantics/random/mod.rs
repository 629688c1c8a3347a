//! Random programs, run by compiled code and by an interpreter of single threads.
//!
//! By default a few dozen; see [`seeds`] to run more.

mod generate;
mod interpret;
mod lane;
mod print;
mod program;
mod shrink;

use self::interpret::{Results, interpret};
use self::program::{COUNTERS, OUTPUTS, Program};
use crate::harness::TestLibrary;
use crate::numbers::seeds;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Programs in one source: the headers are read once for all of them.
const BATCH: u64 = 8;
/// Smaller programs to try when one fails.
const ATTEMPTS: usize = 400;

#[test]
fn random_programs_match_the_interpreter() {
    let (first, count) = seeds(32);
    let mut failures = Vec::new();
    for batch in (first..first + count).step_by(BATCH as usize) {
        let seeds: Vec<u64> = (batch..(batch + BATCH).min(first + count)).collect();
        let programs: Vec<Program> = seeds.iter().map(|seed| generate::generate(*seed)).collect();
        for (seed, program) in failing(&seeds, &programs) {
            failures.push(report(seed, program));
        }
        assert!(failures.len() < 3, "{}", failures.join("\n"));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Runs a batch from one source, and all of them alone if that does not compile.
fn failing<'a>(seeds: &[u64], programs: &'a [Program]) -> Vec<(u64, &'a Program)> {
    let text: String = programs
        .iter()
        .zip(seeds)
        .map(|(program, seed)| print::print(program, &format!("program{seed}")))
        .collect();
    let batch = catch_unwind(AssertUnwindSafe(|| TestLibrary::new(&text))).ok();
    let is_wrong = |(seed, program): &(u64, &Program)| match &batch {
        Some(source) => failure(program, || run(source, &format!("program{seed}"), program)).is_some(),
        None => alone(program).is_some(),
    };
    seeds.iter().copied().zip(programs).filter(is_wrong).collect()
}

/// The failure of a program that is compiled and run alone, if any.
fn alone(program: &Program) -> Option<String> {
    failure(program, || run(&TestLibrary::new(&print::print(program, "program")), "program", program))
}

fn failure(program: &Program, run: impl Fn() -> Results) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(results) if results == interpret(program) => None,
        Ok(_) => Some("the results differ".into()),
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map_or("it panicked", String::as_str);
            Some(message.lines().next().unwrap_or_default().to_string())
        }
    }
}

fn run(source: &TestLibrary, name: &str, program: &Program) -> Results {
    let finished = source
        .kernel(name)
        .buffer(&program.input)
        .zeros::<u32>(program.grid.iter().product::<usize>() * OUTPUTS)
        .zeros::<u32>(COUNTERS)
        .bytes(&program.uniform)
        .threads(program.grid, program.group);
    Results { out: finished.read(1), counters: finished.read(2) }
}

/// The failure, and the smallest program that fails in the same way.
fn report(seed: u64, program: &Program) -> String {
    let Some(message) = alone(program) else {
        return format!("seed {seed}: fails in its batch, but not alone");
    };
    let program = shrink::shrink(program.clone(), ATTEMPTS, |smaller| alone(smaller).as_ref() == Some(&message));
    let text = print::print(&program, "program");
    let mut report =
        format!("seed {seed}: {message}\ngrid {:?}, threadgroup {:?}\n{text}", program.grid, program.group);
    let Ok(got) = catch_unwind(AssertUnwindSafe(|| run(&TestLibrary::new(&text), "program", &program))) else {
        return report;
    };
    let expected = interpret(&program);
    for (what, got, expected) in [("out", got.out, expected.out), ("counters", got.counters, expected.counters)] {
        for (index, (got, expected)) in got.iter().zip(&expected).enumerate().filter(|(_, (a, b))| a != b).take(6) {
            report.push_str(&format!("{what}[{index}] is {got}, expected {expected}\n"));
        }
    }
    report
}
