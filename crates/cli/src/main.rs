//! The program `metalworks`: one subcommand per stage, one file per subcommand.
//!
//! Results go to stdout, everything else to stderr. The exit status is 0 on success, 1 if the input is wrong, and 2 if
//! it could not be tried; see [`output::Outcome`].

mod bench;
mod cache;
mod check;
#[cfg(llvm)]
mod compile;
mod completions;
mod constants;
mod device;
mod doctor;
mod engine;
#[cfg(all(llvm, target_os = "linux"))]
mod env;
mod exec;
mod findings;
mod info;
mod input;
mod interrupt;
mod language;
mod list;
mod man;
mod npy;
mod number;
#[cfg(llvm)]
mod objdump;
mod output;
mod perplexity;
mod profile;
mod progress;
mod pull;
mod quantize;
mod reflect;
mod rm;
mod run;
mod scalar;
mod show;
mod suggest;
mod synthesize;
mod table;
mod tokenize;
#[cfg(llvm)]
mod xcrun;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// Check, compile and run Metal shaders, and run models, on any machine.
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
    /// Preprocesses, parses and checks each file as Apple's compiler does, and prints every error with its source line.
    /// An accepted file is listed on stdout with the number of its kernels.
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
    /// Lowers every kernel to AIR, the LLVM dialect of Apple's compiler, and writes them to one library; or, with
    /// --target, compiles kernels for a machine and writes them to one archive.
    #[cfg(llvm)]
    #[command(after_long_help = compile::EXAMPLE)]
    Compile(compile::Compile),

    /// Print the contents of a .metallib
    ///
    /// Header, functions with versions, size, hash and function constants; of chosen functions also the metadata, the
    /// reflection that the library has for them, and AIR. Reads libraries of Apple's compiler and of this program.
    #[cfg(llvm)]
    #[command(after_long_help = objdump::EXAMPLE)]
    Objdump(objdump::Objdump),

    /// Run a kernel
    ///
    /// Compiles one kernel of a shader or library for this machine, binds the arguments, runs it, and writes or prints
    /// the results. Everything is checked against the kernel's interface before it runs.
    #[command(after_long_help = exec::EXAMPLE)]
    Exec(Box<exec::Exec>),

    /// Show or clear the cache of compiled kernels
    ///
    /// Kernels compiled by `metalworks exec` and other programs are cached in a folder of the user, so that they are
    /// compiled once.
    #[command(after_help = cache::EXAMPLE)]
    Cache(cache::Cache),

    /// Examine this machine and test every kernel on it
    ///
    /// Lists devices, toolchain, folders and variables, reports problems with advice, and compares the results of each
    /// kernel of the shader library on a device with those of the CPU. Run it first on a new machine, and attach its
    /// output to an issue.
    #[command(after_long_help = doctor::EXAMPLE)]
    Doctor(doctor::Doctor),

    /// Run a model
    ///
    /// Loads a GGUF file and runs it with the kernels of the shader library. Generated text goes to stdout as it comes.
    /// The first run compiles kernels, which are cached.
    #[command(after_long_help = run::EXAMPLE)]
    Run(Box<run::Run>),

    /// Measure prefill and decode speed of a model
    ///
    /// Measures a prompt (pp), which is prefilled, and generated tokens (tg), which are decoded one after the other.
    #[command(after_long_help = bench::EXAMPLE)]
    Bench(bench::Bench),

    /// Measure how well a model predicts a text
    ///
    /// The lower the perplexity, the better; it shows the cost of a quantization.
    #[command(after_long_help = perplexity::EXAMPLE)]
    Perplexity(perplexity::Perplexity),

    /// Download a model
    ///
    /// Downloads a model into the models folder, unless it is there, checks it, and prints its path.
    #[command(after_long_help = pull::EXAMPLE)]
    Pull(pull::Pull),

    /// List the models on this machine
    ///
    /// Name, format, size and age of every model in the models folder, incomplete downloads included.
    #[command(after_long_help = list::EXAMPLE)]
    List(list::List),

    /// Show the files of a model on this machine
    ///
    /// Path, format, and size and age of each file.
    #[command(after_long_help = show::EXAMPLE)]
    Show(show::Show),

    /// Remove models from this machine
    ///
    /// Removes the files of models in the models folder.
    #[command(after_long_help = rm::EXAMPLE)]
    Rm(rm::Rm),

    /// Convert a model to another file type
    ///
    /// Reads a GGUF file, and writes one with fewer bits per weight, or more. Formats and rounding are those of
    /// llama.cpp, without importance data.
    #[command(after_long_help = quantize::EXAMPLE)]
    Quantize(quantize::Quantize),

    /// Print the properties of a model file
    ///
    /// Architecture, size, quantization, context length, heads, vocabulary and tokenizer of a GGUF file. Only the
    /// header is read.
    #[command(after_long_help = info::EXAMPLE)]
    Info(info::Info),

    /// Generate a model with random weights
    ///
    /// Writes a GGUF file with the shape of a real model and random weights of a realistic scale, for benchmarks
    /// without a long download, and for tests. The same seed gives the same file.
    #[command(after_long_help = synthesize::EXAMPLE)]
    Synthesize(synthesize::Synthesize),

    /// Convert text to tokens, or tokens to text
    ///
    /// Reads the vocabulary of a GGUF file, and prints the ID and the text of each token.
    #[command(after_long_help = tokenize::EXAMPLE)]
    Tokenize(tokenize::Tokenize),

    /// Run Apple's tools for shaders: metal, metallib
    ///
    /// Takes the command lines of build scripts: `metal -c` compiles a source to an object, `metallib` links objects to
    /// a library, `metal-ar` archives them.
    #[cfg(llvm)]
    #[command(after_long_help = xcrun::EXAMPLE)]
    Xcrun(xcrun::Xcrun),

    /// Print the environment for Metal programs on Linux
    ///
    /// Writes a folder with `xcrun`, headers and libraries of the framework, and prints the variables by which a shell,
    /// compilers and cargo find them.
    #[cfg(all(llvm, target_os = "linux"))]
    #[command(after_long_help = env::EXAMPLE)]
    Env(env::Env),

    /// Print shell completions
    ///
    /// Prints a script by which a shell completes subcommands, flags and their values.
    #[command(after_long_help = completions::EXAMPLE)]
    Completions(completions::Completions),

    /// Write manual pages
    ///
    /// Writes the texts of --help as manual pages, one for each subcommand.
    #[command(hide = true, after_long_help = man::EXAMPLE)]
    Man(man::Man),
}

const EXIT_STATUS: &str = "Exit status: 0 success, 1 the input is wrong, 2 it could not be tried.";

fn main() -> ExitCode {
    let matches = number::with_negative_values(Cli::command()).try_get_matches();
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => error.exit(),
        // The texts of --help and --version are results: clap would not say that they cannot be written.
        Err(help) => return output::exit_code(output::help(&help.render())),
    };
    let outcome = match cli.command {
        Command::Check(check) => check.run(),
        Command::Reflect(reflect) => reflect.run(),
        #[cfg(llvm)]
        Command::Compile(compile) => compile.run(),
        #[cfg(llvm)]
        Command::Objdump(objdump) => objdump.run(),
        Command::Exec(exec) => exec.run(),
        Command::Cache(cache) => cache.run(),
        Command::Doctor(doctor) => doctor.run(),
        Command::Run(run) => run.run(),
        Command::Bench(bench) => bench.run(),
        Command::Perplexity(perplexity) => perplexity.run(),
        Command::Pull(pull) => pull.run(),
        Command::List(list) => list.run(),
        Command::Show(show) => show.run(),
        Command::Rm(rm) => rm.run(),
        Command::Quantize(quantize) => quantize.run(),
        Command::Info(info) => info.run(),
        Command::Synthesize(synthesize) => synthesize.run(),
        Command::Tokenize(tokenize) => tokenize.run(),
        #[cfg(llvm)]
        Command::Xcrun(xcrun) => xcrun.run(),
        #[cfg(all(llvm, target_os = "linux"))]
        Command::Env(env) => env.run(),
        Command::Completions(completions) => completions.run(Cli::command()),
        Command::Man(man) => man.run(Cli::command()),
    };
    output::exit_code(outcome)
}
