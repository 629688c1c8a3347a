//! Line editor of the chat: history, several lines, pasted text.

use std::borrow::Cow;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use rustyline::completion::Completer;
use rustyline::config::Behavior;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Editor, Helper};

use super::history;

/// Marks the beginning and the end of a message of several lines.
const QUOTES: &str = "\"\"\"";

/// Result of [`LineEditor::read`].
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Input {
    /// A message, without the marks of continued lines.
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of the input.
    End,
}

/// Reads messages from a terminal.
pub(super) struct LineEditor {
    editor: Editor<Lines, FileHistory>,
    /// The history.
    file: Option<PathBuf>,
}

impl LineEditor {
    pub(super) fn new() -> io::Result<LineEditor> {
        // If answers go to a file, the message is still edited on the terminal.
        let behavior = if io::stdout().is_terminal() { Behavior::Stdio } else { Behavior::PreferTerm };
        let config =
            Config::builder().behavior(behavior).max_history_size(history::MESSAGES).map_err(failure)?.build();
        let mut editor = Editor::with_config(config).map_err(failure)?;
        editor.set_helper(Some(Lines));
        let file = history::file();
        if let Some(path) = &file {
            // The first chat has no history yet.
            let _ = editor.load_history(path);
        }
        Ok(LineEditor { editor, file })
    }

    /// Reads a message. Pasted text is one message, however many lines it has.
    pub(super) fn read(&mut self) -> io::Result<Input> {
        match self.editor.readline("> ") {
            Ok(text) => {
                if !text.trim().is_empty() {
                    self.editor.add_history_entry(text.as_str()).map_err(failure)?;
                    self.keep(&text);
                }
                Ok(Input::Text(without_marks(&text).into_owned()))
            }
            Err(ReadlineError::Interrupted) => Ok(Input::Interrupted),
            Err(ReadlineError::Eof) => Ok(Input::End),
            Err(error) => Err(failure(error)),
        }
    }

    /// Adds a message to the file: at once, for a chat may end by a signal. A chat without a history is no failure.
    fn keep(&self, message: &str) {
        if let Some(path) = &self.file {
            let _ = history::add(path, message);
        }
    }
}

/// Enter ends a message unless the line ends with a backslash or a quoted message is open.
struct Lines;

impl Helper for Lines {}

impl Highlighter for Lines {}

impl Completer for Lines {
    type Candidate = String;
}

impl Hinter for Lines {
    type Hint = String;
}

impl Validator for Lines {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let is_open = continues(context.input());
        Ok(if is_open { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

/// True if a message goes on in the next line.
fn continues(text: &str) -> bool {
    match text.trim_start().strip_prefix(QUOTES) {
        Some(rest) => !rest.trim_end().ends_with(QUOTES),
        None => text.ends_with('\\'),
    }
}

/// Removes quotes around a message, or backslashes at the ends of its lines.
fn without_marks(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim();
    let quoted = trimmed.strip_prefix(QUOTES).and_then(|rest| rest.strip_suffix(QUOTES));
    match quoted {
        Some(inside) => inside.trim_matches('\n').into(),
        None => text.replace("\\\n", "\n").into(),
    }
}

fn failure(error: ReadlineError) -> io::Error {
    match error {
        ReadlineError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_may_have_several_lines() {
        for (text, is_open) in [
            ("hello", false),
            ("", false),
            ("hello \\", true),
            ("hello \\\nworld", false),
            ("\"\"\"", true),
            ("\"\"\"one\ntwo", true),
            ("\"\"\"one\ntwo\"\"\"", false),
            ("say \"\"\"", false),
        ] {
            assert_eq!(continues(text), is_open, "{text:?}");
        }
    }

    #[test]
    fn marks_are_no_part_of_a_message() {
        assert_eq!(without_marks("hello"), "hello");
        assert_eq!(without_marks("one \\\ntwo"), "one \ntwo");
        assert_eq!(without_marks("\"\"\"\none\ntwo\n\"\"\""), "one\ntwo");
        assert_eq!(without_marks("pasted\ntext"), "pasted\ntext");
        assert_eq!(without_marks("a \\ b"), "a \\ b");
    }
}
