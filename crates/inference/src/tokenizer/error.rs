//! Errors of vocabularies and tokens.

use std::fmt;

/// Error of creating a tokenizer or decoding a token.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TokenizerError {
    /// The vocabulary contradicts itself. The model file's fault.
    Vocabulary(String),
    /// Unsupported tokenizer model. A limit of ours.
    UnknownModel(String),
    /// Unsupported pre-tokenizer. A limit of ours.
    UnknownPreTokenizer(String),
    /// The vocabulary has no token with this id. The caller's fault.
    NoToken {
        /// Id.
        id: u32,
        /// Number of tokens in the vocabulary.
        count: usize,
    },
}

impl TokenizerError {
    pub(super) fn vocabulary(problem: impl Into<String>) -> Self {
        Self::Vocabulary(problem.into())
    }
}

impl fmt::Display for TokenizerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vocabulary(problem) => write!(f, "the vocabulary is invalid: {problem}"),
            Self::UnknownModel(name) => {
                write!(f, "the tokenizer model {name:?} is not supported, only \"gpt2\" and \"llama\"")
            }
            Self::UnknownPreTokenizer(name) => {
                write!(f, "the pre-tokenizer {name:?} is not supported, only {}", super::PRE_TOKENIZERS.join(", "))
            }
            Self::NoToken { id, count } => {
                write!(f, "there is no token {id}, only 0 to {}", count.saturating_sub(1))
            }
        }
    }
}

impl std::error::Error for TokenizerError {}
