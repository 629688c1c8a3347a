//! `// error: text` at the end of a line, and what a compilation says to it.

use super::Test;
use metalworks_msl::source::{FileId, Span};
use metalworks_msl::{Compilation, Diagnostic, Severity};

/// A diagnostic that a line expects.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Expectation {
    line: u32,
    severity: Severity,
    text: String,
}

/// Words that stand before a colon in comments that expect nothing.
const PROSE: &[&str] = &["Note", "Accepted", "Refused"];

/// All expectations of a file.
pub(super) fn read(text: &str, test: Test) -> Result<Vec<Expectation>, String> {
    let mut expectations = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index as u32 + 1;
        let error = |message: &str| Err(format!("line {number}: {message}"));
        for comment in line.split("// ").skip(1) {
            let Some((word, text)) = comment.split_once(':') else { continue };
            if word.contains(|c: char| !c.is_ascii_alphabetic()) || PROSE.contains(&word) {
                continue;
            }
            let severity = match word {
                "error" => Severity::Error,
                "warning" => Severity::Warning,
                "reflect" if test == Test::Reflect => return Ok(expectations),
                "reflect" => return error("`test check` has no reflection"),
                "options" if index == 1 => continue,
                "options" => return error("options belong into the second line"),
                _ => return error(&format!("unknown expectation '{word}'")),
            };
            let text = text.trim();
            if test == Test::Reflect {
                return error("`test reflect` expects no diagnostics");
            }
            if text.is_empty() {
                return error("an expectation without a text");
            }
            expectations.push(Expectation { line: number, severity, text: text.into() });
        }
    }
    Ok(expectations)
}

/// Compares; gives the number of expectations, all of which are met.
pub(super) fn judge(compilation: &Compilation) -> Result<usize, String> {
    let mut open: Vec<(FileId, Expectation)> = Vec::new();
    for (id, file) in compilation.sources.files().filter(|(_, file)| !file.builtin) {
        // A file that is included again and again expects its diagnostics once.
        if open.iter().any(|(other, _)| compilation.sources.file(*other).name == file.name) {
            continue;
        }
        let expectations = read(&file.text, Test::Check).map_err(|error| format!("{}: {error}", file.name))?;
        open.extend(expectations.into_iter().map(|expectation| (id, expectation)));
    }
    let count = open.len();
    let mut complaints = Vec::new();
    for diagnostic in &compilation.diagnostics {
        let met = open.iter().position(|(file, expectation)| meets(compilation, diagnostic, *file, expectation));
        match met {
            Some(index) => _ = open.remove(index),
            None => {
                let shown = metalworks_msl::diagnostics::render::render(diagnostic, &compilation.sources, false);
                complaints.push(format!("not expected:\n{shown}"));
            }
        }
    }
    for (file, Expectation { line, text, .. }) in open {
        let name = &compilation.sources.file(file).name;
        let source = compilation.sources.line_text(file, line);
        complaints.push(format!("{name}:{line}: not reported: {text}\n{source}"));
    }
    if complaints.is_empty() { Ok(count) } else { Err(complaints.join("\n")) }
}

fn meets(compilation: &Compilation, diagnostic: &Diagnostic, file: FileId, expectation: &Expectation) -> bool {
    let Some(span) = place(compilation, diagnostic) else { return false };
    let name = |file| &compilation.sources.file(file).name;
    name(span.file) == name(file)
        && compilation.sources.line_column(span).line == expectation.line
        && diagnostic.severity == expectation.severity
        && diagnostic.message.contains(&expectation.text)
}

/// Place of a diagnostic in the shader: for one in a header of the library, the use of that header's code.
fn place(compilation: &Compilation, diagnostic: &Diagnostic) -> Option<Span> {
    let notes = diagnostic.notes.iter().filter_map(|note| note.span);
    let mut spans = diagnostic.span.into_iter().chain(notes).map(|span| compilation.sources.outermost(span));
    spans.find(|span| !compilation.sources.file(span.file).builtin)
}
