//! `#include`: finding files and reading them.

use super::{Preprocessor, behind, limits};
use crate::diagnostics::{Diagnostic, Note};
use crate::lex::token::Punct;
use crate::lex::{RawKind, RawToken, known};
use crate::source::{FileId, Span};
use std::fs;
use std::path::{Path, PathBuf};

/// A file, however its name is written.
#[derive(PartialEq, Eq, Hash, Clone)]
pub(super) enum FileKey {
    Builtin(String),
    Path(PathBuf),
}

/// Operand of `#include`.
struct HeaderName {
    text: String,
    /// In quotes rather than `<>`.
    quoted: bool,
    span: Span,
}

/// Header that a name leads to.
enum Found {
    Builtin(&'static str),
    Path(PathBuf),
    /// Only a directory has this name.
    Directory(PathBuf),
    Nothing,
}

impl Preprocessor<'_> {
    pub(super) fn include(&mut self, keyword: RawToken, operands: &[RawToken]) {
        let place = behind(keyword);
        let Some(name) = self.header_name(operands, place) else {
            return;
        };
        if name.text.is_empty() {
            self.error("include", name.span, "empty filename");
            return;
        }
        if self.frames.len() > limits::INCLUDE_DEPTH {
            self.too_deep(&name);
            return;
        }
        let from = keyword.span.to(name.span);
        let skip = if keyword.symbol == known::INCLUDE_NEXT { self.current_directory() } else { None };
        match self.find(&name, skip.as_deref()) {
            Found::Builtin(text) => self.open_builtin(&name, text, from),
            Found::Path(path) => {
                if keyword.symbol == known::IMPORT {
                    let key = FileKey::Path(canonical(&path));
                    if !self.once.insert(key) {
                        return;
                    }
                    self.open_file(&name, &path, from, true);
                } else {
                    self.open_file(&name, &path, from, false);
                }
            }
            Found::Directory(path) => {
                let message = format!("cannot open file '{}': it is a directory", path.display());
                self.error("include", name.span, message);
            }
            Found::Nothing => self.not_found(&name),
        }
    }

    /// `__has_include`: true if the file exists.
    pub(super) fn has_include(&mut self, open: RawToken, operands: &[RawToken]) -> bool {
        match self.header_name(operands, behind(open)) {
            Some(name) => matches!(self.find(&name, None), Found::Builtin(_) | Found::Path(_)),
            None => false,
        }
    }

    /// The name in `operands`, whose macros are expanded if it does not begin like one.
    fn header_name(&mut self, operands: &[RawToken], place: Span) -> Option<HeaderName> {
        let is_name = |token: &RawToken| {
            matches!(token.kind, RawKind::HeaderName | RawKind::Str | RawKind::Punct(Punct::Less))
        };
        if operands.first().is_some_and(is_name) {
            return self.written_name(operands);
        }
        let mut expanded = Vec::new();
        self.expand_alone(operands, &mut expanded);
        if expanded.first().is_some_and(is_name) {
            return self.written_name(&expanded);
        }
        let span = operands.first().map_or(place, |token| token.span);
        self.error("include", span, "expected \"FILENAME\" or <FILENAME>");
        None
    }

    fn written_name(&mut self, operands: &[RawToken]) -> Option<HeaderName> {
        let (&first, rest) = operands.split_first()?;
        let whole = self.text(first);
        let inner = whole.get(1..whole.len().saturating_sub(1)).unwrap_or("").to_owned();
        match first.kind {
            RawKind::Str if !first.has(RawToken::UNTERMINATED) && whole.starts_with('"') => {
                self.extra_tokens("include", rest);
                Some(HeaderName { text: inner, quoted: true, span: first.span })
            }
            RawKind::HeaderName => {
                self.extra_tokens("include", rest);
                Some(HeaderName { text: inner, quoted: false, span: first.span })
            }
            RawKind::Punct(Punct::Less) => {
                let Some(close) = rest.iter().position(|token| token.is(Punct::Greater)) else {
                    let place = behind(*rest.last().unwrap_or(&first));
                    let error = Diagnostic::error("include", place, "expected '>'");
                    self.report(error.note(first.span, "to match this '<'"));
                    return None;
                };
                let mut text = String::new();
                for (i, &token) in rest[..close].iter().enumerate() {
                    if i > 0 && token.leading_space() {
                        text.push(' ');
                    }
                    text.push_str(self.text(token));
                }
                self.extra_tokens("include", &rest[close + 1..]);
                Some(HeaderName { text, quoted: false, span: first.span.to(rest[close].span) })
            }
            _ => {
                self.error("include", first.span, "expected \"FILENAME\" or <FILENAME>");
                None
            }
        }
    }

    /// The directory of the file being read.
    fn current_directory(&self) -> Option<PathBuf> {
        let file = self.sources.file(self.frames.last()?.file);
        Some(file.path.as_ref()?.parent()?.to_path_buf())
    }

    /// The directories to look in, in order.
    fn search_path(&self, quoted: bool) -> Vec<PathBuf> {
        let own = if quoted { self.current_directory() } else { None };
        own.into_iter().chain(self.options.include_dirs.iter().cloned()).collect()
    }

    /// `<x>` means a built-in header first, `"x"` only if there is no such file.
    fn find(&self, name: &HeaderName, skip: Option<&Path>) -> Found {
        let builtin = crate::stdlib::header(&name.text);
        if let Some(text) = builtin.filter(|_| !name.quoted) {
            return Found::Builtin(text);
        }
        let mut found = Found::Nothing;
        if !name.text.contains('\0') {
            let absolute = Path::new(&name.text).is_absolute();
            let directories = if absolute { vec![PathBuf::new()] } else { self.search_path(name.quoted) };
            for directory in directories.iter().filter(|directory| skip != Some(directory)) {
                let path = directory.join(&name.text);
                match fs::metadata(&path) {
                    Ok(metadata) if metadata.is_dir() => found = Found::Directory(path),
                    Ok(_) => return Found::Path(path),
                    Err(_) => {}
                }
            }
        }
        builtin.map_or(found, Found::Builtin)
    }

    fn not_found(&mut self, name: &HeaderName) {
        let mut error = Diagnostic::error("include", name.span, format!("'{}' file not found", name.text));
        let mut places: Vec<String> = Vec::new();
        for directory in self.search_path(name.quoted) {
            let shown = directory.display().to_string();
            places.push(format!("'{}'", if shown.is_empty() { "." } else { &shown }));
        }
        places.push("the built-in headers".into());
        let message = format!("searched in {}", places.join(", "));
        error.notes.push(Note { message, span: None });
        self.report(error);
    }

    fn too_deep(&mut self, name: &HeaderName) {
        let mut error = Diagnostic::error("include-depth", name.span, "#include nested too deeply");
        let file_name = |file: FileId| &self.sources.file(file).name;
        // The files from the last one's previous appearance on are the cycle, if there is one.
        let names: Vec<&String> = self.frames.iter().map(|frame| file_name(frame.file)).collect();
        if let Some((last, earlier)) = names.split_last()
            && let Some(start) = earlier.iter().rposition(|name| name == last)
        {
            let cycle: Vec<String> = names[start..].iter().map(|name| format!("'{name}'")).collect();
            let message = format!("a file includes itself: {}", cycle.join(" includes "));
            error.notes.push(Note { message, span: None });
        }
        self.stop(error);
    }

    fn open_builtin(&mut self, name: &HeaderName, text: &'static str, from: Span) {
        // Those with `#pragma once` are read once; the table of mathematical functions is read for each namespace.
        let once = text.lines().any(|line| line == "#pragma once");
        if !once || self.once.insert(FileKey::Builtin(name.text.clone())) {
            let file = self.sources.add_file(format!("<{}>", name.text), None, text, Some(from), true);
            self.push_frame(file);
        }
    }

    fn open_file(&mut self, name: &HeaderName, path: &Path, from: Span, import: bool) {
        let key = FileKey::Path(canonical(path));
        if !import && (self.once.contains(&key) || self.is_guarded(&key)) {
            return;
        }
        let text = match read(path) {
            Ok(text) => text,
            Err(reason) => {
                self.error("include", name.span, format!("cannot open file '{}': {reason}", path.display()));
                return;
            }
        };
        self.included_files += 1;
        self.included_bytes += text.len();
        if self.included_files > limits::INCLUDED_FILES || self.included_bytes > limits::INCLUDED_BYTES {
            let message = "too many files are included";
            self.stop(Diagnostic::error("include-limit", name.span, message));
            return;
        }
        let shown = path.display().to_string();
        let file = self.sources.add_file(shown, Some(path), text, Some(from), false);
        self.push_frame(file);
        self.remember_guard(key);
    }

    /// `#pragma once`: the file being read is not opened again.
    pub(super) fn pragma_once(&mut self, pragma: RawToken) {
        let Some(frame) = self.frames.last() else {
            return;
        };
        let file = self.sources.file(frame.file);
        if self.frames.len() == 1 {
            self.warning("pragma-once-outside-header", pragma.span, "#pragma once in main file");
        } else if let Some(path) = &file.path {
            let key = FileKey::Path(canonical(path));
            self.once.insert(key);
        }
    }
}

fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

fn read(path: &Path) -> Result<String, String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a regular file".into());
    }
    if metadata.len() > limits::FILE_BYTES {
        return Err(format!("it is larger than {} MiB", limits::FILE_BYTES >> 20));
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes)
        .map_err(|error| format!("it is not valid UTF-8 (at byte {})", error.utf8_error().valid_up_to()))
}
