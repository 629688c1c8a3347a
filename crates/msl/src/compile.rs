//! All stages in order.

use crate::check::{CheckOptions, check};
use crate::diagnostics::{Diagnostic, Severity, render};
use crate::filter::WarningFilter;
use crate::parse::parse_after_headers;
use crate::preprocess::{self, LanguageVersion, MathFunctions, MathMode, preprocess};
use crate::program::Program;
use crate::reflect::{Reflection, reflect};
use crate::source::{ExpansionId, FileId, SourceMap, Span};
use std::collections::HashSet;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Compiler options.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Directories that `#include "…"` searches after that of the including file.
    pub include_dirs: Vec<PathBuf>,
    /// Macros defined before the first line: a name and, if not `1`, its text.
    pub defines: Vec<(String, Option<String>)>,
    /// The version of the language.
    pub std: LanguageVersion,
    /// Report warnings, too.
    pub warnings: bool,
    /// Math mode, which macros tell.
    pub math: MathMode,
    /// Variant of the mathematical functions; `None` for that of the mode.
    pub math_functions: Option<MathFunctions>,
}

/// The result of a compilation, complete or with errors.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compilation {
    /// The files that were read.
    pub sources: SourceMap,
    /// Errors and warnings, in the order in which they were found.
    pub diagnostics: Vec<Diagnostic>,
    /// The checked program; incomplete where there are errors.
    pub program: Program,
    /// Time of each stage.
    pub timings: Timings,
}

/// Time of each stage.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Timings {
    /// Reading, lexing and preprocessing.
    pub preprocess: Duration,
    /// Parsing.
    pub parse: Duration,
    /// Checking.
    pub check: Duration,
}

/// A file that could not be read.
#[derive(Debug)]
pub struct ReadError {
    path: PathBuf,
    reason: String,
}

impl ReadError {
    /// Why, without the name of the file.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read '{}': {}", self.path.display(), self.reason)
    }
}

impl std::error::Error for ReadError {}

/// The recursion of parser and checker is bounded; this is room enough for it, debug builds included.
const STACK_SIZE: usize = 512 << 20;

/// Most bytes of a shader. Devices such as `/dev/zero` have no end.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

fn read_at_most(path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a text of at most `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Result<String, ReadError> {
    let error = |reason: String| ReadError { path: path.to_path_buf(), reason };
    if path.is_dir() {
        return Err(error("it is a directory".into()));
    }
    let bytes = read_at_most(path, limit + 1).map_err(|io| match io.kind() {
        std::io::ErrorKind::NotFound => error("no such file".into()),
        std::io::ErrorKind::PermissionDenied => error("permission denied".into()),
        _ => error(io.to_string()),
    })?;
    if bytes.len() as u64 > limit {
        return Err(error(format!("it is larger than {} MiB", limit >> 20)));
    }
    if bytes.starts_with(b"MTLB") {
        return Err(error("it is a compiled library (.metallib), not a source".into()));
    }
    String::from_utf8(bytes).map_err(|utf8| {
        let valid = utf8.utf8_error().valid_up_to();
        let line = utf8.as_bytes()[..valid].iter().filter(|&&b| b == b'\n').count() + 1;
        error(format!("it is not UTF-8 text (line {line})"))
    })
}

/// Compiles a file.
pub fn compile_file(path: &Path, options: &Options) -> Result<Compilation, ReadError> {
    let text = read(path, MAX_FILE_BYTES)?;
    let mut sources = SourceMap::new();
    let main = sources.add_file(path.display().to_string(), Some(path), text, None, false);
    Ok(run(sources, main, options))
}

/// Compiles a text; `name` is its name in diagnostics.
pub fn compile_source(name: &str, text: &str, options: &Options) -> Compilation {
    let mut sources = SourceMap::new();
    let main = sources.add_file(name, None, text, None, false);
    run(sources, main, options)
}

fn run(sources: SourceMap, main: FileId, options: &Options) -> Compilation {
    std::thread::scope(|scope| {
        let spawned = std::thread::Builder::new()
            .name("msl".into())
            .stack_size(STACK_SIZE)
            .spawn_scoped(scope, move || stages(sources, main, options));
        match spawned.map(|thread| thread.join()) {
            Ok(Ok(compilation)) => compilation,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => no_thread(),
        }
    })
}

/// The stages, in order.
fn stages(mut sources: SourceMap, main: FileId, options: &Options) -> Compilation {
    let mut diagnostics = Vec::new();
    let mut timings = Timings::default();

    let start = Instant::now();
    let preprocessing = preprocess::Options {
        include_dirs: options.include_dirs.clone(),
        defines: options.defines.clone(),
        std: options.std,
        math: options.math,
        math_functions: options.math_functions,
    };
    let tokens = preprocess(&mut sources, main, &preprocessing, &mut diagnostics);
    timings.preprocess = start.elapsed();

    let filter = WarningFilter::new(&tokens, &sources);
    let start = Instant::now();
    let headers = tokens.iter().take_while(|token| sources.file(token.span.file).builtin).count();
    let unit = parse_after_headers(tokens, headers, options.std, &mut diagnostics);
    timings.parse = start.elapsed();

    // Without an included file, or past a limit, nearly every name would be undeclared.
    let start = Instant::now();
    let mut program = Program::default();
    if !diagnostics.iter().any(|d| matches!(d.id, "include" | "limit")) {
        let check_options = CheckOptions { std: options.std, warnings: options.warnings || filter.turns_on() };
        let syntax_errors = diagnostics.len();
        program = check(&unit, &sources, check_options, &mut diagnostics);
        program.math_functions = options.math_functions;
        drop_consequences(&mut diagnostics, syntax_errors, &sources);
        let has_errors = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        if check_options.warnings && !has_errors {
            crate::uninitialized::warn(&program, &sources, &mut diagnostics);
        }
    }
    timings.check = start.elapsed();

    // A suggestion helps only in text that the user can edit in place: not inside a macro's expansion.
    for diagnostic in &mut diagnostics {
        if diagnostic.span.is_some_and(|span| span.expansion != ExpansionId::NONE) {
            diagnostic.suggestion = None;
        }
    }
    diagnostics.sort_by_cached_key(|diagnostic| diagnostic.span.map(|span| sources.reading_order(span)));
    // Of an entry point's parameter, an unknown attribute is an error.
    let errors: HashSet<Option<Span>> =
        diagnostics.iter().filter(|d| d.id == "unknown-attribute").map(|d| d.span).collect();
    diagnostics.retain(|d| d.id != "unknown-attributes" || !errors.contains(&d.span));
    filter.apply(&mut diagnostics, &sources, options.warnings);
    Compilation { sources, diagnostics, program, timings }
}

/// Drops errors about names that are not declared because their declaration could not be parsed: those that
/// stand near a syntax error. The first `syntax_errors` diagnostics are from before the checker.
fn drop_consequences(diagnostics: &mut Vec<Diagnostic>, syntax_errors: usize, sources: &SourceMap) {
    let mut lost: HashSet<&str> = HashSet::new();
    for span in diagnostics[..syntax_errors].iter().filter(|d| d.id == "syntax").filter_map(|d| d.span) {
        let span = sources.outermost(span);
        let line = sources.line_column(span).line;
        for line in line.saturating_sub(1)..=line + 1 {
            let text = sources.line_text(span.file, line);
            lost.extend(text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()));
        }
    }
    if lost.is_empty() {
        return;
    }
    let mut position = 0;
    diagnostics.retain(|diagnostic| {
        position += 1;
        let may_be_lost =
            matches!(diagnostic.id, "undeclared-identifier" | "unknown-type" | "no-member" | "not-a-type");
        let name = diagnostic.span.map_or("", |span| sources.text(span));
        position <= syntax_errors || !(may_be_lost && lost.contains(name))
    });
}

/// The machine has no memory for another thread: report that instead of ending the process.
fn no_thread() -> Compilation {
    let mut diagnostic =
        Diagnostic::error("out-of-memory", Default::default(), "no memory for the compiler's stack");
    diagnostic.span = None;
    Compilation {
        sources: SourceMap::new(),
        diagnostics: vec![diagnostic],
        program: Program::default(),
        timings: Timings::default(),
    }
}

impl Compilation {
    /// True if there are errors.
    pub fn has_errors(&self) -> bool {
        self.error_count() > 0
    }

    /// The number of errors.
    pub fn error_count(&self) -> usize {
        self.count(Severity::Error)
    }

    /// The number of warnings.
    pub fn warning_count(&self) -> usize {
        self.count(Severity::Warning)
    }

    fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count()
    }

    /// The interface of the kernels for a host.
    pub fn reflect(&self) -> Reflection {
        reflect(&self.program, &self.sources)
    }

    /// All diagnostics as clang would print them.
    pub fn render_diagnostics(&self, color: bool) -> String {
        render::render_all(&self.diagnostics, &self.sources, color)
    }
}
