//! Vocabulary of a GGUF file, or of a folder, which has some more keys.

use crate::folders::{BY_MERGES, IGNORE_MERGES, SPACE_IF_NONE, SPACE_ONCE};
use crate::gguf::Metadata;
use crate::weights::{FileError, FileErrorKind};

use super::Vocabulary;

/// Key of the kind of tokenizer.
const MODEL: &str = "tokenizer.ggml.model";

impl<'a> Vocabulary<'a> {
    /// Reads the vocabulary of a file. Checks the types of its keys; [`Tokenizer::new`](super::Tokenizer::new) checks
    /// the contents.
    pub fn from_metadata(metadata: &'a Metadata) -> Result<Self, FileError> {
        if metadata.find(MODEL).is_none() {
            let problem = format!("there is no tokenizer: no key '{MODEL}', or no 'tokenizer.json' in a folder");
            return Err(FileError::new(FileErrorKind::MissingKey, problem));
        }
        let id = |name: &str| metadata.get_optional::<u32>(&format!("tokenizer.ggml.{name}_token_id"));
        let flag = |name: &str| metadata.get_optional::<bool>(&format!("tokenizer.ggml.{name}"));
        Ok(Self {
            model: metadata.get(MODEL)?,
            pre: metadata.get_optional("tokenizer.ggml.pre")?,
            tokens: metadata.get("tokenizer.ggml.tokens")?,
            token_types: metadata.get_optional("tokenizer.ggml.token_type")?.unwrap_or_default(),
            scores: metadata.get_optional("tokenizer.ggml.scores")?.unwrap_or_default(),
            merges: metadata.get_optional("tokenizer.ggml.merges")?.unwrap_or_default(),
            bos: id("bos")?,
            eos: id("eos")?,
            eot: id("eot")?,
            eom: id("eom")?,
            unknown: id("unknown")?,
            padding: id("padding")?,
            add_bos: flag("add_bos_token")?,
            add_eos: flag("add_eos_token")?,
            add_space_prefix: flag("add_space_prefix")?,
            space_once: metadata.get_optional(SPACE_ONCE)?.unwrap_or(false),
            space_if_none: metadata.get_optional(SPACE_IF_NONE)?.unwrap_or(false),
            by_merges: metadata.get_optional(BY_MERGES)?.unwrap_or(false),
            ignore_merges: metadata.get_optional(IGNORE_MERGES)?,
        })
    }
}
