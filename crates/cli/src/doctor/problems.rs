//! Problems, each with advice.

use super::findings::{Problem, Severity};

/// Problems found so far.
#[derive(Default)]
pub(super) struct Problems {
    pub(super) found: Vec<Problem>,
}

impl Problems {
    /// Adds a problem that must be fixed.
    pub(super) fn error(&mut self, what: impl Into<String>, advice: impl Into<String>) {
        self.found.push(Problem { severity: Severity::Error, what: what.into(), advice: advice.into() });
    }

    /// Adds a problem that should be fixed.
    pub(super) fn warning(&mut self, what: impl Into<String>, advice: impl Into<String>) {
        self.found.push(Problem { severity: Severity::Warning, what: what.into(), advice: advice.into() });
    }

    /// Adds a note.
    pub(super) fn note(&mut self, what: impl Into<String>, advice: impl Into<String>) {
        self.found.push(note(what, advice));
    }
}

pub(super) fn note(what: impl Into<String>, advice: impl Into<String>) -> Problem {
    Problem { severity: Severity::Note, what: what.into(), advice: advice.into() }
}
