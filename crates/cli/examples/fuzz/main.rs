//! Gives damaged inputs to every reader of files, to answers of servers, and to chat templates: `make fuzz`.
//!
//! ```text
//! fuzz TARGET|all COUNT [--seed N] [--jobs N] [--seconds N] [--corpus FOLDER]
//! fuzz TARGET --file FILE        fuzz TARGET --write FILE [--seed N]
//!
//! main ── jobs: a process for each part of the numbers, restarted after a crash ── summary
//!          └── run: number ── mutate: a seed, changed ── targets: reader ── panics, times, allocations
//! ```
//!
//! An input is a seed with some mutations; the same number gives the same input, so that a finding can be repeated with
//! `fuzz TARGET 1 --seed NUMBER`. Seeds are files of `corpus`, in which inputs that once failed are kept, and libraries that
//! are compiled here. A test runs all seeds, and some mutations of each.

#![allow(clippy::print_stdout, reason = "its results")]

#[cfg(llvm)]
mod compiled;
#[cfg(llvm)]
mod jobs;
#[cfg(llvm)]
mod mutate;
#[cfg(llvm)]
mod run;
#[cfg(llvm)]
mod server;
#[cfg(llvm)]
mod targets;
#[cfg(llvm)]
mod words;

#[cfg(llvm)]
#[allow(dead_code, reason = "the program uses more of it")]
#[path = "../../src/npy/mod.rs"]
mod npy;
#[cfg(llvm)]
#[allow(dead_code, reason = "the program uses more of it")]
#[path = "../../src/run/saved.rs"]
mod saved;
#[cfg(llvm)]
#[allow(dead_code, reason = "the program uses more of it")]
#[path = "../../src/scalar.rs"]
mod scalar;

#[cfg(llvm)]
#[global_allocator]
static ALLOCATOR: run::Counting = run::Counting;

#[cfg(llvm)]
fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some(run::PART) => run::part(&arguments[1..]),
        _ => jobs::main(&arguments),
    }
}

#[cfg(not(llvm))]
fn main() {}
