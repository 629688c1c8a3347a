//! `#pragma clang diagnostic`: warnings that are turned off, on, or into errors from a place on.

use crate::diagnostics::{Diagnostic, Severity};
use crate::lex::token::{DiagnosticPragma, Pragma, Token, TokenKind, WarningSetting};
use crate::source::{FileId, SourceMap};
use crate::vocabulary::warnings::{contains, is_always_shown};
use smol_str::SmolStr;
use std::collections::HashMap;
use std::rc::Rc;

/// Settings in force at a place, the latest last.
type Settings = Rc<Vec<(SmolStr, WarningSetting)>>;

/// Most groups of warnings with a setting at a time, so that each change can be kept whole.
const MOST_SETTINGS: usize = 256;

/// The settings of a program, by place.
#[derive(Default)]
pub(crate) struct WarningFilter {
    /// Settings of each file, with the offset that they hold from.
    changes: HashMap<FileId, Vec<(u32, Settings)>>,
    /// Files that are system headers from an offset on.
    system_headers: HashMap<FileId, u32>,
}

impl WarningFilter {
    /// The settings that the pragmas among `tokens` make.
    pub(crate) fn new(tokens: &[Token], sources: &SourceMap) -> WarningFilter {
        let mut filter = WarningFilter::default();
        let is_pragma = |token: &Token| matches!(token.kind, TokenKind::Pragma(Pragma::Diagnostic(_)));
        let Some(first) = tokens.iter().position(is_pragma) else { return filter };
        let mut settings = Settings::default();
        let mut pushed = Vec::new();
        let mut file = None;
        for token in &tokens[first..] {
            let span = sources.outermost(token.span);
            let TokenKind::Pragma(Pragma::Diagnostic(pragma)) = &token.kind else {
                // An included file begins with the settings around it, and may leave others behind.
                if file != Some(span.file) {
                    filter.change(span.file, span.start, &settings);
                    file = Some(span.file);
                }
                continue;
            };
            match pragma {
                DiagnosticPragma::Push => pushed.push(settings.clone()),
                DiagnosticPragma::Pop => settings = pushed.pop().unwrap_or_default(),
                DiagnosticPragma::Set(name, setting) => {
                    let settings = Rc::make_mut(&mut settings);
                    settings.retain(|(other, _)| other != name);
                    if settings.len() < MOST_SETTINGS {
                        settings.push((name.clone(), *setting));
                    }
                }
                DiagnosticPragma::SystemHeader => {
                    filter.system_headers.entry(span.file).or_insert(span.start);
                }
            }
            filter.change(span.file, span.start, &settings);
            file = Some(span.file);
        }
        filter
    }

    fn change(&mut self, file: FileId, offset: u32, settings: &Settings) {
        self.changes.entry(file).or_default().push((offset, settings.clone()));
    }

    /// True if some warning is turned on.
    pub(crate) fn turns_on(&self) -> bool {
        let mut settings = self.changes.values().flatten().flat_map(|(_, settings)| settings.iter());
        settings.any(|(_, setting)| *setting != WarningSetting::Ignored)
    }

    /// Drops warnings that are off, and makes errors of those that the program wants as such.
    pub(crate) fn apply(&self, diagnostics: &mut Vec<Diagnostic>, sources: &SourceMap, shows_warnings: bool) {
        diagnostics.retain_mut(|diagnostic| {
            if diagnostic.severity == Severity::Error {
                return true;
            }
            let shown = shows_warnings || is_always_shown(diagnostic.id);
            let Some(span) = diagnostic.span.map(|span| sources.outermost(span)) else { return shown };
            if self.system_headers.get(&span.file).is_some_and(|from| *from <= span.start) {
                return false;
            }
            let changes = self.changes.get(&span.file).map_or(&[][..], Vec::as_slice);
            let changes = changes.iter().rev().find(|(offset, _)| *offset <= span.start);
            let mut settings = changes.iter().flat_map(|(_, settings)| settings.iter().rev());
            match settings.find(|(name, _)| contains(name, diagnostic.id)).map(|(_, setting)| *setting) {
                None => shown,
                Some(WarningSetting::Ignored) => false,
                Some(WarningSetting::Warning) => true,
                Some(WarningSetting::Error) => {
                    diagnostic.severity = Severity::Error;
                    true
                }
            }
        });
    }
}
