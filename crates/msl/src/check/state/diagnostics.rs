//! Reported diagnostics, with the instantiations that led to them.

use crate::diagnostics::{Diagnostic, Severity};
use crate::source::Span;
use crate::vocabulary::warnings::is_always_shown;

/// Most errors to report, and most warnings.
const MAX_ERRORS: usize = 200;

pub(in crate::check) struct Diagnostics {
    list: Vec<Diagnostic>,
    shows_warnings: bool,
    /// Current instantiations, outermost first: a note and the place that needed each.
    instantiations: Vec<(String, Span)>,
    /// Set when a limit is hit: nothing is instantiated any more, as after clang's fatal error.
    limit: Option<Diagnostic>,
    /// Number of nested attempts. Their diagnostics are dropped, so they need no suggestions.
    attempts: u32,
}

/// Length of the list at some moment.
#[derive(Clone, Copy)]
pub(in crate::check) struct Mark(usize);

impl Diagnostics {
    pub(in crate::check) fn new(shows_warnings: bool) -> Diagnostics {
        Diagnostics { list: Vec::new(), shows_warnings, instantiations: Vec::new(), limit: None, attempts: 0 }
    }

    pub(in crate::check) fn shows_warnings(&self) -> bool {
        self.shows_warnings
    }

    /// Reports `diagnostic` with the instantiations that led to it.
    pub(in crate::check) fn report(&mut self, mut diagnostic: Diagnostic) {
        if self.is_full(diagnostic.severity) {
            return;
        }
        if diagnostic.severity == Severity::Warning && !self.shows_warnings && !is_always_shown(diagnostic.id) {
            return;
        }
        // A mistake that does not depend on the arguments was reported for the template as written. An assertion that
        // does is one of each instance.
        let known = |old: &Diagnostic| {
            (old.id, old.span, &old.message) == (diagnostic.id, diagnostic.span, &diagnostic.message)
                && (old.id != "static-assert" || old.notes.is_empty())
        };
        if !self.instantiations.is_empty() && self.list.iter().any(known) {
            return;
        }
        // As clang does: the first and last few of a long chain.
        const SHOWN: usize = 5;
        let count = self.instantiations.len();
        for (index, (message, span)) in self.instantiations.iter().rev().enumerate() {
            if count <= 2 * SHOWN || index < SHOWN || index >= count - SHOWN {
                diagnostic = diagnostic.note(*span, message.clone());
            } else if index == SHOWN {
                let skipped = count - 2 * SHOWN;
                diagnostic = diagnostic.note(*span, format!("(skipping {skipped} contexts in backtrace)"));
            }
        }
        if !self.list.contains(&diagnostic) {
            self.list.push(diagnostic);
        }
    }

    pub(in crate::check) fn error(&mut self, id: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(id, span, message));
    }

    pub(in crate::check) fn warn(&mut self, id: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::warning(id, span, message));
    }

    /// Reports that a limit is hit, the first time; from then on nothing is instantiated.
    pub(in crate::check) fn give_up(&mut self, id: &'static str, span: Span, message: String) {
        if self.limit.is_some() {
            return;
        }
        // One note is enough: the chain of instantiations is as long as the limit.
        let first = self.instantiations.first().cloned();
        let diagnostic = Diagnostic::error(id, span, message);
        let diagnostic = match first {
            Some((message, at)) => diagnostic.note(at, message),
            None => diagnostic,
        };
        self.limit = Some(diagnostic.clone());
        self.list.push(diagnostic);
    }

    pub(in crate::check) fn gave_up(&self) -> bool {
        self.limit.is_some()
    }

    /// The list, once everything is checked.
    pub(in crate::check) fn into_list(mut self) -> Vec<Diagnostic> {
        // A limit that was hit during an attempt must be reported, too.
        if let Some(limit) = self.limit.take()
            && !self.list.contains(&limit)
        {
            self.list.push(limit);
        }
        self.list
    }

    // --- attempts ----------------------------------------------------------------------------------------------

    /// Begins an attempt with an empty list; [`Diagnostics::end_attempt`] takes the list that this returns.
    pub(in crate::check) fn begin_attempt(&mut self) -> Vec<Diagnostic> {
        self.attempts += 1;
        std::mem::take(&mut self.list)
    }

    /// Drops the attempt's diagnostics; returns its first error.
    pub(in crate::check) fn end_attempt(&mut self, outer: Vec<Diagnostic>) -> Option<Diagnostic> {
        self.attempts -= 1;
        let list = std::mem::replace(&mut self.list, outer);
        list.into_iter().find(|diagnostic| diagnostic.severity == Severity::Error)
    }

    pub(in crate::check) fn is_attempt(&self) -> bool {
        self.attempts > 0
    }

    /// True if another diagnostic would not be shown. Warnings take no room from errors.
    fn is_full(&self, severity: Severity) -> bool {
        let counts = |old: &&Diagnostic| severity == Severity::Warning || old.severity == Severity::Error;
        self.list.len() >= MAX_ERRORS && self.list.iter().filter(counts).count() >= MAX_ERRORS
    }

    /// True if a diagnostic that is reported now is shown, and worth a search for a suggestion.
    pub(in crate::check) fn wants_suggestions(&self) -> bool {
        !self.is_attempt() && !self.is_full(Severity::Error)
    }

    // --- marks -------------------------------------------------------------------------------------------------

    pub(in crate::check) fn mark(&self) -> Mark {
        Mark(self.list.len())
    }

    pub(in crate::check) fn is_unchanged_since(&self, mark: Mark) -> bool {
        self.list.len() == mark.0
    }

    pub(in crate::check) fn has_errors_since(&self, mark: Mark) -> bool {
        self.list[mark.0..].iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Moves the first diagnostic after `mark` to `span`.
    pub(in crate::check) fn relocate_first_since(&mut self, mark: Mark, span: Span) {
        if let Some(diagnostic) = self.list.get_mut(mark.0) {
            diagnostic.span = Some(span);
        }
    }

    // --- instantiations ----------------------------------------------------------------------------------------

    pub(in crate::check) fn enter_instantiation(&mut self, note: String, span: Span) {
        self.instantiations.push((note, span));
    }

    pub(in crate::check) fn leave_instantiation(&mut self) {
        self.instantiations.pop();
    }

    /// Sets the chain of instantiations; returns the old one.
    pub(in crate::check) fn replace_instantiations(&mut self, chain: Vec<(String, Span)>) -> Vec<(String, Span)> {
        std::mem::replace(&mut self.instantiations, chain)
    }

    pub(in crate::check) fn instantiation_depth(&self) -> usize {
        self.instantiations.len()
    }
}
