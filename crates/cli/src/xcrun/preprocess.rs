//! `metal -E` and `metal -M`.

use std::path::Path;

use msl::SourceMap;

use super::compile::{beside, rule, write};
use super::flags::{Flags, Step};
use crate::compile::{Failure, Result};
use crate::input;
use crate::output::{self, Color, Outcome};

pub(super) fn run(flags: &Flags, file: &Path) -> Result<()> {
    let stdin = Path::new("/dev/stdin");
    let source = if input::is_stdin(file) { stdin } else { file };
    let expanded = msl::expand_file(source, &flags.options, !flags.no_lines);
    let expanded = expanded.map_err(|error| Failure::NotTried(error.to_string()))?;
    if expanded.has_errors() {
        output::styled_diagnostics(&expanded.render_diagnostics(Color::Auto.on_stderr()))?;
        return Err(Failure::Said(Outcome::Refused));
    }
    if flags.shows_includes {
        output::diagnostics(&includes(&expanded.sources))?;
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

/// `-H`: the files that were included, behind as many points as they are deep.
fn includes(sources: &SourceMap) -> String {
    let mut text = String::new();
    for (_, file) in sources.files().filter(|(_, file)| !file.builtin && file.path.is_some()) {
        let (mut depth, mut from) = (0, file.included_from);
        while let Some(span) = from {
            depth += 1;
            from = sources.file(span.file).included_from;
        }
        if depth > 0 {
            text += &format!("{} {}\n", ".".repeat(depth), file.name);
        }
    }
    text
}
