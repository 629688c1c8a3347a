//! Source files and positions in them.
//!
//! A [`Span`] is a range of bytes where a token was *spelled*, together with the macro expansion that put it into
//! the program. Tokens of a macro's body are spelled in its definition and carry the expansion; tokens of a macro's
//! argument keep the span they had at the call, so that an error in an argument points at the argument.
//!
//! `#line` changes the reported place of text: [`SourceMap::presumed`] is the place for messages, and
//! [`SourceMap::line_column`] the place in the file.

use smol_str::SmolStr;
use std::path::{Path, PathBuf};

/// A file in a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct FileId(pub u32);

/// A macro expansion in a [`SourceMap`]; [`ExpansionId::NONE`] for text written in place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct ExpansionId(pub u32);

impl ExpansionId {
    /// The text was written where it stands.
    pub const NONE: ExpansionId = ExpansionId(0);
}

/// A range of bytes in a file, and the macro expansion it came through.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span {
    /// The file in which the text is spelled.
    pub file: FileId,
    /// Byte offset of the first character.
    pub start: u32,
    /// Byte offset after the last character.
    pub end: u32,
    /// The macro expansion that produced the text.
    pub expansion: ExpansionId,
}

impl Span {
    /// The span from the beginning of `self` to the end of `other`; just `self` where the two do not belong to the
    /// same file and expansion.
    pub fn to(self, other: Span) -> Span {
        let same_text = self.file == other.file && self.expansion == other.expansion;
        if same_text && other.end >= self.start { Span { end: other.end, ..self } } else { self }
    }

    /// An empty span at the end of `self`: where something is missing.
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }
}

/// One file: on disk, embedded in this crate, or handed over as text.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// The name that diagnostics print.
    pub name: String,
    /// File that it was read from; `None` for built-in headers and text given by the caller.
    pub path: Option<PathBuf>,
    /// Its contents.
    pub text: String,
    /// The `#include` that brought it in; `None` for the main file.
    pub included_from: Option<Span>,
    /// A header of the Metal standard library that this crate carries.
    pub builtin: bool,
    line_starts: Vec<u32>,
    /// Its `#line`s, in order.
    line_directives: Vec<LineDirective>,
}

/// `#line 3 "file"`
#[derive(Debug, Clone)]
struct LineDirective {
    /// The line on which it ends.
    at: u32,
    /// Number of the next line.
    next: u32,
    /// The file from there on, if it is called by another name than before.
    name: Option<SmolStr>,
}

/// One use of a macro.
#[derive(Debug, Clone)]
pub struct Expansion {
    /// The macro's name.
    pub macro_name: SmolStr,
    /// The use: for a macro used inside another's body this span carries the outer expansion.
    pub call_site: Span,
    /// The name in its `#define`.
    pub definition: Span,
}

/// A position in a file, counted from 1, in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1, as clang counts.
    pub column: u32,
}

/// A position after `#line` directives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Presumed<'a> {
    /// The name of the file.
    pub file: &'a str,
    /// Line; from 1, where no `#line` says otherwise.
    pub line: u32,
    /// Column in bytes, from 1, as clang counts.
    pub column: u32,
}

impl std::fmt::Display for Presumed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// All files and macro expansions of one compilation.
#[derive(Debug, Clone)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    expansions: Vec<Expansion>,
}

impl Default for SourceMap {
    fn default() -> Self {
        Self::new()
    }
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> SourceMap {
        SourceMap { files: Vec::new(), expansions: Vec::new() }
    }

    /// Adds a file and gives its id.
    pub fn add_file(
        &mut self,
        name: impl Into<String>,
        path: Option<&Path>,
        text: impl Into<String>,
        included_from: Option<Span>,
        builtin: bool,
    ) -> FileId {
        let text = text.into();
        let mut line_starts = vec![0];
        line_starts.extend(text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(i, _)| i as u32 + 1));
        let path = path.map(Path::to_path_buf);
        let name = name.into();
        let line_directives = Vec::new();
        self.files.push(SourceFile { name, path, text, included_from, builtin, line_starts, line_directives });
        FileId(self.files.len() as u32 - 1)
    }

    /// Adds a macro expansion and gives its id.
    pub fn add_expansion(&mut self, expansion: Expansion) -> ExpansionId {
        self.expansions.push(expansion);
        ExpansionId(self.expansions.len() as u32)
    }

    /// The file with this id.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files, in the order in which they were opened.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, f)| (FileId(i as u32), f))
    }

    /// The expansion with this id, `None` for [`ExpansionId::NONE`].
    pub fn expansion(&self, id: ExpansionId) -> Option<&Expansion> {
        (id.0 as usize).checked_sub(1).and_then(|i| self.expansions.get(i))
    }

    /// Numbers the line after `directive` as `next`, in the file `name` if one is given. Directives
    /// are added in the order of the text.
    pub(crate) fn add_line_directive(&mut self, directive: Span, next: u32, name: Option<&str>) {
        let at = self.line_column(directive.after()).line;
        let directives = &mut self.files[directive.file.0 as usize].line_directives;
        let earlier = directives.last().and_then(|directive| directive.name.clone());
        // The name is printed: it must not end the line there, nor move the cursor.
        let name = name.map(|name| SmolStr::new(name.replace(char::is_control, "?")));
        directives.push(LineDirective { at, next, name: name.or(earlier) });
    }

    /// Start of `span` after the `#line` directives of its file, for messages.
    pub fn presumed(&self, span: Span) -> Presumed<'_> {
        let LineColumn { line, column } = self.line_column(span);
        let (file, line) = self.presumed_line(span.file, line);
        Presumed { file, line, column }
    }

    /// The presumed file and line of line `line` (from 1) of a file.
    pub(crate) fn presumed_line(&self, file: FileId, line: u32) -> (&str, u32) {
        let file = self.file(file);
        let before = file.line_directives.partition_point(|directive| directive.at < line);
        let Some(directive) = before.checked_sub(1).map(|last| &file.line_directives[last]) else {
            return (&file.name, line);
        };
        let name = directive.name.as_deref().unwrap_or(&file.name);
        (name, directive.next.wrapping_add(line - directive.at - 1))
    }

    /// Start of `span`, in lines and columns of its file.
    pub fn line_column(&self, span: Span) -> LineColumn {
        let file = self.file(span.file);
        let line = file.line_starts.partition_point(|&s| s <= span.start).max(1) - 1;
        LineColumn { line: line as u32 + 1, column: span.start - file.line_starts[line] + 1 }
    }

    /// The text of line `line` (from 1) without its line break; empty past the end.
    pub fn line_text(&self, file: FileId, line: u32) -> &str {
        let file = self.file(file);
        let Some(&start) = file.line_starts.get(line.saturating_sub(1) as usize) else { return "" };
        let end = file.line_starts.get(line as usize).map_or(file.text.len(), |&e| e as usize);
        file.text[start as usize..end].trim_end_matches(['\n', '\r'])
    }

    /// The text that `span` covers where it is spelled.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// A key by which spans sort in the order of reading: the places of the `#include`s that lead to it, from the
    /// main file inwards, then its own.
    pub fn reading_order(&self, span: Span) -> Vec<u32> {
        let mut order = Vec::new();
        let mut next = Some(span);
        while let Some(span) = next {
            let span = self.outermost(span);
            order.push(span.start);
            next = self.files.get(span.file.0 as usize).and_then(|file| file.included_from);
        }
        order.reverse();
        order
    }

    /// The outermost use of the macros that `span` came through: the place that a user looks at.
    pub fn outermost(&self, mut span: Span) -> Span {
        while let Some(expansion) = self.expansion(span.expansion) {
            span = expansion.call_site;
        }
        span
    }
}
