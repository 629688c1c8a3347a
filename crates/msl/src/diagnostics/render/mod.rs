//! Diagnostics as clang prints them.
//!
//! A diagnostic in a macro is shown where the outermost macro is used, followed by a note for each macro on the way
//! in, the outermost first. Places are those that `#line` gives, the line that is shown is the one that is there.

#[cfg(test)]
mod tests;

use super::{Diagnostic, Severity};
use crate::source::{Presumed, SourceMap, Span};
use std::borrow::Cow;
use std::fmt::Write;

/// Notes about macros for one diagnostic; of more, the first and last half are shown.
const MACRO_NOTES: usize = 10;
/// clang's limit: a longer line is not shown.
const LINE_BYTES: usize = 4096;
const TAB_STOP: usize = 8;

const RESET: &str = "\x1b[0m";
const BOLD: &str = "\x1b[1m";
const CARET: &str = "\x1b[0;1;32m";
const SUGGESTION: &str = "\x1b[0;32m";

/// One diagnostic with its notes; every line ends with a line break.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap, color: bool) -> String {
    render_all(std::slice::from_ref(diagnostic), sources, color)
}

/// All diagnostics, without a summary. The chain of includes is only shown where it changes.
pub fn render_all(diagnostics: &[Diagnostic], sources: &SourceMap, color: bool) -> String {
    let mut printer = Printer { sources, color, out: String::new(), included_from: None };
    for diagnostic in diagnostics {
        let level = match diagnostic.severity {
            Severity::Warning => Level::Warning,
            Severity::Error => Level::Error,
        };
        let suggestion = diagnostic.suggestion.as_deref();
        printer.message(level, &diagnostic.message, diagnostic.span, &diagnostic.ranges, suggestion);
        for note in &diagnostic.notes {
            printer.message(Level::Note, &note.message, note.span, &[], None);
        }
    }
    printer.out
}

/// clang's last line, `2 warnings and 1 error generated.`; `None` when there were neither.
pub fn summary(errors: usize, warnings: usize) -> Option<String> {
    let count = |count: usize, what: &str| {
        let plural = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} {what}{plural}"))
    };
    match (count(warnings, "warning"), count(errors, "error")) {
        (None, None) => None,
        (Some(one), None) | (None, Some(one)) => Some(format!("{one} generated.")),
        (Some(warnings), Some(errors)) => Some(format!("{warnings} and {errors} generated.")),
    }
}

/// The macros through which `span` came, the outermost first: each one's name and the place in its definition.
fn macro_backtrace(sources: &SourceMap, mut span: Span) -> Vec<(String, Span)> {
    let mut levels = Vec::new();
    while let Some(expansion) = sources.expansion(span.expansion) {
        levels.push((expansion.macro_name.to_string(), span));
        span = expansion.call_site;
    }
    levels.reverse();
    levels
}

/// A [`macro_backtrace`], without the middle of a long one.
pub(super) struct Backtrace {
    pub(super) levels: Vec<(String, Span)>,
    /// Index in `levels` behind the gap, and the number of levels left out.
    pub(super) skipped: Option<(usize, usize)>,
}

pub(super) fn short_backtrace(sources: &SourceMap, span: Span) -> Backtrace {
    let mut levels = macro_backtrace(sources, span);
    if levels.len() <= MACRO_NOTES {
        return Backtrace { levels, skipped: None };
    }
    let half = MACRO_NOTES / 2;
    let skipped = levels.len() - MACRO_NOTES;
    levels.drain(half..half + skipped);
    Backtrace { levels, skipped: Some((half, skipped)) }
}

/// Message in place of the notes that are left out.
pub(super) fn skipped_message(skipped: usize) -> String {
    format!("(skipping {skipped} expansion{} in backtrace)", if skipped == 1 { "" } else { "s" })
}

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Error,
    Warning,
    Note,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }

    fn color(self) -> &'static str {
        match self {
            Level::Error => "\x1b[0;1;31m",
            Level::Warning => "\x1b[0;1;35m",
            Level::Note => "\x1b[0;1;36m",
        }
    }
}

struct Printer<'a> {
    sources: &'a SourceMap,
    color: bool,
    out: String,
    /// Place that included the last diagnostic's file.
    included_from: Option<Span>,
}

impl Printer<'_> {
    fn message(&mut self, level: Level, text: &str, span: Option<Span>, ranges: &[Span], suggestion: Option<&str>) {
        let Some(span) = span else {
            self.headline(level, text, None);
            return;
        };
        let place = self.sources.outermost(span);
        if level != Level::Note {
            self.include_chain(place);
        }
        let outer: Vec<Span> = ranges.iter().map(|&range| self.sources.outermost(range)).collect();
        self.headline(level, text, Some(place));
        // A suggestion is about the text of the macro, not about its use.
        let in_place = span.expansion == place.expansion;
        self.snippet(place, &outer, suggestion.filter(|_| in_place));
        let Backtrace { levels, skipped } = short_backtrace(self.sources, span);
        for (i, (name, place)) in levels.into_iter().enumerate() {
            if let Some((_, count)) = skipped.filter(|&(after, _)| after == i) {
                self.headline(Level::Note, &skipped_message(count), None);
            }
            let inner: Vec<Span> =
                ranges.iter().copied().filter(|range| range.expansion == place.expansion).collect();
            self.headline(Level::Note, &format!("expanded from macro '{name}'"), Some(place));
            self.snippet(place, &inner, suggestion.filter(|_| place == span));
        }
    }

    fn include_chain(&mut self, place: Span) {
        let included_from = self.sources.file(place.file).included_from;
        if std::mem::replace(&mut self.included_from, included_from) == included_from {
            return;
        }
        let mut chain = Vec::new();
        let mut next = included_from;
        // A file is always included by one that was opened before it.
        while let Some(from) = next {
            let from = self.sources.outermost(from);
            chain.push(from);
            next = self.sources.file(from.file).included_from;
        }
        for from in chain.iter().rev() {
            let Presumed { file, line, .. } = self.sources.presumed(*from);
            let file = printable(file);
            let _ = writeln!(self.out, "In file included from {file}:{line}:");
        }
    }

    /// `file:line:column: error: message`.
    fn headline(&mut self, level: Level, message: &str, place: Option<Span>) {
        let place = place.map_or(String::new(), |place| format!("{}: ", self.sources.presumed(place)));
        let (place, message) = (printable(&place), printable(message));
        let word = level.word();
        let line = match (self.color, level) {
            (false, _) => format!("{place}{word}: {message}"),
            (true, Level::Note) => format!("{BOLD}{place}{RESET}{}{word}: {RESET}{message}", level.color()),
            (true, _) => {
                format!("{BOLD}{place}{RESET}{}{word}: {RESET}{BOLD}{message}{RESET}", level.color())
            }
        };
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }

    /// The source line, the line with the caret, and the suggestion.
    fn snippet(&mut self, place: Span, ranges: &[Span], suggestion: Option<&str>) {
        let position = self.sources.line_column(place);
        let text = self.sources.line_text(place.file, position.line);
        if text.len() > LINE_BYTES || (text.trim().is_empty() && suggestion.is_none()) {
            return;
        }
        let line = ShownLine::new(text);
        let line_start = place.start + 1 - position.column;
        let column = |offset: u32| line.column(offset.saturating_sub(line_start) as usize);
        let caret = column(place.start);
        let mut marks = vec![b' '; line.width.max(caret + 1)];
        let line_end = line_start + text.len() as u32;
        for range in ranges.iter().chain([&place]) {
            let on_line = range.file == place.file && range.start <= line_end && range.end >= line_start;
            if on_line {
                let (start, end) = (column(range.start), column(range.end.min(line_end)));
                marks[start..end.max(start)].fill(b'~');
            }
        }
        marks[caret] = b'^';
        let marks = String::from_utf8(marks).unwrap_or_default();
        let _ = writeln!(self.out, "{}", line.text.trim_end());
        self.colored(CARET, marks.trim_end());
        if let Some(suggestion) = suggestion.and_then(|s| s.lines().next()).filter(|s| !s.trim().is_empty()) {
            let suggestion = printable(suggestion);
            self.colored(SUGGESTION, format!("{}{suggestion}", " ".repeat(caret)).trim_end());
        }
    }

    fn colored(&mut self, color: &str, line: &str) {
        let _ = match self.color {
            true => writeln!(self.out, "{color}{line}{RESET}"),
            false => writeln!(self.out, "{line}"),
        };
    }
}

/// True for characters that would move the cursor, change colors or reorder the text; they are shown by their codes.
fn moves_cursor(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn code(c: char) -> String {
    format!("<U+{:04X}>", u32::from(c))
}

/// Text of a message, which may come from a file, as a terminal may see it.
fn printable(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| !moves_cursor(c) || matches!(c, '\n' | '\t');
    if text.chars().all(is_plain) {
        return text.into();
    }
    text.chars().map(|c| if is_plain(c) { c.to_string() } else { code(c) }).collect()
}

/// A source line as a terminal shows it.
struct ShownLine {
    text: String,
    width: usize,
    /// The column at which each byte is shown.
    columns: Vec<usize>,
}

impl ShownLine {
    fn new(line: &str) -> ShownLine {
        let mut shown = ShownLine { text: String::new(), width: 0, columns: Vec::with_capacity(line.len()) };
        for c in line.chars() {
            shown.columns.extend(std::iter::repeat_n(shown.width, c.len_utf8()));
            match c {
                '\t' => {
                    let blanks = TAB_STOP - shown.width % TAB_STOP;
                    shown.text.extend(std::iter::repeat_n(' ', blanks));
                    shown.width += blanks;
                }
                _ if moves_cursor(c) => {
                    let code = code(c);
                    shown.text.push_str(&code);
                    shown.width += code.len();
                }
                _ => {
                    shown.text.push(c);
                    shown.width += width(c);
                }
            }
        }
        shown
    }

    fn column(&self, byte: usize) -> usize {
        self.columns.get(byte).copied().unwrap_or(self.width)
    }
}

/// Columns of `c` in a terminal, for the scripts that people write comments in.
fn width(c: char) -> usize {
    match u32::from(c) {
        0x0300..=0x036f | 0x20d0..=0x20ff | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}
