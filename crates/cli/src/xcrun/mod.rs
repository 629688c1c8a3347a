//! `metalworks xcrun`: Xcode's `xcrun`, for build scripts that compile shaders with Apple's tools.
//!
//! ```text
//! xcrun -sdk macosx metal -c k.metal -o k.air      compile
//! xcrun -sdk macosx metallib k.air -o k.metallib   link
//! ```
//!
//! A tool that is not here is run from PATH, as `xcrun` does.

mod archive;
mod compile;
mod flags;
mod link;
mod preprocess;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::compile::{Failure, Result, on_a_large_stack};
use crate::output::{self, Outcome};

pub(crate) const EXAMPLE: &str = "\
Examples:
  metalworks xcrun -sdk macosx metal -c gemv.metal -o gemv.air
  metalworks xcrun -sdk macosx metallib gemv.air -o kernels.metallib
  metalworks xcrun --find metal

Tools: metal, metallib, metal-ar, metal-libtool, metal-nm, metal-objdump. Others
are run from PATH.

Exit status: 0 success, 1 a file has errors or a flag is unknown, 2 a file could
not be read or written; of another tool, its own.";

#[derive(Args)]
pub(crate) struct Xcrun {
    /// Flags of xcrun, a tool, and its arguments
    ///
    /// -sdk NAME, --find TOOL, --run TOOL, --show-sdk-path, --show-sdk-version, --show-sdk-platform-path,
    /// --show-sdk-platform-version, --toolchain NAME, --verbose, --no-cache, --kill-cache, --log. The SDK is the one of
    /// this program.
    #[arg(value_name = "ARGUMENTS", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Version of macOS whose SDK this program takes the place of: the newest that it compiles for.
const SDK_VERSION: &str = "26.0";

/// The tools of this program.
pub(crate) const TOOLS: [&str; 6] = ["metal", "metallib", "metal-ar", "metal-libtool", "metal-nm", "metal-objdump"];

/// Request to xcrun.
enum Request {
    Run(String, Vec<String>),
    Find(String),
    Show(String),
    Nothing,
}

impl Xcrun {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let arguments: Option<Vec<String>> =
            self.arguments.iter().map(|argument| argument.to_str().map(str::to_owned)).collect();
        let Some(arguments) = arguments else {
            return Failure::NotTried("an argument is not UTF-8".into()).report();
        };
        match parse(arguments).and_then(answer) {
            Ok(outcome) => Ok(outcome),
            Err(failure) => failure.report(),
        }
    }
}

fn parse(arguments: Vec<String>) -> Result<Request> {
    let refused = |message: String| Err(Failure::Refused(message));
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let mut value = || match arguments.next() {
            Some(value) => Ok(value),
            None => Err(Failure::Refused(format!("missing argument to {argument}"))),
        };
        match argument.as_str() {
            "-sdk" | "--sdk" => {
                let sdk = value()?;
                if !is_sdk(&sdk) {
                    return refused(format!("SDK \"{sdk}\" cannot be located: this program compiles for macosx"));
                }
            }
            flag if flag.starts_with("--sdk=") || flag.starts_with("-sdk=") => {
                let sdk = flag.split_once('=').map_or("", |(_, sdk)| sdk);
                if !is_sdk(sdk) {
                    return refused(format!("SDK \"{sdk}\" cannot be located: this program compiles for macosx"));
                }
            }
            "-toolchain" | "--toolchain" => drop(value()?),
            flag if flag.starts_with("--toolchain=") => {}
            "-v" | "-verbose" | "--verbose" | "-n" | "-no-cache" | "--no-cache" | "-l" | "-log" | "--log" => {}
            "-k" | "-kill-cache" | "--kill-cache" => {}
            "-f" | "-find" | "--find" => return Ok(Request::Find(value()?)),
            "-r" | "-run" | "--run" => {
                let tool = value()?;
                return Ok(Request::Run(tool, arguments.collect()));
            }
            flag if flag.starts_with("--show-sdk-") || flag.starts_with("-show-sdk-") || flag == "--version" => {
                return Ok(Request::Show(argument));
            }
            flag if flag.starts_with('-') => return refused(format!("unknown argument: '{flag}'")),
            _ => return Ok(Request::Run(argument, arguments.collect())),
        }
    }
    Ok(Request::Nothing)
}

/// True for the SDK of macOS, with or without a version, or a path to one.
fn is_sdk(name: &str) -> bool {
    let name = Path::new(name).file_name().map_or(name, |name| name.to_str().unwrap_or_default());
    let name = name.to_ascii_lowercase();
    let version = name.strip_prefix("macosx").or_else(|| name.strip_prefix("macos"));
    version.is_some_and(|version| version.trim_end_matches(".sdk").chars().all(|c| c.is_ascii_digit() || c == '.'))
}

fn answer(request: Request) -> Result<Outcome> {
    match request {
        Request::Nothing => Err(Failure::Refused("specify a utility to run, such as metal".into())),
        Request::Show(what) => {
            output::result(&format!("{}\n", shown(&what)?))?;
            Ok(Outcome::Fine)
        }
        Request::Find(tool) => {
            output::result(&format!("{}\n", found(&tool)?.display()))?;
            Ok(Outcome::Fine)
        }
        Request::Run(tool, arguments) => {
            let name = Path::new(&tool).file_name().and_then(|name| name.to_str()).unwrap_or(&tool);
            match name {
                "metal" => on_a_large_stack(|| compile::run(&arguments)),
                "metallib" => on_a_large_stack(|| link::run(&arguments)),
                "metal-ar" => archive::run(&arguments),
                "metal-libtool" => archive::libtool(&arguments),
                "metal-nm" => link::list_symbols(&arguments),
                // Apple's prints everything about a library; so does ours, under its own name.
                "metal-objdump" => Err(dump(&arguments)),
                _ => Err(run_other(&tool, &arguments)),
            }?;
            Ok(Outcome::Fine)
        }
    }
}

fn shown(what: &str) -> Result<String> {
    let what = what.trim_start_matches('-');
    match what {
        "show-sdk-path" | "show-sdk-platform-path" => Ok(tools_folder().display().to_string()),
        "show-sdk-version" | "show-sdk-platform-version" | "show-sdk-build-version" => Ok(SDK_VERSION.to_owned()),
        "version" => Ok(format!("xcrun of metalworks {}", env!("CARGO_PKG_VERSION"))),
        _ => Err(Failure::Refused(format!("unknown argument: '--{what}'"))),
    }
}

/// The folder of this program.
fn tools_folder() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    program.parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Path of a tool. Those of this program are scripts beside the `xcrun` of `metalworks env`, or the program itself.
fn found(tool: &str) -> Result<PathBuf> {
    if let Some(path) = in_path(tool) {
        return Ok(path);
    }
    if TOOLS.contains(&tool) {
        return Ok(std::env::current_exe()?);
    }
    Err(missing(tool))
}

fn missing(tool: &str) -> Failure {
    Failure::NotTried(format!("unable to find utility \"{tool}\", not a developer tool or in PATH"))
}

fn in_path(tool: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(tool)).find(|path| path.is_file())
}

/// Becomes `metalworks objdump`; flags of Apple's tool choose what is printed, which is everything here.
fn dump(arguments: &[String]) -> Failure {
    let files = arguments.iter().filter(|argument| !argument.starts_with('-'));
    match std::env::current_exe() {
        Ok(program) => {
            let error = Command::new(program).arg("objdump").arg("--all").args(files).exec();
            Failure::NotTried(format!("cannot run metalworks objdump: {error}"))
        }
        Err(error) => Failure::NotTried(error.to_string()),
    }
}

/// Becomes a tool of the system, whose exit status is then that of this program. Another `xcrun` would call this one
/// again.
fn run_other(tool: &str, arguments: &[String]) -> Failure {
    let path = if tool.contains('/') { Some(PathBuf::from(tool)) } else { in_path(tool) };
    match path.filter(|_| tool != "xcrun") {
        Some(path) => {
            let error = Command::new(&path).args(arguments).exec();
            Failure::NotTried(format!("cannot run '{}': {error}", path.display()))
        }
        None => missing(tool),
    }
}
