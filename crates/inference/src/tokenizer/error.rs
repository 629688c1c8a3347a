//! What can be wrong with a vocabulary or a token.

use std::fmt;

/// Why a tokenizer could not be made, or a token not be decoded.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TokenizerError {
    /// The vocabulary contradicts itself. The model file's fault.
    Vocabulary(String),
    /// A kind of tokenizer that is not there. A limit of ours.
    UnknownModel(String),
    /// A way to divide text into words that is not there. A limit of ours.
    UnknownPreTokenizer(String),
    /// The vocabulary has no token of that id. The caller's fault.
    NoToken {
        /// The id.
        id: u32,
        /// How many tokens there are.
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
            Self::Vocabulary(problem) => write!(f, "the vocabulary is damaged: {problem}"),
            Self::UnknownModel(name) => {
                write!(f, "tokenizers of the kind {name:?} are not supported, only \"gpt2\" and \"llama\"")
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
