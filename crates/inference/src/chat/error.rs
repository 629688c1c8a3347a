//! What can be wrong with a template, or with messages.

use std::fmt;

use crate::weights::FileError;

/// Why a conversation could not be turned into text.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ChatError {
    /// The model file has no template, so that it is not for conversations. The caller's to decide.
    NoTemplate,
    /// The model file says something else where its template should be. The file's fault.
    File(FileError),
    /// The template has a mistake, or something that is not supported. The model file's fault, or a limit of ours.
    Template {
        /// What it is.
        problem: String,
        /// Where it is.
        line: Option<usize>,
    },
    /// The template does not take these messages. The caller's fault, if the template is right.
    Refused {
        /// What the template says.
        problem: String,
        /// Where it says so.
        line: Option<usize>,
    },
}

impl ChatError {
    pub(super) fn template(error: &minijinja::Error) -> Self {
        Self::Template { problem: describe(error), line: error.line() }
    }

    pub(super) fn engine() -> Self {
        Self::Template { problem: "it makes the template engine fail".to_owned(), line: None }
    }

    /// Of an error while a template ran: its own refusals, and the rest.
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
                "the model has no chat template, so that it may not be made for conversations; \
                 use --raw to have it continue the text as it is",
            ),
            Self::File(error) => error.fmt(f),
            Self::Template { problem, line } => {
                write!(f, "the model's chat template does not work: {problem}{}", place(line))
            }
            Self::Refused { problem, line } => {
                write!(f, "the model's chat template does not take these messages: {problem}{}", place(line))
            }
        }
    }
}

impl std::error::Error for ChatError {}
