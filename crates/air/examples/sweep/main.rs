//! Compiles every function of a `.metallib` to machine code and says how many could be, by family, and why not.
//!
//!     cargo run --release -p metalworks-air --example sweep -- mlx.metallib
//!
//! * `--results FILE`: the file with the outcome of each function, one line each. A run that was stopped continues from
//!   it; delete the file to begin anew. Default: `sweep.tsv`.
//! * `--jobs N`: processes. Default: 2.
//! * `--every N`: every Nth function by name only, and nothing is kept.
//! * `--at-least N`: fail unless that many compile.
//! * `--known`: compile nothing, and print the outcomes of earlier runs.
//!
//! Functions are compiled in processes of their own, so that one that LLVM aborts on is just another line of the table.
//! Those with function constants are compiled twice: with all that are of type bool true, and with all of them false.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

#[cfg(llvm)]
mod program;

#[cfg(llvm)]
use program::main as run;

fn main() -> std::process::ExitCode {
    run()
}

#[cfg(not(llvm))]
fn run() -> std::process::ExitCode {
    eprintln!("sweep: error: built without LLVM, which macOS has with '--features cpu' only");
    std::process::ExitCode::from(2)
}
