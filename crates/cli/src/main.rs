//! The program `metalworks`: one subcommand per stage, one file per subcommand.
//!
//! Results go to stdout, everything else to stderr. The exit status is 0 when all is fine, 1 when the input is wrong
//! and 2 when it could not be tried at all; see [`output::Outcome`].

mod bench;
mod cache;
mod check;
#[cfg(llvm)]
mod compile;
mod constants;
mod device;
mod doctor;
mod engine;
mod exec;
mod info;
mod input;
mod language;
mod npy;
mod output;
mod perplexity;
mod progress;
mod pull;
mod reflect;
mod run;
mod scalar;
mod synthesize;
mod table;
mod tokenize;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Check Metal shaders and print their interface, on any machine.
#[derive(Parser)]
#[command(name = "metalworks", version, arg_required_else_help = true)]
#[command(max_term_width = 79, after_help = EXIT_STATUS)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check shaders and print diagnostics
    ///
    /// Preprocesses, parses and checks each file as Apple's compiler would, and prints every error with its source
    /// line. A file that passes is named on stdout with the number of its kernels.
    #[command(after_long_help = check::EXAMPLE)]
    Check(check::Check),

    /// Print the interface of the kernels in a file
    ///
    /// For each kernel: its arguments with binding, type, address space, access and element layout; its built-ins; the
    /// function constants that it uses; its threadgroup memory; its limits.
    #[command(after_long_help = reflect::EXAMPLE)]
    Reflect(reflect::Reflect),

    /// Compile shaders to a .metallib or to machine code
    ///
    /// Lowers every kernel of the files to AIR, the dialect of LLVM that Apple's compiler writes, and puts them into one
    /// library; or, with --target, compiles kernels for a machine and puts them into one archive.
    #[cfg(llvm)]
    #[command(after_long_help = compile::EXAMPLE)]
    Compile(compile::Compile),

    /// Run a kernel
    ///
    /// Compiles one kernel of a shader or library for this machine, binds the arguments, runs it, and writes or prints
    /// what it left in them. Everything is checked against the kernel's interface before it runs.
    #[command(after_long_help = exec::EXAMPLE)]
    Exec(Box<exec::Exec>),

    /// Show or clear the cache of compiled kernels
    ///
    /// What `metalworks exec` and other programs compile is kept in a folder of the user's, and not compiled again.
    #[command(after_help = cache::EXAMPLE)]
    Cache(cache::Cache),

    /// Examine this machine and test every kernel on it
    ///
    /// Lists devices, toolchain, folders and variables, says what is wrong and what to do, and compares what each kernel of the
    /// shader library computes on a device with what the processor does: the first thing to run, and what to attach to an
    /// issue.
    #[command(after_long_help = doctor::EXAMPLE)]
    Doctor(doctor::Doctor),

    /// Have a model answer, or go on with a text
    ///
    /// Loads a GGUF file, and runs it with the kernels of the shader library. What the model writes goes to stdout as it
    /// comes. The first run compiles kernels, which are kept.
    #[command(after_long_help = run::EXAMPLE)]
    Run(Box<run::Run>),

    /// Measure how fast a model reads and writes
    ///
    /// A prompt of so many tokens (pp), and so many tokens that are chosen one after the other (tg).
    #[command(after_long_help = bench::EXAMPLE)]
    Bench(bench::Bench),

    /// Measure how well a model foretells a text
    ///
    /// The lower the perplexity, the better; it shows what a quantization costs.
    #[command(after_long_help = perplexity::EXAMPLE)]
    Perplexity(perplexity::Perplexity),

    /// Get a model
    ///
    /// Downloads a model into the folder of models, unless it is there, checks it, and prints where it is.
    #[command(after_long_help = pull::EXAMPLE)]
    Pull(pull::Pull),

    /// Print what is in the file of a model
    ///
    /// Architecture, size, quantization, context length, heads, vocabulary and tokenizer of a GGUF file. Nothing but its head
    /// is read.
    #[command(after_long_help = info::EXAMPLE)]
    Info(info::Info),

    /// Make up a model from a seed
    ///
    /// Writes a GGUF file with the shape of a real model and random numbers of a sensible size: to measure with, where the
    /// real one is long to download, and to test with. A seed is always the same file.
    #[command(after_long_help = synthesize::EXAMPLE)]
    Synthesize(synthesize::Synthesize),

    /// Print the tokens of a text, or the text of tokens
    ///
    /// Reads the vocabulary of a GGUF file, and prints what the model gets to see of a text: the id and the piece of each
    /// token.
    #[command(after_long_help = tokenize::EXAMPLE)]
    Tokenize(tokenize::Tokenize),
}

const EXIT_STATUS: &str = "Exit status: 0 all fine, 1 the input is wrong, 2 it could not be tried.";

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Check(check) => check.run(),
        Command::Reflect(reflect) => reflect.run(),
        #[cfg(llvm)]
        Command::Compile(compile) => compile.run(),
        Command::Exec(exec) => exec.run(),
        Command::Cache(cache) => cache.run(),
        Command::Doctor(doctor) => doctor.run(),
        Command::Run(run) => run.run(),
        Command::Bench(bench) => bench.run(),
        Command::Perplexity(perplexity) => perplexity.run(),
        Command::Pull(pull) => pull.run(),
        Command::Info(info) => info.run(),
        Command::Synthesize(synthesize) => synthesize.run(),
        Command::Tokenize(tokenize) => tokenize.run(),
    };
    output::exit_code(outcome)
}
