//! Vocabulary of a model, as plain data.

use super::TokenizerError;

/// Tokens of a model and settings of its tokenizer: the keys below `tokenizer.ggml` in a GGUF file.
///
/// Untrusted: [`Tokenizer::new`](super::Tokenizer::new) checks it.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Vocabulary<'a> {
    /// `gpt2` (byte-level BPE) or `llama` (SentencePiece).
    pub model: &'a str,
    /// Pre-tokenizer of `gpt2`, such as `smollm`; see [`PRE_TOKENIZERS`](super::PRE_TOKENIZERS).
    pub pre: Option<&'a str>,
    /// Tokens in the order of their ids.
    pub tokens: Vec<&'a str>,
    /// Type code of each token; empty if all are normal.
    pub token_types: Vec<i32>,
    /// Score of each token; required by `llama`.
    pub scores: Vec<f32>,
    /// Pairs of tokens separated by a space, in the order of their ranks; used by `gpt2`, and with
    /// `by_merges`.
    pub merges: Vec<&'a str>,
    /// Beginning of a text.
    pub bos: Option<u32>,
    /// End of a text.
    pub eos: Option<u32>,
    /// End of a turn.
    pub eot: Option<u32>,
    /// End of a message within a turn.
    pub eom: Option<u32>,
    /// Replacement for text without tokens.
    pub unknown: Option<u32>,
    /// Padding.
    pub padding: Option<u32>,
    /// Begin texts with `bos`. Default: depends on the tokenizer.
    pub add_bos: Option<bool>,
    /// End texts with `eos`. Default: false.
    pub add_eos: Option<bool>,
    /// Add a space before texts (`llama`). Default: true.
    pub add_space_prefix: Option<bool>,
    /// Add that space at the beginning of a text only, not after special tokens (`llama`).
    pub space_once: bool,
    /// Do not add it before a text that begins with a space (`llama`).
    pub space_if_none: bool,
    /// Merge characters by `merges`, not by `scores` (`llama`).
    pub by_merges: bool,
    /// Words that are tokens are not merged (`gpt2`). Default: depends on the pre-tokenizer.
    pub ignore_merges: Option<bool>,
}

/// Type of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenType {
    /// Piece of text.
    Normal,
    /// Replacement for text without tokens.
    Unknown,
    /// Structure, such as the end of a turn. Encoding parses these with `parse_special`.
    Control,
    /// Text that is always one token, in any context.
    UserDefined,
    /// Not in use.
    Unused,
    /// Single byte, written `<0x0A>`.
    Byte,
}

impl TokenType {
    fn from_gguf(number: i32) -> Option<Self> {
        Some(match number {
            // Old conversions write 0 for normal tokens.
            0 | 1 => Self::Normal,
            2 => Self::Unknown,
            3 => Self::Control,
            4 => Self::UserDefined,
            5 => Self::Unused,
            6 => Self::Byte,
            _ => return None,
        })
    }
}

/// Most bytes of all tokens: more than any model has, and few enough for 32-bit offsets.
const MAX_BYTES: usize = 1 << 30;

impl Vocabulary<'_> {
    /// Checks what both tokenizer models rely on. Returns the types of all tokens.
    pub(super) fn check(&self) -> Result<Vec<TokenType>, TokenizerError> {
        if self.tokens.is_empty() {
            return Err(TokenizerError::vocabulary("it has no tokens"));
        }
        if self.tokens.iter().map(|token| token.len()).sum::<usize>() > MAX_BYTES {
            return Err(TokenizerError::vocabulary("its tokens have more than 1 GiB of text"));
        }
        self.check_length("token types", self.token_types.len())?;
        self.check_length("scores", self.scores.len())?;
        if let Some(id) = self.scores.iter().position(|score| score.is_nan()) {
            return Err(TokenizerError::vocabulary(format!("the score of token {id} is NaN")));
        }
        let names = ["bos", "eos", "eot", "eom", "unknown", "padding"];
        let ids = [self.bos, self.eos, self.eot, self.eom, self.unknown, self.padding];
        for (name, id) in names.into_iter().zip(ids) {
            if let Some(id) = id.filter(|&id| id as usize >= self.tokens.len()) {
                let count = self.tokens.len();
                return Err(TokenizerError::vocabulary(format!(
                    "the {name} token is {id}, but it has {count} tokens"
                )));
            }
        }
        self.types()
    }

    fn types(&self) -> Result<Vec<TokenType>, TokenizerError> {
        if self.token_types.is_empty() {
            return Ok(vec![TokenType::Normal; self.tokens.len()]);
        }
        let types = self.token_types.iter().enumerate().map(|(id, &number)| {
            TokenType::from_gguf(number).ok_or_else(|| {
                TokenizerError::vocabulary(format!("the type of token {id} is {number}, expected 0 to 6"))
            })
        });
        types.collect()
    }

    fn check_length(&self, what: &str, length: usize) -> Result<(), TokenizerError> {
        let count = self.tokens.len();
        if length == 0 || length == count {
            return Ok(());
        }
        Err(TokenizerError::vocabulary(format!("it has {count} tokens, but {length} {what}")))
    }
}
