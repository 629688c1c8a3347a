//! What a model file says about its tokens, as plain data.

use super::TokenizerError;

/// The tokens of a model, and how text becomes them: the values below `tokenizer.ggml` in a GGUF file.
///
/// Nothing in it is trusted: [`Tokenizer::new`](super::Tokenizer::new) checks all of it.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Vocabulary<'a> {
    /// `gpt2` (byte-level BPE) or `llama` (SentencePiece).
    pub model: &'a str,
    /// How `gpt2` divides text into words, such as `smollm`; see [`PRE_TOKENIZERS`](super::PRE_TOKENIZERS).
    pub pre: Option<&'a str>,
    /// The tokens in the order of their ids.
    pub tokens: Vec<&'a str>,
    /// The type of each token, by the numbers of GGUF; empty when all are normal.
    pub token_types: Vec<i32>,
    /// The score of each token, which `llama` needs.
    pub scores: Vec<f32>,
    /// Pairs of tokens with a space between them, the first to be merged first, which `gpt2` needs.
    pub merges: Vec<&'a str>,
    /// Begins a text.
    pub bos: Option<u32>,
    /// Ends a text.
    pub eos: Option<u32>,
    /// Ends a turn of a conversation.
    pub eot: Option<u32>,
    /// Ends a message in a turn.
    pub eom: Option<u32>,
    /// Stands for what has no token.
    pub unknown: Option<u32>,
    /// Fills up.
    pub padding: Option<u32>,
    /// Whether texts begin with `bos`; the model's default if not said.
    pub add_bos: Option<bool>,
    /// Whether texts end with `eos`; not, if not said.
    pub add_eos: Option<bool>,
    /// Whether `llama` puts a space before texts; it does, if not said.
    pub add_space_prefix: Option<bool>,
}

/// What a token is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenType {
    /// A part of text.
    Normal,
    /// Stands for what has no token.
    Unknown,
    /// Not text but structure, such as the end of a turn. Text never becomes one unless that is asked for.
    Control,
    /// Text that is always one token, whatever is around it.
    UserDefined,
    /// Not in use.
    Unused,
    /// A single byte, written `<0x0A>`.
    Byte,
}

impl TokenType {
    fn from_gguf(number: i32) -> Option<Self> {
        Some(match number {
            // Files of old conversions have 0, for tokens like any other.
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

/// More bytes of tokens than any model has, and few enough for offsets of 32 bits.
const MAX_BYTES: usize = 1 << 30;

impl Vocabulary<'_> {
    /// Checks what both kinds of models rely on, and returns the types of all tokens.
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
            return Err(TokenizerError::vocabulary(format!("the score of token {id} is not a number")));
        }
        let names = ["bos", "eos", "eot", "eom", "unknown", "padding"];
        let ids = [self.bos, self.eos, self.eot, self.eom, self.unknown, self.padding];
        for (name, id) in names.into_iter().zip(ids) {
            if let Some(id) = id.filter(|&id| id as usize >= self.tokens.len()) {
                let count = self.tokens.len();
                return Err(TokenizerError::vocabulary(format!("the {name} token is {id}, of {count} tokens")));
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
                TokenizerError::vocabulary(format!("the type of token {id} is {number}, which is none of 0 to 6"))
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
