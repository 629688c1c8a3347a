//! `metalworks compile`: shaders to a `.metallib`, or to the AIR of one kernel.

use std::io;
use std::path::{Path, PathBuf};

use air::MathMode;
use clap::{Args, ValueEnum};
use msl::Compilation;

use crate::input;
use crate::language::LanguageFlags;
use crate::output::{self, Outcome};

pub(crate) const EXAMPLE: &str = "\
Examples:
  metalworks compile gemv.metal -o gemv.metallib
  metalworks compile gemv.metal --emit air gemv

Exit status: 0 written, 1 the file has errors or cannot be compiled, 2 a file could not be read or written.";

#[derive(Args)]
pub(crate) struct Compile {
    /// Shader to compile; `-` is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Library to write
    #[arg(short, long, value_name = "FILE", required_unless_present = "emit")]
    output: Option<PathBuf>,

    /// Print a stage for one kernel instead of writing a library
    #[arg(long, value_name = "STAGE", requires = "kernel")]
    emit: Option<Stage>,

    /// Kernel to print, with --emit
    #[arg(value_name = "KERNEL")]
    kernel: Option<String>,

    /// Compute floating point exactly as written
    #[arg(long)]
    safe_math: bool,

    #[command(flatten)]
    language: LanguageFlags,
}

/// What can be printed on the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Stage {
    /// AIR, before optimization
    Air,
}

impl Compile {
    pub(crate) fn run(&self) -> io::Result<Outcome> {
        let compilation = match input::compile_or_report(&self.file, &self.language.options())? {
            Ok(compilation) => compilation,
            Err(outcome) => return Ok(outcome),
        };
        let math = if self.safe_math { MathMode::Safe } else { MathMode::Fast };
        match (&self.emit, &self.kernel, &self.output) {
            (Some(Stage::Air), Some(kernel), _) => self.print_air(&compilation, kernel, math),
            (_, _, Some(path)) => self.write_library(&compilation, path, math),
            _ => Ok(Outcome::NotTried),
        }
    }

    fn print_air(&self, compilation: &Compilation, kernel: &str, math: MathMode) -> io::Result<Outcome> {
        let Some(entry) = compilation.program.kernels().find(|entry| entry.name == kernel) else {
            output::error(&format!("{}: no kernel '{kernel}'", input::display_name(&self.file)))?;
            return Ok(Outcome::Refused);
        };
        match air::air_text(&compilation.program, entry, math) {
            Ok(text) => {
                output::result(&text)?;
                Ok(Outcome::Fine)
            }
            Err(error) => self.refuse(kernel, &error),
        }
    }

    fn write_library(&self, compilation: &Compilation, path: &Path, math: MathMode) -> io::Result<Outcome> {
        let bytes = match air::compile(&compilation.program, math) {
            Ok(bytes) => bytes,
            Err((kernel, error)) => return self.refuse(&kernel, &error),
        };
        if let Err(error) = std::fs::write(path, &bytes) {
            output::error(&format!("cannot write '{}': {error}", path.display()))?;
            return Ok(Outcome::NotTried);
        }
        let kernels = compilation.program.kernels().count();
        let plural = if kernels == 1 { "" } else { "s" };
        output::result(&format!("{}: {kernels} kernel{plural}, {} bytes\n", path.display(), bytes.len()))?;
        Ok(Outcome::Fine)
    }

    fn refuse(&self, kernel: &str, error: &air::Error) -> io::Result<Outcome> {
        output::error(&format!("{}: kernel '{kernel}': {error}", input::display_name(&self.file)))?;
        Ok(Outcome::Refused)
    }
}
