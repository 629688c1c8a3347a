//! `metal -E` and `metal -M`.

use std::path::Path;

use super::compile::{beside, rule, write};
use super::flags::{Flags, Step};
use crate::compile::{Failure, Result};
use crate::output::{self, Color, Outcome};

pub(super) fn run(flags: &Flags, file: &Path) -> Result<()> {
    let expanded = msl::expand_file(file, &flags.options, !flags.no_lines);
    let expanded = expanded.map_err(|error| Failure::NotTried(error.to_string()))?;
    if expanded.has_errors() {
        output::diagnostics(&expanded.render_diagnostics(Color::Auto.on_stderr()))?;
        return Err(Failure::Said(Outcome::Refused));
    }
    let stdout = Path::new("-").to_path_buf();
    let output = flags.output.clone();
    match flags.step {
        Step::Dependencies => {
            let text = rule(flags, &expanded.sources, &beside(file, "air"));
            write(&flags.dependencies.file.clone().or(output).unwrap_or(stdout), text.as_bytes())
        }
        _ => {
            write(output.as_deref().unwrap_or(&stdout), expanded.text.as_bytes())?;
            match (flags.dependencies.wanted, &flags.dependencies.file) {
                (true, Some(path)) => write(path, rule(flags, &expanded.sources, &beside(file, "air")).as_bytes()),
                _ => Ok(()),
            }
        }
    }
}
