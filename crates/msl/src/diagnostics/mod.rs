//! Errors and warnings, and how they are shown.
//!
//! Every stage appends to one list of [`Diagnostic`]s and carries on. [`render`] prints them as clang would,
//! [`json`] as data for editors.

pub mod json;
pub mod render;

use crate::source::Span;

/// Severity of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Severity {
    /// Worth a look; the program is accepted.
    Warning,
    /// The program is refused.
    Error,
}

/// A remark that belongs to a diagnostic: an instantiation, a candidate, an earlier definition.
#[derive(Clone, PartialEq, Debug)]
pub struct Note {
    /// Its text.
    pub message: String,
    /// Place that it is about, if any.
    pub span: Option<Span>,
}

/// One thing that is wrong.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnostic {
    /// A stable short name such as `unknown-type`, for tools and tests.
    pub id: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// One phrase in clang's words.
    pub message: String,
    /// Place of the caret; `None` if it is not about a place in a file.
    pub span: Option<Span>,
    /// Further ranges to underline, on the same line as the caret.
    pub ranges: Vec<Span>,
    /// Replacement for the text at `span`, if one is known.
    pub suggestion: Option<String>,
    /// Remarks, in the order in which they are printed.
    pub notes: Vec<Note>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(id: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            id,
            severity: Severity::Error,
            message: message.into(),
            span: Some(span),
            ranges: Vec::new(),
            suggestion: None,
            notes: Vec::new(),
        }
    }

    /// A warning at `span`.
    pub fn warning(id: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(id, span, message) }
    }

    /// Adds a remark that points somewhere.
    pub fn note(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.notes.push(Note { message: message.into(), span: Some(span) });
        self
    }

    /// Adds a range to underline.
    pub fn range(mut self, span: Span) -> Diagnostic {
        self.ranges.push(span);
        self
    }

    /// Says what to write instead.
    pub fn suggest(mut self, replacement: impl Into<String>) -> Diagnostic {
        self.suggestion = Some(replacement.into());
        self
    }
}
