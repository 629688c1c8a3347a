//! Tokenizer: encodes text to tokens and decodes tokens to text, with the vocabulary of a model file.
//!
//! ```text
//! text ── special: split at special tokens ─┬─ bpe: split into words, bytes (gpt2) ──────────────┬─ merge ── tokens
//!                                           └─ sentencepiece: characters, byte fallback (llama) ─┘
//! tokens ── pieces: bytes of each token ── stream: whole characters ── text
//! ```
//!
//! The tokens are those of llama.cpp and of the package `tokenizers`, which agree except in rare cases:
//! - a byte without a token (SmolLM2 has none for some control characters) is dropped, and its neighbours do not merge,
//!   as in llama.cpp;
//! - text is not normalized, as in llama.cpp; Qwen's own tokenizer normalizes it (NFC);
//! - of overlapping special tokens, the leftmost wins, as in `tokenizers`;
//! - a token is special if the file says so, as in `tokenizers`; llama.cpp guesses that Qwen's `</s>` is one from its
//!   text;
//! - merging yields normal tokens only.

mod bpe;
mod bytes;
mod classes;
mod error;
mod gguf;
mod map;
mod merge;
mod sentencepiece;
mod special;
mod stream;
mod vocabulary;
mod words;

pub use error::TokenizerError;
pub use stream::TokenStream;
pub use vocabulary::{TokenType, Vocabulary};
pub use words::PRE_TOKENIZERS;

use bpe::Bpe;
use bytes::ByteAlphabet;
use map::Map;
use merge::Merger;
use sentencepiece::{SPACE, SentencePiece};
use special::{Segment, SpecialTokens};

/// Encodes text to tokens and decodes tokens to text.
pub struct Tokenizer {
    model: Model,
    special: SpecialTokens,
    types: Vec<TokenType>,
    /// Concatenated bytes of all tokens.
    pieces: Vec<u8>,
    /// End of each token's bytes in `pieces`.
    piece_ends: Vec<u32>,
    bos: Option<u32>,
    eos: Option<u32>,
    end_of_generation: Vec<u32>,
    add_bos: bool,
    add_eos: bool,
    /// A space is added at the beginning of a text only.
    space_once: bool,
}

enum Model {
    Bpe(Box<Bpe>),
    SentencePiece(Box<SentencePiece>),
}

/// Options of [`Tokenizer::encode`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct EncodeOptions {
    /// Add `bos` and `eos` if the model wants them.
    pub add_special: bool,
    /// Parse control tokens in the text, such as `<|im_end|>`. Meant for rendered templates: in text from a user, it
    /// lets the user forge control tokens.
    pub parse_special: bool,
}

/// Control tokens with these texts end generation too: files often name only one of several.
const ENDS: [&str; 8] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|end|>",
    "<end_of_turn>",
    "</s>",
];

impl Tokenizer {
    /// Creates a tokenizer. Checks the whole vocabulary.
    pub fn new(vocabulary: &Vocabulary<'_>) -> Result<Self, TokenizerError> {
        let types = vocabulary.check()?;
        let ids = ids(vocabulary)?;
        let (pieces, piece_ends) = pieces(vocabulary, &types)?;
        let default = |id: u32| Some(id).filter(|&id| (id as usize) < vocabulary.tokens.len());
        let (mut bos, mut eos) = (vocabulary.bos, vocabulary.eos);
        let adds_bos;
        let model = match vocabulary.model {
            "gpt2" => {
                let piece = |id: u32| pieces[range(&piece_ends, id)].to_vec();
                let (bpe, pre_tokenizer_adds_bos) = Bpe::new(vocabulary, &types, &ids, piece)?;
                adds_bos = pre_tokenizer_adds_bos;
                Model::Bpe(Box::new(bpe))
            }
            "llama" => {
                // Llama's ids, which its files may omit.
                bos = bos.or(default(1));
                eos = eos.or(default(2));
                adds_bos = true;
                let unknown = vocabulary.unknown.or_else(|| default(0).filter(|_| types[0] == TokenType::Unknown));
                Model::SentencePiece(Box::new(SentencePiece::new(vocabulary, &types, &ids, unknown)?))
            }
            other => return Err(TokenizerError::UnknownModel(other.to_owned())),
        };
        let add_bos = vocabulary.add_bos.unwrap_or(adds_bos);
        let add_eos = vocabulary.add_eos.unwrap_or(false);
        for (add, id, name) in [(add_bos, bos, "bos"), (add_eos, eos, "eos")] {
            if add && id.is_none() {
                return Err(TokenizerError::vocabulary(format!("it adds a {name} token, but has none")));
            }
        }
        let named = ENDS.iter().filter_map(|&token| ids.get(token).copied());
        let named = named.filter(|&id| types[id as usize] == TokenType::Control);
        let mut ends: Vec<u32> = [eos, vocabulary.eot, vocabulary.eom].into_iter().flatten().chain(named).collect();
        ends.sort_unstable();
        ends.dedup();
        let special = SpecialTokens::new(vocabulary, &types)?;
        let space_once = vocabulary.space_once;
        let end_of_generation = ends;
        Ok(Self {
            model,
            special,
            types,
            pieces,
            piece_ends,
            bos,
            eos,
            end_of_generation,
            add_bos,
            add_eos,
            space_once,
        })
    }

    /// Encodes a text.
    pub fn encode(&self, text: &str, options: EncodeOptions) -> Vec<u32> {
        let mut tokens = Vec::with_capacity(text.len() / 4 + 2);
        let mut merger = Merger::default();
        if options.add_special && self.add_bos {
            tokens.extend(self.bos);
        }
        let mut at_start = true;
        self.special.split(text, options.parse_special, |segment| match segment {
            Segment::Text(text) => {
                match &self.model {
                    Model::Bpe(bpe) => bpe.encode(text, &mut merger, &mut tokens),
                    Model::SentencePiece(model) => model.encode(text, at_start, &mut merger, &mut tokens),
                }
                at_start = false;
            }
            Segment::Special(id) => {
                tokens.push(id);
                at_start = !self.space_once;
            }
        });
        if options.add_special && self.add_eos {
            tokens.extend(self.eos);
        }
        tokens
    }

    /// Decodes tokens to bytes. Leaves out control and unknown tokens unless `show_special`, and the space that
    /// SentencePiece adds before a text.
    pub fn decode_bytes(&self, ids: &[u32], show_special: bool) -> Result<Vec<u8>, TokenizerError> {
        let mut bytes = Vec::new();
        let mut at_start = matches!(&self.model, Model::SentencePiece(model) if model.adds_space_prefix());
        for &id in ids {
            let piece = self.decoded_piece(id, show_special)?;
            let is_text = matches!(self.types[id as usize], TokenType::Normal | TokenType::Byte);
            bytes.extend_from_slice(if at_start && is_text {
                piece.strip_prefix(b" ").unwrap_or(piece)
            } else {
                piece
            });
            at_start &= !is_text;
        }
        Ok(bytes)
    }

    /// Decodes tokens to text, as [`decode_bytes`](Self::decode_bytes) does, with U+FFFD for invalid UTF-8.
    pub fn decode(&self, ids: &[u32], show_special: bool) -> Result<String, TokenizerError> {
        let bytes = self.decode_bytes(ids, show_special)?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// Returns a stream that decodes tokens one by one, as the continuation of a text: it keeps a leading space.
    pub fn stream(&self, show_special: bool) -> TokenStream<'_> {
        TokenStream::new(self, show_special)
    }

    /// Bytes of a token: a piece of text, or the name of a control token.
    pub fn piece(&self, id: u32) -> Result<&[u8], TokenizerError> {
        self.check(id)?;
        Ok(&self.pieces[range(&self.piece_ends, id)])
    }

    /// Type of a token.
    pub fn token_type(&self, id: u32) -> Result<TokenType, TokenizerError> {
        self.check(id)?;
        Ok(self.types[id as usize])
    }

    /// Returns true if a token ends generation.
    pub fn ends_generation(&self, id: u32) -> bool {
        self.end_of_generation.binary_search(&id).is_ok()
    }

    /// Token at the beginning of a text.
    pub fn bos(&self) -> Option<u32> {
        self.bos
    }

    /// Token at the end of a text.
    pub fn eos(&self) -> Option<u32> {
        self.eos
    }

    /// Returns true if encoding with `add_special` adds [`bos`](Self::bos).
    pub fn adds_bos(&self) -> bool {
        self.add_bos
    }

    /// Number of tokens.
    pub fn vocabulary_size(&self) -> usize {
        self.types.len()
    }

    /// Bytes without a token: encoding drops them.
    pub fn missing_bytes(&self) -> Vec<u8> {
        match &self.model {
            Model::Bpe(bpe) => bpe.missing_bytes().collect(),
            Model::SentencePiece(_) => Vec::new(),
        }
    }

    /// Bytes of a token in decoded text. Unused tokens have none; control and unknown tokens only with `show_special`.
    fn decoded_piece(&self, id: u32, show_special: bool) -> Result<&[u8], TokenizerError> {
        let piece = self.piece(id)?;
        Ok(match self.types[id as usize] {
            TokenType::Normal | TokenType::UserDefined | TokenType::Byte => piece,
            TokenType::Control | TokenType::Unknown if show_special => piece,
            TokenType::Control | TokenType::Unknown | TokenType::Unused => &[],
        })
    }

    fn check(&self, id: u32) -> Result<(), TokenizerError> {
        let count = self.types.len();
        if (id as usize) < count { Ok(()) } else { Err(TokenizerError::NoToken { id, count }) }
    }
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokenizer").field("tokens", &self.types.len()).finish_non_exhaustive()
    }
}

/// Maps the texts of tokens to their ids. Rejects duplicates, except of the empty text.
fn ids<'a>(vocabulary: &Vocabulary<'a>) -> Result<Map<&'a str, u32>, TokenizerError> {
    let mut ids = map::with_capacity(vocabulary.tokens.len());
    for (id, &token) in vocabulary.tokens.iter().enumerate() {
        if let Some(first) = ids.insert(token, id as u32)
            && !token.is_empty()
        {
            return Err(TokenizerError::vocabulary(format!("tokens {first} and {id} are both {token:?}")));
        }
    }
    Ok(ids)
}

/// Returns the concatenated bytes of all tokens, and the end of each.
fn pieces(vocabulary: &Vocabulary<'_>, types: &[TokenType]) -> Result<(Vec<u8>, Vec<u32>), TokenizerError> {
    let alphabet = ByteAlphabet::new();
    let mut pieces = Vec::new();
    let mut ends = Vec::with_capacity(types.len());
    for (id, &token) in vocabulary.tokens.iter().enumerate() {
        match types[id] {
            TokenType::Byte => pieces.push(sentencepiece::byte_of(token, id)?),
            TokenType::Normal if vocabulary.model == "gpt2" => alphabet.decode(token, &mut pieces),
            TokenType::Normal => pieces.extend_from_slice(token.replace(SPACE, " ").as_bytes()),
            _ => pieces.extend_from_slice(token.as_bytes()),
        }
        ends.push(pieces.len() as u32);
    }
    Ok((pieces, ends))
}

fn range(ends: &[u32], id: u32) -> std::ops::Range<usize> {
    let start = if id == 0 { 0 } else { ends[id as usize - 1] };
    start as usize..ends[id as usize] as usize
}
