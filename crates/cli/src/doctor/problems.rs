//! What is wrong, and what to do about it.

use super::findings::{Problem, Severity};

/// Problems that were found so far.
#[derive(Default)]
pub(super) struct Problems {
    pub(super) found: Vec<Problem>,
}

impl Problems {
    /// It must be mended.
    pub(super) fn error(&mut self, what: impl Into<String>, advice: impl Into<String>) {
        self.found.push(Problem { severity: Severity::Error, what: what.into(), advice: advice.into() });
    }

    /// It should be mended.
    pub(super) fn warning(&mut self, what: impl Into<String>, advice: impl Into<String>) {
        self.found.push(Problem { severity: Severity::Warning, what: what.into(), advice: advice.into() });
    }

    /// It is good to know.
    pub(super) fn note(&mut self, what: impl Into<String>, advice: impl Into<String>) {
        self.found.push(note(what, advice));
    }
}

pub(super) fn note(what: impl Into<String>, advice: impl Into<String>) -> Problem {
    Problem { severity: Severity::Note, what: what.into(), advice: advice.into() }
}
