//! The text of an answer on stdout: Markdown is rendered on a terminal.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use super::markdown::Markdown;
use crate::output;

/// An answer that is being written.
pub(super) struct AnswerText {
    markdown: Option<Markdown>,
}

impl AnswerText {
    /// `is_markdown`: the answer is one of a chat, not a text that is continued.
    pub(super) fn new(is_markdown: bool) -> AnswerText {
        AnswerText { markdown: (is_markdown && output::styles_stdout()).then(Markdown::default) }
    }

    /// Writes the next part. If that fails, stdout is closed: cancels the answer, and the next write reports the error.
    pub(super) fn write(&mut self, text: &str, cancelled: &AtomicBool) {
        let written = match &mut self.markdown {
            Some(markdown) => output::styled(&markdown.push(text)),
            None => output::result(text),
        };
        if written.is_err() {
            cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Writes what was held back, and ends the line.
    pub(super) fn finish(self) -> io::Result<()> {
        let rest = self.markdown.map_or_else(String::new, |mut markdown| markdown.finish());
        output::styled(&(rest + "\n"))
    }
}
