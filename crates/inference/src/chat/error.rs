//! Errors of chat templates.

use std::fmt;

use crate::weights::FileError;

/// Error of parsing or rendering a chat template.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ChatError {
    /// The model file has no template. The caller may continue text without one.
    NoTemplate,
    /// The template's key is not a string. The file's fault.
    File(FileError),
    /// The template has an error, or is not supported. The model file's fault, or a limit of ours.
    Template {
        /// Message.
        problem: String,
        /// Line in the template.
        line: Option<usize>,
    },
    /// The template rejects these messages. The caller's fault, if the template is right.
    Refused {
        /// Message of the template.
        problem: String,
        /// Line in the template.
        line: Option<usize>,
    },
}

impl ChatError {
    pub(super) fn template(error: &minijinja::Error) -> Self {
        Self::Template { problem: describe(error), line: error.line() }
    }

    /// An error of the template without a line.
    pub(super) fn stopped(problem: impl Into<String>) -> Self {
        Self::Template { problem: problem.into(), line: None }
    }

    /// Converts an error of rendering: `raise_exception` is [`ChatError::Refused`].
    pub(super) fn rendering(error: &minijinja::Error) -> Self {
        use super::functions::Raised;
        let mut cause = std::error::Error::source(error);
        while let Some(error_below) = cause {
            if let Some(Raised(message)) = error_below.downcast_ref() {
                return Self::Refused { problem: message.clone(), line: error.line() };
            }
            cause = error_below.source();
        }
        Self::template(error)
    }
}

fn describe(error: &minijinja::Error) -> String {
    let mut text = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    if let Some(source) = std::error::Error::source(error) {
        text += &format!(": {source}");
    }
    text
}

impl fmt::Display for ChatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |line: &Option<usize>| line.map(|line| format!(" (line {line})")).unwrap_or_default();
        match self {
            Self::NoTemplate => f.write_str(
                "the model has no chat template, so it may not be trained for conversations; \
                 use --raw to continue the text as it is",
            ),
            Self::File(error) => error.fmt(f),
            Self::Template { problem, line } => {
                write!(f, "the model's chat template failed: {problem}{}", place(line))
            }
            Self::Refused { problem, line } => {
                write!(f, "the model's chat template rejects these messages: {problem}{}", place(line))
            }
        }
    }
}

impl std::error::Error for ChatError {}
